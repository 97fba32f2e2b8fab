#include "glaive/files.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

#include "core/error.h"
#include "dataset/clones/files.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/session_state.h"
#include "dataset/handle/table_identity.h"
#include "table/manifest/file_place.h"
#include "table/manifest/index_files.h"
#include "table/rows/deletion_vector.h"

namespace glaive {
namespace {

// The files of one version.
class VersionFiles {
 public:
  VersionFiles(const table::TableLocation& location, const table::Manifest& manifest,
               std::vector<TrackedFile>& files)
      : location_(location),
        manifest_(manifest),
        own_uri_(dataset::AbsolutePath(location)),
        files_(files) {}

  arrow::Status Add() {
    AddOwn(manifest_.path.substr(location_.Path("").size()), FileRole::kManifest);
    if (!manifest_.transaction_file.empty()) {
      AddOwn("_transactions/" + manifest_.transaction_file, FileRole::kTransaction);
    }
    ARROW_RETURN_NOT_OK(
        manifest_.fragments.Visit([&](const table::Fragment& view) -> arrow::Status {
          ARROW_ASSIGN_OR_RAISE(const wire::DataFragment fragment, view.Parse());
          return AddFragment(fragment);
        }));
    ARROW_ASSIGN_OR_RAISE(const auto indices,
                          table::IndexFolders(manifest_.index_section, {manifest_.path}));
    for (const table::IndexFolder& index : indices) ARROW_RETURN_NOT_OK(AddIndex(index));
    return arrow::Status::OK();
  }

 private:
  void AddOwn(std::string path, FileRole role) {
    files_.push_back({manifest_.version, own_uri_, std::move(path), role});
  }

  // `folder` is left out where the base is no table.
  void AddAt(std::optional<uint32_t> base_id, const std::string& folder, const std::string& name,
             FileRole role) {
    const auto base = base_id
                          ? std::ranges::find(manifest_.base_paths, *base_id, &table::BasePath::id)
                          : manifest_.base_paths.end();
    if (base == manifest_.base_paths.end()) return AddOwn(folder + name, role);
    files_.push_back(
        {manifest_.version, base->path, base->is_dataset_root ? folder + name : name, role});
  }

  arrow::Status AddFragment(const wire::DataFragment& fragment) {
    for (const wire::DataFile& file : fragment.files) {
      AddAt(file.base_id, "data/", file.path, FileRole::kData);
    }
    for (const std::string& overlay : fragment.overlays) {
      ARROW_ASSIGN_OR_RAISE(const auto file, table::OverlayFile(overlay, {manifest_.path}));
      AddAt(file.base_id, "data/", file.path, FileRole::kData);
    }
    if (fragment.deletion_file) {
      AddAt(fragment.deletion_file->base_id, "",
            table::DeletionFilePath(fragment.id, *fragment.deletion_file), FileRole::kDeletion);
    }
    return arrow::Status::OK();
  }

  arrow::Status AddIndex(const table::IndexFolder& index) {
    ARROW_ASSIGN_OR_RAISE(
        const auto place,
        table::PlaceOf(location_, manifest_, table::FileKind::kIndex, index.name, index.base_id));
    ARROW_ASSIGN_OR_RAISE(const auto objects, place.store->ListRecursive(place.path));
    for (const io::ObjectInfo& object : objects) {
      AddAt(index.base_id, "_indices/", index.name + object.path.substr(place.path.size()),
            FileRole::kIndex);
    }
    return arrow::Status::OK();
  }

  const table::TableLocation& location_;
  const table::Manifest& manifest_;
  const std::string own_uri_;
  std::vector<TrackedFile>& files_;
};

void CollectIds(const std::vector<wire::Field>& fields, std::vector<FieldBytes>& sizes) {
  for (const wire::Field& field : fields) {
    sizes.push_back({field.id, 0});
    CollectIds(field.children, sizes);
  }
}

uint64_t BytesOf(const wire::ColumnMetadata& column) {
  uint64_t bytes = 0;
  for (const wire::Page& page : column.pages) {
    for (const ByteRange& buffer : page.buffers) bytes += buffer.size;
  }
  return bytes;
}

// A column that no field names belongs to the field of the one before.
arrow::Status AddBytes(const read::Snapshot& snapshot, const wire::DataFile& file,
                       std::map<int32_t, uint64_t>& bytes) {
  std::map<int64_t, int32_t> field_of;
  for (size_t i = 0; i < std::min(file.fields.size(), file.column_indices.size()); ++i) {
    field_of[file.column_indices[i]] = file.fields[i];
  }
  ARROW_ASSIGN_OR_RAISE(const auto reader, read::OpenDataFile(snapshot, file));
  const auto& columns = reader->metadata().columns;
  int32_t field = -1;
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto named = field_of.find(static_cast<int64_t>(i));
    if (named != field_of.end()) field = named->second;
    bytes[field] += BytesOf(columns[i]);
  }
  return arrow::Status::OK();
}

}  // namespace

std::string_view NameOf(FileRole role) {
  switch (role) {
    case FileRole::kManifest: return "manifest";
    case FileRole::kTransaction: return "transaction file";
    case FileRole::kData: return "data file";
    case FileRole::kDeletion: return "deletion file";
    case FileRole::kIndex: return "index file";
  }
  return "";
}

arrow::Result<std::vector<TrackedFile>> TrackedFiles(const Dataset& dataset,
                                                     std::optional<uint64_t> min_version,
                                                     const VersionProgress& progress) {
  const dataset::DatasetState& state = *StateOf(dataset);
  ARROW_ASSIGN_OR_RAISE(auto entries, table::ListVersions(state.location));
  std::erase_if(entries, [&](const table::VersionEntry& entry) {
    return entry.version < min_version.value_or(0);
  });
  std::vector<TrackedFile> files;
  uint64_t done = 0;
  for (const table::VersionEntry& entry : std::views::reverse(entries)) {
    ARROW_ASSIGN_OR_RAISE(const auto manifest,
                          StateOf(*state.session)->ManifestOf(state.location, entry));
    ARROW_RETURN_NOT_OK(VersionFiles(state.location, *manifest, files).Add());
    if (progress) ARROW_RETURN_NOT_OK(progress(++done, entries.size()));
  }
  return files;
}

arrow::Result<std::vector<StoredFile>> StoredFiles(const Dataset& dataset) {
  const table::TableLocation& location = StateOf(dataset)->location;
  ARROW_ASSIGN_OR_RAISE(const auto objects, location.store->ListRecursive(location.root));
  const size_t prefix = location.Path("").size();
  std::vector<StoredFile> files;
  files.reserve(objects.size());
  for (const io::ObjectInfo& object : objects) {
    files.push_back(
        {object.path.substr(prefix), object.size_bytes, object.modified_ns.value_or(0)});
  }
  return files;
}

arrow::Result<std::vector<FieldBytes>> BytesOfFields(const Dataset& dataset) {
  const read::Snapshot snapshot = dataset::SnapshotOf(dataset);
  std::vector<FieldBytes> sizes;
  CollectIds(snapshot.manifest->schema.fields, sizes);
  std::map<int32_t, uint64_t> bytes;
  ARROW_RETURN_NOT_OK(
      snapshot.manifest->fragments.Visit([&](const table::Fragment& view) -> arrow::Status {
        ARROW_ASSIGN_OR_RAISE(const wire::DataFragment fragment, view.Parse());
        for (const wire::DataFile& file : fragment.files) {
          ARROW_RETURN_NOT_OK(AddBytes(snapshot, file, bytes));
        }
        return arrow::Status::OK();
      }));
  for (FieldBytes& size : sizes) size.bytes = bytes[size.field_id];
  return sizes;
}

}  // namespace glaive
