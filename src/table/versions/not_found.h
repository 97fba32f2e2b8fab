#pragma once

#include <arrow/status.h>

#include "table/manifest/location.h"

namespace glaive::table {

// NotFound for a place without versions, which says what lies there instead. Looks for that, so it
// is for callers who tell people and do nothing else about it.
arrow::Status TableNotFound(const TableLocation& table);

}  // namespace glaive::table
