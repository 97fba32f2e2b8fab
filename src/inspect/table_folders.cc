#include "inspect/table_folders.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/error.h"
#include "dataset/refs/file_references.h"
#include "io/object_store.h"
#include "table/versions/file.h"
#include "table/versions/not_found.h"

namespace glaive::inspect {
namespace {

constexpr std::string_view kVersionsFolder = "/_versions/";
constexpr std::string_view kTreeFolder = "/tree/";

// The table that a branch's folder belongs to, if there is one above it.
arrow::Result<std::optional<std::string>> TableOfBranch(const table::TableLocation& location) {
  for (size_t at = location.root.rfind(kTreeFolder); at != std::string::npos && at > 0;
       at = location.root.rfind(kTreeFolder, at - 1)) {
    const table::TableLocation above = {location.store, location.root.substr(0, at), ""};
    ARROW_ASSIGN_OR_RAISE(const auto manifests, table::ListManifests(above));
    if (!manifests.empty()) return above.root;
  }
  return std::nullopt;
}

}  // namespace

arrow::Result<std::vector<TableFolder>> ListTableFolders(std::string_view uri) {
  ARROW_ASSIGN_OR_RAISE(io::ResolvedUri place, io::Resolve(uri));
  const table::TableLocation root = {place.store, place.path, place.uri};
  ARROW_ASSIGN_OR_RAISE(const auto manifests, table::ListManifests(root));
  if (manifests.empty()) return table::TableNotFound(root);
  ARROW_ASSIGN_OR_RAISE(const auto table, TableOfBranch(root));
  if (table) return InvalidInput("{} is a branch of the table {}: ask about that", uri, *table);

  std::vector<TableFolder> folders = {{root, ""}};
  const std::string tree = root.Path("tree");
  ARROW_ASSIGN_OR_RAISE(const auto objects, root.store->ListRecursive(tree));
  std::set<std::string> branches;
  for (const io::ObjectInfo& object : objects) {
    const size_t at = object.path.rfind(kVersionsFolder);
    if (at == std::string::npos || at <= tree.size()) continue;
    branches.insert(object.path.substr(tree.size() + 1, at - tree.size() - 1));
  }
  for (const std::string& branch : branches) {
    folders.push_back({{root.store, tree + "/" + branch, root.uri}, branch});
  }
  return folders;
}

arrow::Result<std::vector<NamedManifest>> ListAllManifests(const TableFolder& folder) {
  std::vector<NamedManifest> manifests;
  const auto of_branch = folder.branch.empty() ? "" : fmt::format(" of branch {}", folder.branch);
  ARROW_ASSIGN_OR_RAISE(auto entries, table::ListManifests(folder.location));
  for (table::VersionEntry& entry : entries) {
    NamedManifest& manifest = manifests.emplace_back();
    manifest.name = fmt::format("{}{}", entry.version, of_branch);
    manifest.entry = std::move(entry);
  }
  ARROW_ASSIGN_OR_RAISE(auto detached, dataset::ListDetached(folder.location));
  for (table::VersionEntry& entry : detached) {
    NamedManifest& manifest = manifests.emplace_back();
    manifest.name = fmt::format("{} (detached){}", entry.version, of_branch);
    manifest.entry = std::move(entry);
  }
  return manifests;
}

}  // namespace glaive::inspect
