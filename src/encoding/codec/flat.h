#pragma once

#include <cstdint>

#include <arrow/result.h>

#include "core/error.h"
#include "encoding/codec/words.h"
#include "wire/encodings_v2_1.h"

// Values as they are, back to back: a whole number of bytes each, little endian, or single bits,
// the first one lowest in its byte. The same in chunks, blocks and full-zip values.
namespace glaive::encoding {

class FlatDescription {
 public:
  static arrow::Result<FlatDescription> Validate(const wire::FlatEncoding& flat, Location where);

  uint64_t value_bits() const { return value_bits_; }

  // Whether the bytes hold that many values; they may be followed by others.
  arrow::Status Check(Bytes bytes, uint64_t num_values, Location where) const;

 private:
  explicit FlatDescription(uint64_t value_bits) : value_bits_(value_bits) {}

  uint64_t value_bits_;
};

}  // namespace glaive::encoding
