#include "dataset/commit/brought_files.h"

#include <algorithm>

#include "core/error.h"
#include "table/manifest/index_files.h"
#include "table/rows/deletion_vector.h"
#include "wire/fields.h"
#include "wire/index.h"

namespace glaive::dataset {
namespace {

using table::FileKind;

bool HasBlobs(const std::vector<wire::Field>& fields) {
  return std::ranges::any_of(fields, [](const wire::Field& field) {
    return wire::IsBlob(field) || HasBlobs(field.children);
  });
}

bool HasFile(const wire::DataFragment& fragment, const wire::DataFile& file) {
  return std::ranges::any_of(fragment.files, [&](const wire::DataFile& known) {
    return known.path == file.path && known.base_id == file.base_id;
  });
}

// Calls `visit` with each element, until one fails.
template <typename Values, typename Visit>
arrow::Status ForEach(const Values& values, const Visit& visit) {
  for (const auto& value : values) ARROW_RETURN_NOT_OK(visit(value));
  return arrow::Status::OK();
}

}  // namespace

arrow::Status BroughtFiles::Add(const table::Operation& operation,
                                const table::ManifestPtr& before) {
  before_ = before;
  if (before_ != nullptr) has_blobs_ |= HasBlobs(before_->schema.fields);
  const auto add_fragment = [&](const FragmentMetadata& added) {
    return AddFragment(StateOf(added)->fragment);
  };
  const auto none = [](const auto&) { return arrow::Status::OK(); };
  return std::visit(
      table::Match{
          [&](const table::Append& append) { return ForEach(append.fragments, add_fragment); },
          [&](const table::Delete& change) {
            return ForEach(change.updated_fragments, add_fragment);
          },
          [&](const table::Overwrite& overwrite) {
            new_bases_ = overwrite.initial_bases;
            has_blobs_ |= HasBlobs(StateOf(overwrite.schema)->schema.fields);
            return ForEach(overwrite.fragments, add_fragment);
          },
          [&](const table::CreateIndex& change) {
            return ForEach(change.new_indices, [&](const IndexMetadata& index) {
              return AddFolder(FileKind::kIndex, index.uuid, index.base_id);
            });
          },
          [&](const table::Rewrite& rewrite) {
            return ForEach(rewrite.groups, [&](const table::Rewrite::Group& group) {
              return ForEach(group.new_fragments, add_fragment);
            });
          },
          [&](const table::Merge& merge) {
            has_blobs_ |= HasBlobs(StateOf(merge.schema)->schema.fields);
            return ForEach(merge.fragments, add_fragment);
          },
          [&](const table::Update& update) {
            ARROW_RETURN_NOT_OK(ForEach(update.updated_fragments, add_fragment));
            return ForEach(update.new_fragments, add_fragment);
          },
          [&](const table::DataReplacement& change) {
            return ForEach(change.replacements,
                           [&](const table::DataReplacement::Group& replacement) {
                             return AddDataFile(replacement.new_file);
                           });
          },
          [&](const table::DataOverlay& change) {
            return ForEach(change.groups, [&](const table::DataOverlay::Group& group) {
              return ForEach(group.overlays, [&](const OverlayFile& overlay) {
                return AddDataFile(overlay.data_file);
              });
            });
          },
          [&](const table::Restore& restore) { return none(restore); },
          [&](const table::ReserveFragments& reserve) { return none(reserve); },
          [&](const table::Project& project) { return none(project); },
          [&](const table::UpdateConfig& update) { return none(update); },
          [&](const table::UpdateMemWalState& update) { return none(update); },
          [&](const table::Clone& clone) { return none(clone); },
          [&](const table::UpdateBases& update) { return none(update); }},
      operation);
}

arrow::Result<std::vector<std::string>> BroughtFiles::Take() {
  auto waiting = std::exchange(waiting_, {});
  for (const auto& [store, paths] : waiting) {
    if (store != table_.store) ARROW_RETURN_NOT_OK(store->Sync(paths));
  }
  return std::move(waiting[table_.store]);
}

arrow::Status BroughtFiles::AddFragment(const wire::DataFragment& fragment) {
  wire::DataFragment known;
  const auto view = before_ != nullptr ? before_->fragments.Find(fragment.id) : std::nullopt;
  if (view) {
    ARROW_ASSIGN_OR_RAISE(known, view->Parse());
  }
  for (const wire::DataFile& file : fragment.files) {
    if (!HasFile(known, file)) ARROW_RETURN_NOT_OK(AddDataFile(file));
  }
  for (const std::string& overlay : fragment.overlays) {
    if (std::ranges::count(known.overlays, overlay) == 0) ARROW_RETURN_NOT_OK(AddOverlay(overlay));
  }
  if (!fragment.deletion_file || fragment.deletion_file == known.deletion_file) {
    return arrow::Status::OK();
  }
  std::string name = table::DeletionFilePath(fragment.id, *fragment.deletion_file);
  name.erase(0, name.find('/') + 1);
  return AddFile(FileKind::kDeletion, name, fragment.deletion_file->base_id);
}

// With what it keeps beside itself, in a folder of its name: large values.
arrow::Status BroughtFiles::AddDataFile(const wire::DataFile& file) {
  ARROW_RETURN_NOT_OK(AddFile(FileKind::kData, file.path, file.base_id));
  if (!has_blobs_) return arrow::Status::OK();
  return AddFolder(FileKind::kData, file.path.substr(0, file.path.rfind('.')), file.base_id);
}

arrow::Status BroughtFiles::AddOverlay(const std::string& overlay) {
  ARROW_ASSIGN_OR_RAISE(const auto file, table::OverlayFile(overlay, {"a DataOverlay operation"}));
  return AddDataFile(file);
}

arrow::Status BroughtFiles::AddFile(FileKind kind, const std::string& name,
                                    std::optional<uint32_t> base_id) {
  ARROW_ASSIGN_OR_RAISE(const auto place, Place(kind, name, base_id));
  if (place) Add(place->store, {place->path});
  return arrow::Status::OK();
}

arrow::Status BroughtFiles::AddFolder(FileKind kind, const std::string& name,
                                      std::optional<uint32_t> base_id) {
  ARROW_ASSIGN_OR_RAISE(const auto place, Place(kind, name, base_id));
  if (!place) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto objects, place->store->ListRecursive(place->path));
  for (const io::ObjectInfo& object : objects) Add(place->store, {object.path});
  return arrow::Status::OK();
}

void BroughtFiles::Add(const Store& store, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (known_.emplace(store, path).second) waiting_[store].push_back(path);
  }
}

// Nothing for a base of which only the newest version may know, or whose store is not known here:
// those are checked elsewhere, or have no notion of a file that is not durable.
arrow::Result<std::optional<table::FilePlace>> BroughtFiles::Place(
    FileKind kind, const std::string& name, std::optional<uint32_t> base_id) const {
  table::Manifest bases;
  if (base_id) {
    if (before_ != nullptr) bases.base_paths = before_->base_paths;
    bases.base_paths.insert(bases.base_paths.end(), new_bases_.begin(), new_bases_.end());
  }
  auto place = table::PlaceOf(table_, bases, kind, name, base_id);
  if (place.ok()) return *std::move(place);
  const ErrorKind error = KindOf(place.status());
  if (error == ErrorKind::kUnsupported || error == ErrorKind::kCorrupt) return std::nullopt;
  return place.status();
}

}  // namespace glaive::dataset
