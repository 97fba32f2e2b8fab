#pragma once

#include <cstdint>
#include <map>

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "simulation/model.h"

namespace glaive::simulation {

struct RowsRead {
  Rows rows;
  std::map<int64_t, uint64_t> row_ids;  // by key
};

// All rows of a version. Corrupt where a key is there twice.
arrow::Result<RowsRead> ReadRows(const Dataset& dataset);

}  // namespace glaive::simulation
