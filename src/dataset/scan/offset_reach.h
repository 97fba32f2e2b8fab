#pragma once

#include <cstdint>

#include <arrow/type_fwd.h>

namespace glaive::dataset {

// What 32-bit offsets reach: bytes of texts, items of lists.
inline constexpr uint64_t kOffsetReach = INT32_MAX;

// How far the 32-bit offsets of an array of these rows reach, at any depth: joined with others, the
// sum must not pass kOffsetReach. 0 where there are none.
uint64_t OffsetReach(const arrow::Array& array);
// Of the column whose reach is the furthest.
uint64_t OffsetReach(const arrow::RecordBatch& batch);

// Of rows [begin, end) of an array. REQUIRES: valid offsets.
uint64_t OffsetReach(const arrow::ArrayData& array, int64_t begin, int64_t end);

}  // namespace glaive::dataset
