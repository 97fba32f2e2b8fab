#pragma once

#include <arrow/status.h>

#include "glaive/commit.h"
#include "glaive/dataset.h"

namespace glaive::dataset {

// Whether any fragment of the operation was written for a WriteTarget.
bool RemembersTarget(const Operation& operation);

// Refuses fragments whose target was a version of another table than the one that is at the place
// of `base` now: theirs was removed, or is another branch of it. A handle may be as old as the
// target, so each version that a fragment names costs a look at its transaction as it is in the
// store. CommitConflict, also where that version is not there any more, since then nobody can tell.
arrow::Status CheckWrittenFor(const Dataset& base, const Operation& operation);

}  // namespace glaive::dataset
