#include "dataset/refs/file_references.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "io/object_store.h"
#include "table/commit/publish.h"
#include "table/manifest/index_files.h"
#include "table/rows/deletion_vector.h"

namespace glaive::dataset {
namespace {

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

arrow::Result<std::vector<wire::DataFile>> FilesOf(const wire::DataFragment& fragment,
                                                   const std::string& manifest_path) {
  std::vector<wire::DataFile> files = fragment.files;
  for (const std::string& overlay : fragment.overlays) {
    ARROW_ASSIGN_OR_RAISE(files.emplace_back(), table::OverlayFile(overlay, {manifest_path}));
  }
  return files;
}

arrow::Status FileReferences::AddFile(const table::TableLocation& table,
                                      const table::Manifest& manifest, table::FileKind kind,
                                      const std::string& name, std::optional<uint32_t> base_id,
                                      const std::string& version) {
  if (is_by_name()) {
    files_.try_emplace((kind == table::FileKind::kData ? "data/" : "_deletions/") + name, version);
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const auto place, table::PlaceOf(table, manifest, kind, name, base_id));
  if (place.store == store_) files_.try_emplace(place.path, version);
  return arrow::Status::OK();
}

arrow::Status FileReferences::Add(const table::TableLocation& table,
                                  const table::Manifest& manifest, const std::string& version) {
  if (!manifest.transaction_file.empty() && table.store == store_) {
    files_.try_emplace(table::TransactionPath(table, manifest), version);
  }
  ARROW_RETURN_NOT_OK(AddIndices(table, manifest));
  // The same record means the same files where the number of a base means the same place.
  std::string meaning;
  if (!is_by_name()) {
    meaning = table.root;
    for (const table::BasePath& base : manifest.base_paths) {
      meaning += fmt::format("\n{} {} {}", base.id, base.is_dataset_root, base.path);
    }
    meaning += '\0';
  }
  return manifest.fragments.Visit([&](const table::Fragment& fragment) -> arrow::Status {
    std::string record = meaning;
    record += TextOf(fragment.message());
    if (!seen_.insert(std::move(record)).second) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const wire::DataFragment parsed, fragment.Parse());
    return AddFragment(table, manifest, parsed, version);
  });
}

arrow::Status FileReferences::AddFragment(const table::TableLocation& table,
                                          const table::Manifest& manifest,
                                          const wire::DataFragment& fragment,
                                          const std::string& version) {
  ARROW_ASSIGN_OR_RAISE(const auto files, FilesOf(fragment, manifest.path));
  for (const wire::DataFile& file : files) {
    ARROW_RETURN_NOT_OK(
        AddFile(table, manifest, table::FileKind::kData, file.path, file.base_id, version));
  }
  if (!fragment.deletion_file) return arrow::Status::OK();
  const std::string path = table::DeletionFilePath(fragment.id, *fragment.deletion_file);
  return AddFile(table, manifest, table::FileKind::kDeletion, path.substr(path.find('/') + 1),
                 fragment.deletion_file->base_id, version);
}

arrow::Status FileReferences::AddIndices(const table::TableLocation& table,
                                         const table::Manifest& manifest) {
  ARROW_ASSIGN_OR_RAISE(const auto indices,
                        table::IndexFolders(manifest.index_section, {manifest.path}));
  for (const table::IndexFolder& index : indices) {
    if (is_by_name()) {
      folders_.insert("_indices/" + index.name);
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(const auto place, table::PlaceOf(table, manifest, table::FileKind::kIndex,
                                                           index.name, index.base_id));
    if (place.store == store_) folders_.insert(place.path);
  }
  return arrow::Status::OK();
}

void FileReferences::Merge(const FileReferences& other) {
  files_.insert(other.files_.begin(), other.files_.end());
  folders_.insert(other.folders_.begin(), other.folders_.end());
}

bool FileReferences::ContainsAnyOf(const std::unordered_set<std::string>& files) const {
  return std::ranges::any_of(files_,
                             [&](const auto& file) { return files.contains(file.first); }) ||
         std::ranges::any_of(folders_, [&](const auto& folder) { return files.contains(folder); });
}

arrow::Result<std::vector<table::VersionEntry>> ListDetached(const table::TableLocation& table) {
  return table::ListDetachedVersions(table);
}

arrow::Result<bool> HasAllFiles(const table::TableLocation& table,
                                const table::Manifest& manifest) {
  FileReferences references(table.store);
  ARROW_RETURN_NOT_OK(references.Add(table, manifest, ""));
  const std::string transactions = table.Path("_transactions/");
  for (const auto& file : references.files()) {
    if (file.first.starts_with(transactions)) continue;
    ARROW_ASSIGN_OR_RAISE(const auto there, table.store->Head(file.first));
    if (!there) return false;
  }
  return true;
}

}  // namespace glaive::dataset
