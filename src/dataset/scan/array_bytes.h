#pragma once

#include <cstdint>

#include <arrow/array/data.h>
#include <arrow/type_fwd.h>

namespace glaive::dataset {

// About the bytes of slots [begin, end) of an array, for work to be dealt out in equal parts:
// values and offsets, whatever lies behind nulls. Nothing was validated, and wrong offsets give no
// more than a wrong sum.
uint64_t ArrayBytes(const arrow::ArrayData& array, int64_t begin, int64_t end);
// Of all rows of all columns.
uint64_t BatchBytes(const arrow::RecordBatch& batch);

}  // namespace glaive::dataset
