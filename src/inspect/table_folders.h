#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "table/versions/versions.h"

namespace glaive::inspect {

// A table and its branches, each of which is laid out like a table of its own below tree/.
struct TableFolder {
  table::TableLocation location;
  std::string branch;  // empty: the table itself
};

// The table at `uri` first. NotFound where there is none; InvalidInput for the folder of a branch.
arrow::Result<std::vector<TableFolder>> ListTableFolders(std::string_view uri);

// Every manifest of a folder that is there, detached ones included, and how people call it.
struct NamedManifest {
  table::VersionEntry entry;
  std::string name;
};
arrow::Result<std::vector<NamedManifest>> ListAllManifests(const TableFolder& folder);

}  // namespace glaive::inspect
