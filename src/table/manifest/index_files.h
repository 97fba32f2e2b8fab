#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "wire/fragment.h"

namespace glaive::table {

// Where the files of an index lie: below _indices/ of the table or of a base.
struct IndexFolder {
  std::string name;  // the index's UUID
  std::optional<uint32_t> base_id;
};

// Of each entry of an IndexSection.
arrow::Result<std::vector<IndexFolder>> IndexFolders(const std::string& index_section,
                                                     Location where);

// The data file of a DataOverlayFile message.
arrow::Result<wire::DataFile> OverlayFile(const std::string& overlay, Location where);

}  // namespace glaive::table
