#pragma once

#include <arrow/result.h>

#include "table/manifest/manifest.h"
#include "table/operation/operation.h"

namespace glaive::table {

// The version that comes after `previous` when `operation` is committed on it. Pure: ids are given
// here, from `previous`, so that an attempt on a newer version needs no rewriting of the operation.
// Costs what the operation touches, however many fragments the table has.
arrow::Result<Manifest> Apply(const Manifest& previous, const Operation& operation,
                              const CommitHints& hints = {});

}  // namespace glaive::table
