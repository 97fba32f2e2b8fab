#pragma once

#include <arrow/result.h>

#include "dataset/handle/new_files.h"
#include "dataset/merge/source.h"
#include "glaive/rows.h"
#include "table/operation/operation.h"

namespace glaive::dataset {

// A merge that is worked out on one version and not committed yet.
struct StagedMerge {
  table::Update operation;
  NewFiles files;
  MergeInsertStats stats;
};

arrow::Result<StagedMerge> StageMerge(const Dataset& dataset, const MergeSource& source,
                                      const MergeInsertOptions& options);

}  // namespace glaive::dataset
