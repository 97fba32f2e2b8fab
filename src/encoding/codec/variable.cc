#include "encoding/codec/variable.h"

#include <algorithm>

#include <variant>

#include "core/byte_reader.h"

namespace glaive::encoding {
namespace {

// Whether the offsets ascend: one pass without a branch in it.
template <typename Offset>
bool Ascend(const std::byte* offsets, uint64_t num_values) noexcept {
  bool descends = false;
  for (uint64_t i = 0; i < num_values; ++i) {
    const auto begin = LoadLittleEndian<Offset>(offsets + i * sizeof(Offset));
    const auto end = LoadLittleEndian<Offset>(offsets + (i + 1) * sizeof(Offset));
    descends |= end < begin;
  }
  return !descends;
}

// Offsets from `at` on that must lie within [first, last] of what they count from.
arrow::Result<VariablePayload> CheckOffsets(Bytes bytes, uint64_t at, const std::byte* origin,
                                            uint64_t num_values, bool wide, uint64_t first,
                                            uint64_t last, Location where) {
  VariablePayload payload{bytes.data() + at, origin, num_values, wide};
  const bool ascend = wide ? Ascend<uint64_t>(payload.offsets, num_values)
                           : Ascend<uint32_t>(payload.offsets, num_values);
  if (!ascend || payload.offset(0) < first || payload.offset(num_values) > last) {
    return Corrupt(where.Plus(at), "offsets of {} strings do not ascend from {} to at most {}",
                   num_values, first, last);
  }
  return payload;
}

arrow::Status ExpectOffsets(uint64_t room, uint64_t num_values, uint64_t width, Location where) {
  if (room / width > num_values) return arrow::Status::OK();
  return Corrupt(where, "{} bytes hold no {} offsets of {} bytes", room, num_values + 1, width);
}

}  // namespace

uint64_t VariablePayload::offset(uint64_t i) const {
  return wide ? LoadLittleEndian<uint64_t>(offsets + i * sizeof(uint64_t))
              : LoadLittleEndian<uint32_t>(offsets + i * sizeof(uint32_t));
}

arrow::Result<VariableDescription> VariableDescription::Validate(
    const wire::VariableEncoding& variable, Location where) {
  const auto* flat = std::get_if<wire::FlatEncoding>(&variable.offsets->kind);
  if (flat == nullptr || (flat->bits_per_value != 32 && flat->bits_per_value != 64)) {
    return Corrupt(where, "strings whose offsets are not flat ones of 32 or 64 bits");
  }
  return VariableDescription(flat->bits_per_value == 64);
}

uint64_t VariableDescription::MostBytes(uint64_t num_values) const noexcept {
  constexpr uint64_t kHeaderAndPadding = 64;
  const uint64_t width = wide_ ? sizeof(uint64_t) : sizeof(uint32_t);
  const uint64_t reach = wide_ ? UINT64_MAX / 2 : UINT32_MAX;
  const uint64_t offsets = std::min(num_values, UINT64_MAX / 4 / width) * width + width;
  return offsets + reach + kHeaderAndPadding;
}

arrow::Result<VariablePayload> VariableDescription::OpenMiniBlock(Bytes buffer, uint64_t num_values,
                                                                  Location where) const {
  const uint64_t width = wide_ ? sizeof(uint64_t) : sizeof(uint32_t);
  ARROW_RETURN_NOT_OK(ExpectOffsets(buffer.size(), num_values, width, where));
  return CheckOffsets(buffer, 0, buffer.data(), num_values, wide_, (num_values + 1) * width,
                      buffer.size(), where);
}

arrow::Result<VariablePayload> VariableDescription::OpenBlock(Bytes block, uint64_t num_values,
                                                              Location where) const {
  const uint64_t width = wide_ ? sizeof(uint64_t) : sizeof(uint32_t);
  if (block.size() < 2 * width) {
    return Corrupt(where, "a block of {} bytes has no room for the header of strings",
                   block.size());
  }
  const auto word = [&](uint64_t i) {
    return wide_ ? LoadLittleEndian<uint64_t>(block.data() + i * width)
                 : LoadLittleEndian<uint32_t>(block.data() + i * width);
  };
  if (word(0) != width * 8) {
    return Corrupt(where, "a block of strings with offsets of {} bits; {} expected", word(0),
                   width * 8);
  }
  const uint64_t header = 2 * width;
  ARROW_RETURN_NOT_OK(ExpectOffsets(block.size() - header, num_values, width, where));
  const uint64_t start = word(1);
  if (start > block.size() || start < header + (num_values + 1) * width) {
    return Corrupt(where.Plus(width), "the bytes of {} strings start at {} of {}", num_values,
                   start, block.size());
  }
  return CheckOffsets(block, header, block.data() + start, num_values, wide_, 0,
                      block.size() - start, where);
}

}  // namespace glaive::encoding
