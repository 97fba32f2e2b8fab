#include "dataset/file_references.h"

#include <charconv>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "io/object_store.h"
#include "table/deletion_vector.h"
#include "table/index_files.h"

namespace glaive::dataset {
namespace {

// Which base ids of a manifest stand for the folders of a table.
class OwnBases {
 public:
  static arrow::Result<OwnBases> Make(const table::TableLocation& own,
                                      const table::TableLocation& location,
                                      const table::Manifest& manifest) {
    OwnBases bases;
    bases.without_id_ = own.store == location.store && own.root == location.root;
    for (const table::BasePath& base : manifest.base_paths) {
      ARROW_ASSIGN_OR_RAISE(const auto place, io::Resolve(base.path));
      if (place.store != own.store) continue;
      if (base.is_dataset_root && place.path == own.root) {
        bases.roots_.insert(base.id);
      }
      if (!base.is_dataset_root && place.path == own.Path("data")) bases.data_.insert(base.id);
    }
    return bases;
  }

  bool IsOwnData(std::optional<uint32_t> base_id) const {
    return IsOwn(base_id) || (base_id && data_.contains(*base_id));
  }
  bool IsOwn(std::optional<uint32_t> base_id) const {
    return base_id ? roots_.contains(*base_id) : without_id_;
  }
  // What tells two ways of reading base ids apart.
  std::string Key() const {
    std::string key;
    for (const uint32_t id : roots_) key += " " + std::to_string(id);
    for (const uint32_t id : data_) key += "," + std::to_string(id);
    return key;
  }
  bool are_none() const { return !without_id_ && roots_.empty() && data_.empty(); }
  bool is_own_manifest() const { return without_id_; }

 private:
  bool without_id_ = false;
  std::set<uint32_t> roots_;
  std::set<uint32_t> data_;
};

arrow::Status AddFragment(const table::Manifest& manifest, const wire::DataFragment& fragment,
                          const OwnBases& bases, FileReferences* references) {
  for (const wire::DataFile& file : fragment.files) {
    if (bases.IsOwnData(file.base_id)) references->data.insert(file.path);
  }
  for (const std::string& overlay : fragment.overlays) {
    ARROW_ASSIGN_OR_RAISE(const auto file, table::OverlayFile(overlay, {manifest.path}));
    if (bases.IsOwnData(file.base_id)) references->data.insert(file.path);
  }
  if (fragment.deletion_file && bases.IsOwn(fragment.deletion_file->base_id)) {
    const std::string path = table::DeletionFilePath(fragment.id, *fragment.deletion_file);
    references->deletions.insert(path.substr(path.find('/') + 1));
  }
  return arrow::Status::OK();
}

}  // namespace

void FileReferences::Merge(const FileReferences& other) {
  data.insert(other.data.begin(), other.data.end());
  deletions.insert(other.deletions.begin(), other.deletions.end());
  transactions.insert(other.transactions.begin(), other.transactions.end());
  indices.insert(other.indices.begin(), other.indices.end());
}

arrow::Status AddReferences(const table::TableLocation& own, const table::TableLocation& location,
                            const table::Manifest& manifest, FileReferences* references) {
  ARROW_ASSIGN_OR_RAISE(const OwnBases bases, OwnBases::Make(own, location, manifest));
  if (bases.are_none()) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(manifest.fragments.Visit([&](const table::Fragment& view) -> arrow::Status {
    const std::span<const std::byte> message = view.message();
    std::string key = location.root + bases.Key() + '\n';
    key.append(reinterpret_cast<const char*>(message.data()), message.size());
    if (!references->seen_fragments.insert(std::move(key)).second) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const wire::DataFragment fragment, view.Parse());
    return AddFragment(manifest, fragment, bases, references);
  }));
  ARROW_ASSIGN_OR_RAISE(const auto indices,
                        table::IndexFolders(manifest.index_section, {manifest.path}));
  for (const table::IndexFolder& index : indices) {
    if (bases.IsOwn(index.base_id)) references->indices.insert(index.name);
  }
  if (bases.is_own_manifest() && !manifest.transaction_file.empty()) {
    references->transactions.insert(manifest.transaction_file);
  }
  return arrow::Status::OK();
}

arrow::Result<std::vector<table::VersionEntry>> ListDetached(const table::TableLocation& table) {
  constexpr std::string_view kSuffix = ".manifest";
  ARROW_ASSIGN_OR_RAISE(const auto objects, table.store->List(table.Path("_versions")));
  std::vector<table::VersionEntry> entries;
  for (const io::ObjectInfo& object : objects) {
    std::string_view name = object.path;
    name.remove_prefix(name.rfind('/') + 1);
    if (!name.starts_with('d') || !name.ends_with(kSuffix)) continue;
    name.remove_prefix(1);
    name.remove_suffix(kSuffix.size());
    uint64_t version = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), version);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    entries.push_back({version, object.path, table::NamingScheme::kV2, object.size_bytes});
  }
  return entries;
}

}  // namespace glaive::dataset
