#pragma once

#include <arrow/status.h>

#include "table/manifest/manifest.h"
#include "table/operation/operation.h"

namespace glaive::table {

// Whether `next`, made of `previous` by `operation`, may be published: what a caller put together
// by hand can be wrong in ways that no reader would notice before it gives wrong rows. Pure, and
// looks at what the operation names, not at all fragments. InvalidInput says what is wrong.
arrow::Status Validate(const Manifest& previous, const Operation& operation, const Manifest& next);

}  // namespace glaive::table
