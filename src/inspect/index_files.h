#pragma once

#include <string>
#include <vector>

#include <arrow/result.h>

#include "table/manifest/location.h"
#include "table/manifest/manifest.h"

namespace glaive::inspect {

// An entry of a manifest's index section.
struct StoredIndex {
  IndexMetadata entry;
  std::string folder;  // absolute in the store
};

// The indices of fields that have lost all their files. System indices may have none, and what lies
// under another base is not looked at.
arrow::Result<std::vector<StoredIndex>> IndicesWithoutFiles(const table::TableLocation& table,
                                                            const table::Manifest& manifest);

}  // namespace glaive::inspect
