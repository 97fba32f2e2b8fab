#pragma once

#include <memory>

#include <arrow/array/data.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

// Rows taken out of, and put together from, arrays that may come from anywhere: sliced at any
// level, with the buffers that another program gave them. Everything outside the expressions takes
// and joins rows here, since Arrow's kernels are not right for all of them.
namespace glaive::query {

// The same rows in a form that Arrow's kernels get right. Shares what it can: what is copied are
// bitmaps, and the indices of dictionaries with nulls.
// - A fixed-size list begins at its first slot, and so does a struct of such lists: taking rows of
//   lists in lists counts their offset once for every level.
// - What has no rows has the buffers of its type: joining reads the first offset of such arrays.
// - A dictionary has no nulls, which keep it from being united with others: what points to one is
//   null itself.
arrow::Result<std::shared_ptr<arrow::ArrayData>> Settle(
    const std::shared_ptr<arrow::ArrayData>& data);

// The values at some positions, integers of any type; a null where a position is null. An index
// error for positions beyond the values. REQUIRES: InitCompute()
arrow::Result<std::shared_ptr<arrow::Array>> TakeRows(const arrow::Array& values,
                                                      const arrow::Array& positions);
// The same without a look at whether positions are within the values.
arrow::Result<std::shared_ptr<arrow::Array>> TakeKnownRows(const arrow::Array& values,
                                                           const arrow::Array& positions);

// Arrays of one type, one after the other. REQUIRES: at least one
arrow::Result<std::shared_ptr<arrow::Array>> JoinRows(const arrow::ArrayVector& pieces);
// Batches of this schema; of none, or of no columns, as well.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> JoinRows(
    const std::shared_ptr<arrow::Schema>& schema, const arrow::RecordBatchVector& pieces);

}  // namespace glaive::query
