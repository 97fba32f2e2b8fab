#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "core/ranges.h"

// Sets of 32-bit numbers in the portable Roaring format: deletion files, fragments of an index.
//
//   u32 12346, u32 number of containers n              or, with runs, u16 12347, u16 n - 1 and
//                                                      a bit per container: whether it has runs
//   n times u16 high half of the numbers, u16 cardinality - 1
//   n times u32 offset of the container                with runs only where n >= 4
//   per container  array: up to 4096 ascending u16   | bitmap: 8192 bytes
//                  runs: u16 count, then u16 first, u16 length - 1 each
namespace glaive::table {

// As ascending ranges that do not touch: never more memory than some multiple of `bytes`, whatever
// they say.
arrow::Result<std::vector<RowRange>> ParseRoaring(std::span<const std::byte> bytes, Location where);

// Arrays and bitmaps, as pylance writes them. REQUIRES: ascending ranges below 2^32
std::string SerializeRoaring(std::span<const RowRange> ranges);

// With runs where these take fewer bytes: about as many as the ranges, whatever they span.
// REQUIRES: as above
std::string SerializeRoaringWithRuns(std::span<const RowRange> ranges);

// REQUIRES: ascending
std::vector<RowRange> RangesOf(std::span<const uint32_t> numbers);

}  // namespace glaive::table
