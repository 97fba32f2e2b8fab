#include "encoding/codec/variable_block.h"

#include <cstdint>
#include <string>
#include <utility>

namespace glaive::encoding {
namespace {

template <typename Offset>
std::string Encode(std::span<const std::string_view> values) {
  std::string out;
  const auto put = [&](uint64_t number) {
    const auto narrow = static_cast<Offset>(number);
    out.append(reinterpret_cast<const char*>(&narrow), sizeof(narrow));
  };
  put(8 * sizeof(Offset));
  put((values.size() + 3) * sizeof(Offset));
  uint64_t offset = 0;
  put(offset);
  for (const std::string_view value : values) put(offset += value.size());
  out.reserve(out.size() + offset);
  for (const std::string_view value : values) out.append(value);
  return out;
}

}  // namespace

std::shared_ptr<arrow::Buffer> EncodeVariableBlock(std::span<const std::string_view> values,
                                                   unsigned offset_bits) {
  return arrow::Buffer::FromString(offset_bits == 32 ? Encode<uint32_t>(values)
                                                     : Encode<uint64_t>(values));
}

std::shared_ptr<arrow::Buffer> EncodeFlatBlock(std::span<const std::string_view> values) {
  std::string out;
  for (const std::string_view value : values) out.append(value);
  return arrow::Buffer::FromString(std::move(out));
}

}  // namespace glaive::encoding
