#pragma once

#include <arrow/result.h>

#include "table/commit.h"

namespace glaive::dataset {

// table::Commit, and then the clean-up that the table's config asks for, which never fails the
// commit: it is done by then. Every verb commits through this.
arrow::Result<table::ManifestPtr> CommitVersion(const table::TableLocation& table,
                                                const table::ManifestPtr& base,
                                                table::Operation operation,
                                                const table::CommitOptions& options);
arrow::Result<table::ManifestPtr> CommitVersion(const table::TableLocation& table,
                                                const table::ManifestPtr& base,
                                                table::MakeOperation make,
                                                const table::CommitOptions& options);

}  // namespace glaive::dataset
