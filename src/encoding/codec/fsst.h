#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <arrow/result.h>

#include "core/error.h"
#include "encoding/codec/words.h"

// FSST, to be read: each byte of a string is the code of a symbol of 1 to 8 bytes, or 255, after
// which one byte stands for itself. A symbol table is always 2312 bytes:
//
//   0     number n of symbols, at most 255
//   3     bit 0: whether anything is compressed; if not, strings are what they are
//   4     "TSSF"
//   8     n symbols of 8 bytes, zero padded
//   8+8n  n lengths of a byte each; then zeros
namespace glaive::encoding {

class FsstTable {
 public:
  static constexpr size_t kTableBytes = 2312;
  static constexpr size_t kMaxSymbolBytes = 8;

  static arrow::Result<FsstTable> Validate(Bytes table, Location where);

  // Whether strings are compressed at all; if not, there is nothing to decode.
  bool compresses() const { return compresses_; }

  // Writes the string, and up to 7 bytes behind it, and returns its size; nullopt if a code is not
  // in the table or the last escape has no byte. REQUIRES: room for 8 bytes per code
  std::optional<size_t> Decode(Bytes codes, uint8_t* out) const noexcept;

 private:
  bool compresses_ = false;
  std::array<uint64_t, 256> symbols_ = {};
  std::array<uint8_t, 256> lengths_ = {};  // 0: no such code
};

}  // namespace glaive::encoding
