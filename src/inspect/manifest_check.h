#pragma once

#include <functional>

#include <arrow/result.h>

#include "glaive/verify.h"
#include "read/snapshot.h"
#include "table/operation/operation.h"
#include "table/versions/versions.h"

namespace glaive::inspect {

// One manifest file: its footer, and with `whole` its message, which is returned, the sections and
// the transaction.
arrow::Result<table::ManifestPtr> CheckManifestFile(const table::TableLocation& table,
                                                    const table::VersionEntry& entry, bool whole);

// What a manifest says, against itself: counters, flags, fields and bases, and whether the files of
// its indices are there. Errors: only those that end the check.
arrow::Status CheckManifest(const read::Snapshot& snapshot,
                            const std::function<void(Finding)>& add);

}  // namespace glaive::inspect
