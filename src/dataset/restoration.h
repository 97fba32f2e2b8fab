#pragma once

#include <arrow/result.h>

#include "table/commit.h"

namespace glaive::dataset {

// Whether the version is in the store under its own name: not another one of its number, nor a
// tombstone.
arrow::Result<bool> IsStillThere(const table::TableLocation& table,
                                 const table::Manifest& manifest);

// Publishes an older version's content, which is `content` or else what is there, as the newest
// one. NotFound where that version is not there; a retryable conflict where it is another one by
// now, or a clean-up took it meanwhile.
arrow::Result<table::ManifestPtr> CommitRestore(const table::TableLocation& table,
                                                const table::ManifestPtr& base,
                                                table::Restore restore,
                                                const table::CommitOptions& options);

}  // namespace glaive::dataset
