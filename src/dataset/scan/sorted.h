#pragma once

#include <memory>

#include <arrow/result.h>

#include "glaive/scan.h"

namespace glaive::dataset {

// A scan whose rows are sorted by options.order_by. Where few of them are wanted, only the columns
// that decide are read whole.
arrow::Result<std::unique_ptr<ScanStream>> SortedScan(const Dataset& dataset,
                                                      const ScanOptions& options);

}  // namespace glaive::dataset
