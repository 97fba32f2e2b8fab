#pragma once

#include <cstdint>

#include <arrow/result.h>

#include "core/error.h"
#include "encoding/codec/bitpacking.h"
#include "encoding/codec/words.h"
#include "wire/encodings_v2_1.h"

// Payloads of bit-packed values, to be read. T is the unpacked word of 8, 16, 32 or 64 bits, W the
// width of a packed value.
//
//   inline        [word T: W][block of 1024 values], at most 1024 values
//   out of line   full blocks of 1024, then the remaining r values: as a padded block, or as r
//   words
//                 T unpacked; only the length tells which. W is in the description.
//
// A block of 1024 values is 128 * W bytes: bitpacking.h.
namespace glaive::encoding {

// One payload whose sizes agree, so that decoding has nothing left to check. Borrows the bytes.
class BitpackedPayload {
 public:
  // REQUIRES: T is the description's word; room for num_values values
  template <typename T>
  void Decode(T* out) const noexcept;

  uint64_t num_values() const { return num_values_; }

 private:
  friend class InlineBitpackingDescription;
  friend class OutOfLineBitpackingDescription;

  const std::byte* blocks_ = nullptr;
  uint64_t num_values_ = 0;
  unsigned width_ = 0;
  bool raw_tail_ = false;
};

class InlineBitpackingDescription {
 public:
  static arrow::Result<InlineBitpackingDescription> Validate(
      const wire::InlineBitpackingEncoding& packed, Location where);

  uint64_t value_bits() const { return value_bits_; }

  arrow::Result<BitpackedPayload> Open(Bytes bytes, uint64_t num_values, Location where) const;

 private:
  explicit InlineBitpackingDescription(uint64_t value_bits) : value_bits_(value_bits) {}

  uint64_t value_bits_;
};

class OutOfLineBitpackingDescription {
 public:
  static arrow::Result<OutOfLineBitpackingDescription> Validate(
      const wire::OutOfLineBitpackingEncoding& packed, Location where);

  uint64_t value_bits() const { return value_bits_; }

  arrow::Result<BitpackedPayload> Open(Bytes bytes, uint64_t num_values, Location where) const;

 private:
  OutOfLineBitpackingDescription(uint64_t value_bits, unsigned width)
      : value_bits_(value_bits), width_(width) {}

  uint64_t value_bits_;
  unsigned width_;
};

}  // namespace glaive::encoding
