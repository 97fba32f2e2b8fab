#pragma once

#include <memory>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/scan.h"

namespace glaive::dataset {

// The rows whose vectors are nearest to options.nearest, nearest first. Columns that neither the
// distance nor a filter in front of it needs are read of those rows alone.
arrow::Result<std::unique_ptr<ScanStream>> NearestScan(const Dataset& dataset,
                                                       const ScanOptions& options);
arrow::Result<std::shared_ptr<arrow::Schema>> NearestSchema(const Dataset& dataset,
                                                            const ScanOptions& options);

}  // namespace glaive::dataset
