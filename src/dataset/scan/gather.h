#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "dataset/scan/offset_reach.h"

namespace glaive::dataset {

// A row of one of several batches.
struct RowPlace {
  uint32_t batch = 0;
  uint32_t row = 0;

  bool operator==(const RowPlace&) const = default;
};

// What rows that are gathered in one batch may come to. One row by itself is gathered in any case.
struct GatherLimits {
  uint64_t max_rows = UINT64_MAX;
  uint64_t bytes = UINT64_MAX;
  uint64_t reach = kOffsetReach;
};

// How many of the rows, from the first on, are within the limits; at least one, if there is any.
size_t CountGatherable(const arrow::RecordBatchVector& batches, std::span<const RowPlace> rows,
                       const GatherLimits& limits);

// Rows of several batches in any order, repeats allowed, as one batch. Copies them once or twice.
// REQUIRES: batches of `schema`; rows that are within reach.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> GatherRows(
    const std::shared_ptr<arrow::Schema>& schema, const arrow::RecordBatchVector& batches,
    std::span<const RowPlace> rows);

}  // namespace glaive::dataset
