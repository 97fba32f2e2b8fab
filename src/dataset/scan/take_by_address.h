#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/dataset.h"
#include "read/projection.h"

namespace glaive::dataset {

// Rows by their addresses, in that order. Errors: InvalidInput for a row that is not there.
arrow::Result<std::shared_ptr<arrow::Table>> TakeByAddress(const Dataset& dataset,
                                                           std::span<const uint64_t> addresses,
                                                           const read::ProjectionRequest& request);

}  // namespace glaive::dataset
