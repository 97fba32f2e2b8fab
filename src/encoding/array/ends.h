#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "core/ranges.h"

// Where strings and lists of a 2.0 file end: u64 numbers without a leading 0, those of nulls with
// a null adjustment added, which is more than all of them.
namespace glaive::encoding {

// Ranges that touch each other as one; empty ones are left out.
std::vector<RowRange> JoinRanges(std::span<const RowRange> ranges);

// Each range with the value before it, if there is one: where a first string or list begins is
// where the one before it ends. REQUIRES: ranges that do not touch
std::vector<RowRange> WithPrevious(std::span<const RowRange> ranges);

// Slots that ends describe.
struct Extents {
  std::vector<uint64_t> offsets;  // one more than slots
  std::vector<uint8_t> validity;  // empty: no nulls
};

// Of the slots of one range: `ends` are theirs, after that of the slot before unless the range
// begins at 0. Corrupt unless they ascend to at most `most`.
arrow::Result<Extents> ExtentsOf(std::span<const uint64_t> ends, bool begins_at_zero,
                                 uint64_t null_adjustment, uint64_t most, Location where);

}  // namespace glaive::encoding
