#pragma once

#include <arrow/result.h>

#include "table/commit/commit.h"

namespace glaive::dataset {

// Publishes an older version's content, which is `content` or else what is there, as the newest
// one. NotFound where that version is not there; a retryable conflict where it is another one by
// now, or a clean-up took it meanwhile.
arrow::Result<table::ManifestPtr> CommitRestore(const table::TableLocation& table,
                                                const table::ManifestPtr& base,
                                                table::Restore restore, table::ManifestPtr content,
                                                const table::CommitOptions& options);

}  // namespace glaive::dataset
