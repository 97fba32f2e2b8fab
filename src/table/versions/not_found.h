#pragma once

#include <arrow/status.h>

#include "table/manifest/location.h"

namespace glaive::table {

// NotFound for a place without versions, which says what lies there instead. Looks for that, so it
// is for callers who tell people and do nothing else about it.
arrow::Status TableNotFound(const TableLocation& table);

// Whether a request failed because its object is not there: an object of a listing may go at any
// time.
bool IsGone(const arrow::Status& status);

}  // namespace glaive::table
