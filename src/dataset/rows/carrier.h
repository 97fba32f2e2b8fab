#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <arrow/status.h>

#include "read/snapshot.h"
#include "wire/fragment.h"

namespace glaive::dataset {

// Gives rows that moved into new fragments the stable ids they had: the first rows of `fragments`,
// one after the other, are those that were at these addresses, which ascend. Rows behind them get
// ids when they are committed. Nothing on tables without stable row ids.
arrow::Status CarryRowIds(const read::Snapshot& snapshot, std::span<const uint64_t> addresses,
                          std::vector<wire::DataFragment>& fragments);

}  // namespace glaive::dataset
