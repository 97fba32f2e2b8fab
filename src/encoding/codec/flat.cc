#include "encoding/codec/flat.h"

namespace glaive::encoding {

arrow::Result<FlatDescription> FlatDescription::Validate(const wire::FlatEncoding& flat,
                                                         Location where) {
  const uint64_t bits = flat.bits_per_value;
  constexpr uint64_t kMaxBits = uint64_t{1} << 34;
  if (bits != 1 && (bits == 0 || bits % 8 != 0 || bits > kMaxBits)) {
    return Corrupt(where, "flat values of {} bits; 1 or whole bytes expected", bits);
  }
  return FlatDescription(bits);
}

arrow::Status FlatDescription::Check(Bytes bytes, uint64_t num_values, Location where) const {
  const uint64_t needed = PackedBytes(num_values, value_bits_);
  if (needed <= bytes.size()) return arrow::Status::OK();
  return Corrupt(where, "{} values of {} bits in {} bytes", num_values, value_bits_, bytes.size());
}

}  // namespace glaive::encoding
