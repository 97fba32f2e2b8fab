#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace glaive::query {

// The rows of a batch at some positions, in that order; repeats are allowed. REQUIRES: positions
// within the batch, and InitCompute().
arrow::Result<std::shared_ptr<arrow::RecordBatch>> SelectRows(
    const std::shared_ptr<arrow::RecordBatch>& batch, std::span<const uint32_t> positions);
arrow::Result<std::shared_ptr<arrow::RecordBatch>> SelectRows(const arrow::RecordBatch& batch,
                                                              std::span<const uint32_t> positions);

// The same of one column.
arrow::Result<std::shared_ptr<arrow::Array>> SelectValues(
    const std::shared_ptr<arrow::Array>& values, std::span<const uint32_t> positions);

}  // namespace glaive::query
