#include "glaive/session.h"

#include <utility>

#include <fmt/format.h>

#include "core/error.h"
#include "core/write_once.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/session_state.h"
#include "dataset/handle/write_target_state.h"

namespace glaive {
namespace {

// The same path in another store is another file.
std::string KeyOf(char kind, const io::ObjectStore* store, std::string_view path) {
  return fmt::format("{}{}:{}", kind, static_cast<const void*>(store), path);
}

// A manifest file, as far as it can be told from another that takes its name.
struct FileStamp {
  uint64_t size_bytes;
  int64_t modified_ns;
  uint64_t file_id;

  bool operator==(const FileStamp&) const = default;
};

// Nothing where the store does not tell, or the file has gone.
arrow::Result<std::optional<FileStamp>> StampOf(const table::TableLocation& location,
                                                const table::VersionEntry& entry) {
  if (entry.size_bytes != 0 && entry.modified_ns) {
    return FileStamp{entry.size_bytes, *entry.modified_ns, entry.file_id};
  }
  ARROW_ASSIGN_OR_RAISE(const auto info, location.store->Head(entry.path));
  if (!info || !info->modified_ns) return std::nullopt;
  return FileStamp{info->size_bytes, *info->modified_ns, info->file_id};
}

struct CachedManifest {
  FileStamp file;
  table::ManifestPtr manifest;

  // The fragments' bytes and their index are nearly all of it.
  uint64_t memory_bytes() const {
    return manifest->size_bytes + 9 * manifest->fragments.totals().num_fragments + 1024;
  }
};

struct CachedTarget {
  FileStamp file;
  WriteTarget target;
  uint64_t bytes;

  uint64_t memory_bytes() const { return bytes; }
};

struct CachedDeletions {
  table::DeletionVectorPtr vector;
  uint64_t memory_bytes() const { return vector->size() * sizeof(uint32_t); }
};

// What `read` gives of the newest version. One that went before it was read is not that any more.
template <typename Read>
auto ReadNewest(const table::TableLocation& location, Read read)
    -> decltype(read(table::VersionEntry())) {
  for (int look = 1;; ++look) {
    ARROW_ASSIGN_OR_RAISE(const auto entry, table::LatestVersion(location));
    if (!entry) return NotFound("Dataset at path {} was not found", location.uri);
    auto found = read(*entry);
    const bool has_gone = !found.ok() && KindOf(found.status()) == ErrorKind::kNotFound;
    if (!has_gone || look == table::kMostLooksForNewest) return found;
  }
}

}  // namespace

Session::Session(uint64_t metadata_cache_bytes)
    : state_(std::make_unique<dataset::SessionState>(metadata_cache_bytes)) {}

Session::~Session() = default;

const std::shared_ptr<Session>& Session::Default() {
  // Never destroyed: handles may outlive the end of main.
  static constinit ProcessWide<const std::shared_ptr<Session>> session;
  return session.Get(
      [] { return std::make_unique<const std::shared_ptr<Session>>(std::make_shared<Session>()); });
}

std::shared_ptr<Session> SessionOf(const Dataset& dataset) { return StateOf(dataset)->session; }

std::shared_ptr<Session> dataset::PassingSession(std::shared_ptr<Session> base) {
  auto session = std::make_shared<Session>(0);
  StateOf(*session)->base = std::move(base);
  return session;
}

uint64_t Session::size_bytes() const { return state_->cache.size_bytes(); }

arrow::Result<std::shared_ptr<file::FileReader>> dataset::SessionState::OpenFile(
    const std::shared_ptr<io::ObjectStore>& store, const std::string& path,
    std::optional<uint64_t> size_bytes) {
  const std::string key = KeyOf('f', store.get(), path);
  if (base != nullptr) {
    if (auto cached = StateOf(*base)->cache.Get<file::FileReader>(key)) return cached;
    return file::FileReader::Open(store, path, size_bytes);
  }
  if (auto cached = cache.Get<file::FileReader>(key)) return cached;
  ARROW_ASSIGN_OR_RAISE(auto reader, file::FileReader::Open(store, path, size_bytes));
  cache.Put(key, reader, /*holds_file_open=*/true);
  return reader;
}

arrow::Result<table::DeletionVectorPtr> dataset::SessionState::OpenDeletions(
    const table::TableLocation& location, const table::Manifest& manifest,
    const wire::DataFragment& fragment, uint64_t physical_rows) {
  if (base != nullptr) {
    return StateOf(*base)->OpenDeletions(location, manifest, fragment, physical_rows);
  }
  const wire::DeletionFile& file = *fragment.deletion_file;
  std::string path = location.Path(table::DeletionFilePath(fragment.id, file));
  if (file.base_id) path += fmt::format("@{}", *file.base_id);
  const std::string key = KeyOf('d', location.store.get(), path);
  if (const auto cached = cache.Get<CachedDeletions>(key)) return cached->vector;
  ARROW_ASSIGN_OR_RAISE(
      auto vector, table::ReadDeletionFile(location, manifest, fragment.id, file, physical_rows));
  cache.Put(key, std::make_shared<CachedDeletions>(vector), /*holds_file_open=*/false);
  return vector;
}

arrow::Result<table::ManifestPtr> dataset::SessionState::LatestManifest(
    const table::TableLocation& location) {
  return ReadNewest(location,
                    [&](const auto& entry) { return ManifestOrOneBefore(location, entry); });
}

arrow::Result<table::ManifestPtr> dataset::SessionState::ManifestOrOneBefore(
    const table::TableLocation& location, const table::VersionEntry& head) {
  auto manifest = ManifestOf(location, head);
  // A torn head: the store's own way to the newest one passes over it.
  if (!manifest.ok() && KindOf(manifest.status()) == ErrorKind::kCorrupt) {
    return table::ReadLatestManifest(location);
  }
  return manifest;
}

arrow::Result<table::ManifestPtr> dataset::SessionState::ManifestOf(
    const table::TableLocation& location, uint64_t version) {
  ARROW_ASSIGN_OR_RAISE(const auto entry, table::FindVersion(location, version));
  return ManifestOf(location, entry);
}

arrow::Result<table::ManifestPtr> dataset::SessionState::ManifestOf(
    const table::TableLocation& location, const table::VersionEntry& entry) {
  ARROW_ASSIGN_OR_RAISE(const auto stamp, StampOf(location, entry));
  if (!stamp) return table::ReadManifest(location, entry);
  const std::string key = KeyOf('m', location.store.get(), entry.path);
  const auto cached = cache.Get<CachedManifest>(key);
  if (cached != nullptr && cached->file == *stamp) return cached->manifest;
  ARROW_ASSIGN_OR_RAISE(auto manifest, table::ReadManifest(location, entry));
  cache.Put(key, std::make_shared<CachedManifest>(*stamp, manifest), /*holds_file_open=*/false);
  return manifest;
}

arrow::Result<table::ManifestPtr> dataset::SessionState::PassingManifest(
    const table::TableLocation& location, const table::VersionEntry& entry) {
  const auto cached = cache.Get<CachedManifest>(KeyOf('m', location.store.get(), entry.path));
  if (cached == nullptr) return table::ReadManifest(location, entry);
  ARROW_ASSIGN_OR_RAISE(const auto stamp, StampOf(location, entry));
  if (stamp && cached->file == *stamp) return cached->manifest;
  return table::ReadManifest(location, entry);
}

arrow::Result<WriteTarget> dataset::SessionState::LatestTarget(
    const table::TableLocation& location) {
  return ReadNewest(location, [&](const auto& entry) { return TargetOf(location, entry); });
}

arrow::Result<WriteTarget> dataset::SessionState::TargetOf(const table::TableLocation& location,
                                                           const table::VersionEntry& entry) {
  ARROW_ASSIGN_OR_RAISE(const auto stamp, StampOf(location, entry));
  const std::string key = KeyOf('t', location.store.get(), entry.path);
  if (stamp) {
    const auto cached = cache.Get<CachedTarget>(key);
    if (cached != nullptr && cached->file == *stamp) return cached->target;
  }
  ARROW_ASSIGN_OR_RAISE(const auto manifest, ManifestOrOneBefore(location, entry));
  ARROW_ASSIGN_OR_RAISE(WriteTarget target, dataset::MakeWriteTarget(location, *manifest));
  if (stamp && manifest->version == entry.version) {
    cache.Put(key, std::make_shared<CachedTarget>(*stamp, target, dataset::MemoryBytes(target)),
              /*holds_file_open=*/false);
  }
  return target;
}

}  // namespace glaive
