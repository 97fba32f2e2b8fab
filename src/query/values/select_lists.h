#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <arrow/array/data.h>
#include <arrow/result.h>

namespace glaive::query {

// Whether these are lists of plain values without nulls among them.
bool AreListsOfValues(const arrow::ArrayData& array);

// The lists at some positions. Their values go list by list, where Arrow's kernel goes one by one.
// Null where they are too many for the type's offsets. REQUIRES: AreListsOfValues(lists), positions
// within it.
arrow::Result<std::shared_ptr<arrow::ArrayData>> SelectLists(const arrow::ArrayData& lists,
                                                             std::span<const uint32_t> positions);

}  // namespace glaive::query
