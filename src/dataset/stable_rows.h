#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "read/snapshot.h"

namespace glaive::dataset {

// Where the rows with these stable ids lie: fragment id << 32 | physical row. Nothing for ids that
// no live row has.
arrow::Result<std::vector<std::optional<uint64_t>>> FindStableRows(
    const read::Snapshot& snapshot, std::span<const uint64_t> row_ids);

}  // namespace glaive::dataset
