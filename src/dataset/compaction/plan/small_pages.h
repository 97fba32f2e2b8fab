#pragma once

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "glaive/write.h"
#include "wire/fragment.h"

namespace glaive::dataset {

// Whether some column of a fragment is cut into more than twice the pages that a write with these
// limits would make of it, below 32 MiB each. Reads the ends of the fragment's files and, where
// these look so, a few rows: what is well compressed may be in small pages for a good reason.
arrow::Result<bool> HasSmallPages(const Dataset& dataset, const wire::DataFragment& fragment,
                                  const FileLimits& limits);

}  // namespace glaive::dataset
