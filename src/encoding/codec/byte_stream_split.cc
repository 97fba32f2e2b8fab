#include "encoding/codec/byte_stream_split.h"

#include <cstring>
#include <variant>

namespace glaive::encoding {
namespace {

template <typename T>
void Join(const std::byte* streams, uint64_t num_values, std::byte* out) noexcept {
  for (uint64_t i = 0; i < num_values; ++i) {
    T value = 0;
    for (size_t byte = 0; byte < sizeof(T); ++byte) {
      value |= static_cast<T>(std::to_integer<T>(streams[byte * num_values + i]) << (8 * byte));
    }
    std::memcpy(out + i * sizeof(T), &value, sizeof(T));
  }
}

}  // namespace

arrow::Result<ByteStreamSplitDescription> ByteStreamSplitDescription::Validate(
    const wire::ByteStreamSplitEncoding& split, Location where) {
  const auto* flat = std::get_if<wire::FlatEncoding>(&split.values->kind);
  if (flat == nullptr || (flat->bits_per_value != 32 && flat->bits_per_value != 64)) {
    return Corrupt(where, "a byte-stream split of values that are not flat ones of 32 or 64 bits");
  }
  return ByteStreamSplitDescription(flat->bits_per_value);
}

arrow::Status ByteStreamSplitDescription::Check(Bytes bytes, uint64_t num_values,
                                                Location where) const {
  if (bytes.size() == PackedBytes(num_values, value_bits_)) return arrow::Status::OK();
  return Corrupt(where, "{} byte-stream split values of {} bits in {} bytes", num_values,
                 value_bits_, bytes.size());
}

void ByteStreamSplitDescription::Decode(Bytes bytes, uint64_t num_values,
                                        std::byte* out) const noexcept {
  if (value_bits_ == 32) {
    Join<uint32_t>(bytes.data(), num_values, out);
  } else {
    Join<uint64_t>(bytes.data(), num_values, out);
  }
}

}  // namespace glaive::encoding
