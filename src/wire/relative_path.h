#pragma once

#include <string_view>

#include <arrow/status.h>

#include "core/error.h"

namespace glaive::wire {

// Whether a path stays below the folder that it is joined to, in every store: names between single
// slashes, none of them "." or "..", and no byte that a store could take for an end or a separator
// (NUL, backslash).
bool StaysBelow(std::string_view path);

// Corrupt, naming the path, unless it does. Every path that a file of a table gives is checked
// where it is parsed, so that nobody who reads, copies, links or removes by it can leave the table.
arrow::Status CheckStaysBelow(std::string_view path, std::string_view what, Location where);

}  // namespace glaive::wire
