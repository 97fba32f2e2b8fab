#pragma once

#include <string>
#include <vector>

#include <arrow/result.h>

#include "table/manifest/location.h"
#include "table/manifest/manifest.h"
#include "table/operation/operation.h"

namespace glaive::table {

// Files that a rebase left behind it.
struct RebasedFiles {
  std::vector<std::string> written;     // to be removed if the commit fails
  std::vector<std::string> superseded;  // ours, to be removed once it has succeeded
};

// Makes a Delete or an Update that was read from `seen` one that follows `latest`: where a fragment
// got another deletion file meanwhile, a new one holds both vectors; a fragment with no row left is
// removed. A retryable CommitConflict if one of our rows is gone already. An index that a
// CreateIndex brings does not cover fragments whose columns were written anew since it was built. A
// Project takes on metadata that was changed meanwhile. Also a retryable CommitConflict if a file
// that is brought was written for a field whose id another one has got since. The operation's other
// fragments, and other operations, are left alone.
arrow::Status Rebase(const TableLocation& table, const Manifest& seen, const Manifest& latest,
                     Operation* operation, RebasedFiles* files);

// Whether an overlay that was made from `seen` may lie on `latest`, after an update that moved rows
// of its fragments: a retryable CommitConflict if it covers one that is gone.
arrow::Status CheckCoverage(const TableLocation& table, const Manifest& seen,
                            const Manifest& latest, const DataOverlay& overlay);

}  // namespace glaive::table
