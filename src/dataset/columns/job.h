#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "dataset/staging/column_file.h"
#include "glaive/version_options.h"
#include "read/projection.h"
#include "read/snapshot.h"
#include "wire/fragment.h"
#include "wire/schema.h"

namespace glaive::dataset {

// New files for fragments that are there: which fields they hold, and what of the rows is looked at
// to find the values.
struct ColumnJob {
  read::Snapshot snapshot;
  std::vector<wire::DataFragment> fragments;
  std::shared_ptr<const read::Projection> inputs;
  wire::Schema fields;      // with their ids; structs may be parts of the table's
  uint64_t batch_rows = 0;  // physical rows that are looked at together; 0: as suits
  ProgressCallback progress;
};

// The values of some live rows of a fragment: as many rows, columns by the names of the fields.
using ComputeBatch = std::function<arrow::Result<std::shared_ptr<arrow::RecordBatch>>(
    const std::shared_ptr<arrow::RecordBatch>& live)>;

// A file for each fragment of the job, in its order; `compute` is called on any thread.
arrow::Result<std::vector<ColumnFile>> ComputeFiles(const ColumnJob& job,
                                                    const ComputeBatch& compute);

// Tells the batches of a fragment apart: the n-th range of physical rows of the job's size.
using ComputeNumberedBatch = std::function<arrow::Result<std::shared_ptr<arrow::RecordBatch>>(
    uint64_t batch_index, const std::shared_ptr<arrow::RecordBatch>& live)>;

// The file for one fragment of the job; `compute` is called in the order of the rows, on the
// calling thread, and not for batches of which every row is deleted.
arrow::Result<ColumnFile> ComputeInTurn(const ColumnJob& job, const wire::DataFragment& fragment,
                                        const ComputeNumberedBatch& compute);

}  // namespace glaive::dataset
