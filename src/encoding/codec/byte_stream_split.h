#pragma once

#include <cstdint>

#include <arrow/result.h>

#include "core/error.h"
#include "encoding/codec/words.h"
#include "wire/encodings_v2_1.h"

// Values of 32 or 64 bits taken apart: the first bytes of all values of a chunk, then their second
// bytes, and so on, which puts what resembles side by side for a general compression.
namespace glaive::encoding {

class ByteStreamSplitDescription {
 public:
  static arrow::Result<ByteStreamSplitDescription> Validate(
      const wire::ByteStreamSplitEncoding& split, Location where);

  uint64_t value_bits() const { return value_bits_; }

  arrow::Status Check(Bytes bytes, uint64_t num_values, Location where) const;
  // REQUIRES: Check; room for num_values values
  void Decode(Bytes bytes, uint64_t num_values, std::byte* out) const noexcept;

 private:
  explicit ByteStreamSplitDescription(uint64_t value_bits) : value_bits_(value_bits) {}

  uint64_t value_bits_;
};

}  // namespace glaive::encoding
