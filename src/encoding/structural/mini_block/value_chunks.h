#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "encoding/levels/value_ranges.h"
#include "wire/encodings_v2_1.h"

namespace glaive::encoding {

// The values of a mini-block page, handed out chunk by chunk under one value codec.
class ValueChunks {
 public:
  virtual ~ValueChunks() = default;

  uint64_t remaining() const { return remaining_; }

  // How many values the next chunk should hold: all that remain, or a power of two below that.
  virtual uint64_t NextCount() = 0;
  // Sizes of the value buffers of a chunk of the next `count` values.
  virtual const std::vector<size_t>& Prepare(uint64_t count) = 0;
  // Writes the prepared buffers and moves on.
  virtual void Write(std::span<std::byte* const> buffers) = 0;

  virtual wire::EncodingPtr Describe() const = 0;
  virtual size_t num_buffers() const { return 1; }
  // A last chunk need not say how many values it has; with this many it does, as pylance has it.
  virtual uint64_t counted_last_chunk() const { return 0; }

 protected:
  explicit ValueChunks(uint64_t num_values) : remaining_(num_values) {}

  uint64_t remaining_;
  std::vector<size_t> sizes_;
};

// The largest power of two of values, of `bits` each, that a chunk of plain values may hold.
uint64_t FlatChunkValues(uint64_t bits);

// The ranges are borrowed by what these make.
std::unique_ptr<ValueChunks> MakeFlatChunks(std::span<const FixedRange> ranges, uint64_t num_values,
                                            size_t value_bytes, wire::EncodingPtr description);
std::unique_ptr<ValueChunks> MakeBooleanChunks(const LevelSurvey& survey);
// For values of 1, 2, 4 or 8 bytes. `widths`: of each block of 1024.
std::unique_ptr<ValueChunks> MakeBitpackedChunks(std::span<const FixedRange> ranges,
                                                 uint64_t num_values, size_t value_bytes,
                                                 std::vector<uint8_t> widths);
std::unique_ptr<ValueChunks> MakeRunChunks(std::span<const FixedRange> ranges, uint64_t num_values,
                                           size_t value_bytes);
// How chunks of a page say where their strings begin: by offsets before the bytes, or, from 2.3
// on, by lengths of few bits in a buffer of their own, or not at all if all are as long.
struct StringOffsets {
  unsigned length_bits = 0;   // 0: not by lengths
  uint64_t equal_length = 0;  // 0: not equal

  bool operator==(const StringOffsets&) const = default;
};

template <typename Offset>
std::unique_ptr<ValueChunks> MakeVariableChunks(std::span<const VariableRange<Offset>> ranges,
                                                uint64_t num_values, StringOffsets offsets = {});

}  // namespace glaive::encoding
