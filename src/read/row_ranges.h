#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ranges.h"
#include "table/rows/deletion_vector.h"

namespace glaive::read {

// The physical rows of live rows [live.begin, live.end) of a fragment. REQUIRES: the fragment has
// that many.
std::vector<RowRange> LiveWindow(const table::DeletionVector& deletions, RowRange live);

// Rows [first, first + count) of those that the ranges hold, counted from 0.
std::vector<RowRange> Window(std::span<const RowRange> ranges, uint64_t first, uint64_t count);

// The rows at some positions of those that the ranges hold. REQUIRES: ascending positions.
std::vector<RowRange> Pick(std::span<const RowRange> ranges, std::span<const uint32_t> positions);

// Rows in ascending order, without repeats, as ranges.
std::vector<RowRange> ToRanges(std::span<const uint64_t> sorted_rows);

}  // namespace glaive::read
