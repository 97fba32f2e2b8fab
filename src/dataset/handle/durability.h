#pragma once

#include <arrow/result.h>

#include "glaive/write.h"
#include "table/commit/commit.h"

namespace glaive::dataset {

// kDefault means the value of GLAIVE_DURABILITY, or kCommit where it is not set. Errors:
// InvalidInput for another word there.
arrow::Result<table::Durability> Resolve(Durability durability);

}  // namespace glaive::dataset
