#pragma once

#include <cstdint>
#include <string>

#include <arrow/result.h>

#include "glaive/metadata.h"
#include "table/manifest/location.h"
#include "table/manifest/manifest.h"

namespace glaive::dataset {

// A version by what made it, not by its number alone: a table that was removed and made anew at the
// same place has other transactions under the same numbers. Its `transaction` is never empty.
using TableIdentity = WrittenFor;

// Whether the two are one version of one table, read twice.
bool IsSameVersion(const table::Manifest& one, const table::Manifest& other);

// Read off the manifest where that names its transaction, as it does for all known writers.
arrow::Result<TableIdentity> IdentityOf(const table::TableLocation& table,
                                        const table::Manifest& manifest);

// Of the version of that number, by its transaction alone. NotFound where there is none.
arrow::Result<TableIdentity> IdentityOf(const table::TableLocation& table, uint64_t version);

// The root of a table in a form that other tables and processes can refer to.
std::string AbsolutePath(const table::TableLocation& location);

}  // namespace glaive::dataset
