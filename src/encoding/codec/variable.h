#pragma once

#include <cstdint>

#include <arrow/result.h>

#include "core/error.h"
#include "encoding/codec/words.h"
#include "wire/encodings_v2_1.h"

// Strings, to be read. Offsets are n + 1 words of 32 or 64 bits:
//
//   in a chunk   [offsets][bytes][padding]                     offsets count from the buffer's
//   start as a block   [bits per offset][start of bytes][offsets][bytes]    offsets count from the
//   bytes;
//                                                                     all words as wide as offsets
namespace glaive::encoding {

// Strings whose offsets ascend and end inside the buffer. Borrows it.
struct VariablePayload {
  const std::byte* offsets = nullptr;  // num_values + 1 words, not aligned
  const std::byte* origin = nullptr;   // where they count from
  uint64_t num_values = 0;
  bool wide = false;  // offsets of 64 bits

  uint64_t offset(uint64_t i) const;
  uint64_t size_bytes() const { return offset(num_values) - offset(0); }
};

class VariableDescription {
 public:
  static arrow::Result<VariableDescription> Validate(const wire::VariableEncoding& variable,
                                                     Location where);

  // The most that so many strings take in either form, padding included: as much as their offsets
  // reach, or as one array of Arrow's would hold.
  uint64_t MostBytes(uint64_t num_values) const noexcept;

  arrow::Result<VariablePayload> OpenMiniBlock(Bytes buffer, uint64_t num_values,
                                               Location where) const;
  arrow::Result<VariablePayload> OpenBlock(Bytes block, uint64_t num_values, Location where) const;

 private:
  explicit VariableDescription(bool wide) : wide_(wide) {}

  bool wide_;
};

}  // namespace glaive::encoding
