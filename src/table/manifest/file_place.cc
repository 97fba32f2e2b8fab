#include "table/manifest/file_place.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace glaive::table {
namespace {

std::string_view FolderOf(FileKind kind) {
  switch (kind) {
    case FileKind::kData: return "data/";
    case FileKind::kDeletion: return "_deletions/";
    case FileKind::kIndex: return "_indices/";
  }
  return "";
}

}  // namespace

arrow::Result<FilePlace> PlaceOf(const TableLocation& table, const Manifest& manifest,
                                 FileKind kind, std::string_view name,
                                 std::optional<uint32_t> base_id) {
  const std::string path = std::string(FolderOf(kind)) + std::string(name);
  if (!base_id) return FilePlace{table.store, table.Path(path)};
  const auto base = std::ranges::find(manifest.base_paths, *base_id, &BasePath::id);
  if (base == manifest.base_paths.end()) {
    return Corrupt({manifest.path}, "{} lies in base {}, which is not listed", path, *base_id);
  }
  if (!base->is_dataset_root && kind == FileKind::kDeletion) {
    return Corrupt({manifest.path}, "{} lies in base {}, which is no table", path, *base_id);
  }
  ARROW_ASSIGN_OR_RAISE(auto root, io::Resolve(base->path));
  return FilePlace{std::move(root.store),
                   root.path + "/" + (base->is_dataset_root ? path : std::string(name))};
}

}  // namespace glaive::table
