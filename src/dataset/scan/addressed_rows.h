#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "read/projection.h"
#include "read/snapshot.h"

namespace glaive::dataset {

// The rows at addresses (fragment id << 32 | physical row) that ascend, repeats allowed; TooLarge
// (core/pieces.h) where several take more than a batch should. REQUIRES: InitCompute(), and fewer
// than 2^32 addresses of rows that there are.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> ReadRows(
    const read::Snapshot& snapshot, const std::shared_ptr<const read::Projection>& projection,
    std::span<const uint64_t> addresses);

}  // namespace glaive::dataset
