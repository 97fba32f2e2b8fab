#include "encoding/codec/bitpacked.h"

#include <cstring>
#include <variant>

#include "core/byte_reader.h"

namespace glaive::encoding {
namespace {

// No writer packs more values than a chunk's levels into nothing; believing it would let a
// description alone allocate.
constexpr uint64_t kMaxValuesOfNoWidth = 65536;

arrow::Status CheckWord(uint64_t bits, Location where) {
  if (IsWordWidth(bits)) return arrow::Status::OK();
  return Corrupt(where, "bit-packed values of {} bits; 8, 16, 32 or 64 expected", bits);
}

}  // namespace

template <typename T>
void BitpackedPayload::Decode(T* out) const noexcept {
  const std::byte* from = blocks_;
  uint64_t left = num_values_;
  for (; left >= kBitpackBlock; left -= kBitpackBlock) {
    UnpackBlock(from, width_, out);
    from += PackedBlockBytes(width_);
    out += kBitpackBlock;
  }
  if (left == 0) return;
  if (raw_tail_) {
    std::memcpy(out, from, left * sizeof(T));
    return;
  }
  T block[kBitpackBlock];
  UnpackBlock(from, width_, block);
  std::memcpy(out, block, left * sizeof(T));
}

template void BitpackedPayload::Decode<uint8_t>(uint8_t*) const noexcept;
template void BitpackedPayload::Decode<uint16_t>(uint16_t*) const noexcept;
template void BitpackedPayload::Decode<uint32_t>(uint32_t*) const noexcept;
template void BitpackedPayload::Decode<uint64_t>(uint64_t*) const noexcept;

arrow::Result<InlineBitpackingDescription> InlineBitpackingDescription::Validate(
    const wire::InlineBitpackingEncoding& packed, Location where) {
  ARROW_RETURN_NOT_OK(CheckWord(packed.uncompressed_bits, where));
  return InlineBitpackingDescription(packed.uncompressed_bits);
}

arrow::Result<BitpackedPayload> InlineBitpackingDescription::Open(Bytes bytes, uint64_t num_values,
                                                                  Location where) const {
  if (num_values == 0) return BitpackedPayload();
  if (num_values > kBitpackBlock) {
    return Corrupt(where, "{} values in one bit-packed block of {}", num_values, kBitpackBlock);
  }
  const uint64_t header = value_bits_ / 8;
  if (bytes.size() < header) {
    return Corrupt(where, "a bit-packed block of {} bytes has no room for its width", bytes.size());
  }
  const uint64_t width = WithWord(value_bits_, [&](auto word) {
    return uint64_t{LoadLittleEndian<decltype(word)>(bytes.data())};
  });
  if (width > value_bits_) {
    return Corrupt(where, "values of {} bits packed into {}", value_bits_, width);
  }
  if (bytes.size() - header != PackedBlockBytes(static_cast<unsigned>(width))) {
    return Corrupt(where, "a bit-packed block of width {} and {} bytes", width, bytes.size());
  }
  BitpackedPayload payload;
  payload.blocks_ = bytes.data() + header;
  payload.num_values_ = num_values;
  payload.width_ = static_cast<unsigned>(width);
  return payload;
}

arrow::Result<OutOfLineBitpackingDescription> OutOfLineBitpackingDescription::Validate(
    const wire::OutOfLineBitpackingEncoding& packed, Location where) {
  ARROW_RETURN_NOT_OK(CheckWord(packed.uncompressed_bits, where));
  const auto* flat = std::get_if<wire::FlatEncoding>(&packed.values->kind);
  if (flat == nullptr || flat->bits_per_value > packed.uncompressed_bits) {
    return Corrupt(where, "out-of-line bit-packing of {} bits without a packed width",
                   packed.uncompressed_bits);
  }
  return OutOfLineBitpackingDescription(packed.uncompressed_bits,
                                        static_cast<unsigned>(flat->bits_per_value));
}

arrow::Result<BitpackedPayload> OutOfLineBitpackingDescription::Open(Bytes bytes,
                                                                     uint64_t num_values,
                                                                     Location where) const {
  if (width_ == 0 && num_values > kMaxValuesOfNoWidth) {
    return Corrupt(where, "{} values bit-packed into no bits", num_values);
  }
  const uint64_t block_bytes = PackedBlockBytes(width_);
  const uint64_t full = num_values / kBitpackBlock;
  const uint64_t tail = num_values % kBitpackBlock;
  const auto size_error = [&] {
    return Corrupt(where, "{} values bit-packed by {} bits in {} bytes", num_values, width_,
                   bytes.size());
  };
  if (block_bytes > 0 && full > bytes.size() / block_bytes) return size_error();
  const uint64_t rest = bytes.size() - full * block_bytes;
  BitpackedPayload payload;
  payload.blocks_ = bytes.data();
  payload.num_values_ = num_values;
  payload.width_ = width_;
  payload.raw_tail_ = rest == tail * (value_bits_ / 8);
  if (!payload.raw_tail_ && (tail == 0 || rest != block_bytes)) return size_error();
  return payload;
}

}  // namespace glaive::encoding
