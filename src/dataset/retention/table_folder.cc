#include <utility>

#include <arrow/buffer.h>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/refs/file_references.h"
#include "glaive/retention.h"
#include "io/object_store.h"
#include "table/versions/file.h"

namespace glaive {
namespace {

// The whole file under its newer name, before the older one goes: a version is never nowhere.
arrow::Status GiveNewName(const table::TableLocation& location, const table::VersionEntry& entry) {
  const std::string path =
      location.Path("_versions/" + table::ManifestName(entry.version, table::NamingScheme::kV2));
  ARROW_ASSIGN_OR_RAISE(const auto reader, location.store->OpenRead(entry.path));
  ARROW_ASSIGN_OR_RAISE(const auto bytes, reader->Read({0, reader->size_bytes()}));
  const arrow::Status put = location.store->PutIfAbsent(path, {{bytes}}, /*sync=*/true);
  // A migration that was cut short has put it already.
  if (!put.ok() && KindOf(put) != ErrorKind::kAlreadyExists) return put;
  return location.store->Delete(entry.path);
}

// Catalogs leave these where a table is to be, or was.
arrow::Result<bool> IsMarked(const table::TableLocation& location) {
  for (const char* marker : {".lance-reserved", ".lance-deregistered"}) {
    ARROW_ASSIGN_OR_RAISE(const auto found, location.store->Head(location.Path(marker)));
    if (found) return true;
  }
  return false;
}

bool HoldsReadableVersion(const table::TableLocation& location,
                          const std::vector<table::VersionEntry>& entries) {
  for (const table::VersionEntry& entry : entries) {
    if (table::ManifestFile::Open(location, entry.path, std::nullopt).ok()) return true;
  }
  return false;
}

}  // namespace

arrow::Status MigrateManifestPathsV2(const Dataset& dataset) {
  const table::TableLocation& location = StateOf(dataset)->location;
  ARROW_ASSIGN_OR_RAISE(const auto entries, table::ListManifests(location));
  for (const table::VersionEntry& entry : entries) {
    if (entry.scheme == table::NamingScheme::kV2) continue;
    ARROW_RETURN_NOT_OK(GiveNewName(location, entry));
  }
  return arrow::Status::OK();
}

arrow::Status DropDataset(std::string_view uri, bool ignore_not_found) {
  ARROW_ASSIGN_OR_RAISE(auto place, io::Resolve(uri));
  const table::TableLocation location = {std::move(place.store), std::move(place.path),
                                         std::move(place.uri)};
  ARROW_ASSIGN_OR_RAISE(auto entries, table::ListManifests(location));
  ARROW_ASSIGN_OR_RAISE(const auto detached, dataset::ListDetached(location));
  entries.insert(entries.end(), detached.begin(), detached.end());
  ARROW_ASSIGN_OR_RAISE(const bool is_marked, IsMarked(location));
  if (!is_marked && !HoldsReadableVersion(location, entries)) {
    ARROW_ASSIGN_OR_RAISE(const auto objects, location.store->ListRecursive(location.root));
    if (!objects.empty()) {
      return InvalidInput(
          "{} is not dropped: it holds files, but no version of a dataset that can be read",
          location.uri);
    }
    if (ignore_not_found) return arrow::Status::OK();
    return FileNotFound({location.uri}, "there is no dataset to drop");
  }
  return location.store->DeleteFolder(location.root);
}

}  // namespace glaive
