#pragma once

#include <memory>
#include <string_view>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace glaive::dataset {

// A column that Arrow's sort brings into the order in which pylance has this one: floats by their
// total order (-0.0 before 0.0, NaN behind all numbers, or before them with its sign set), lists
// item by item, structs field by field. Nulls stay nulls; those inside of lists and structs are
// below all values where `nulls_low`, else above them. REQUIRES: InitCompute().
//
// Errors: InvalidInput, naming the column, for a type without an order.
arrow::Result<std::shared_ptr<arrow::ChunkedArray>> SortKeys(const arrow::ChunkedArray& column,
                                                             std::string_view name, bool nulls_low);

}  // namespace glaive::dataset
