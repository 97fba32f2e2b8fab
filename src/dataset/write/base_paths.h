#pragma once

#include <vector>

#include <arrow/status.h>

#include "dataset/write/destination.h"
#include "glaive/write.h"
#include "table/manifest/manifest.h"

namespace glaive::dataset {

// Settles which bases the destination gets, and in which folders new files go; `bases` are those
// that its table has. InvalidInput for bases that are not there, and for new ones in another mode
// than kCreate.
arrow::Status ChooseFolders(const WriteOptions& options, std::vector<table::BasePath> bases,
                            Destination* destination);

}  // namespace glaive::dataset
