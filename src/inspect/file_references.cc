#include "inspect/file_references.h"

#include <utility>

#include "table/deletion_vector.h"
#include "table/index_files.h"
#include "table/publish.h"

namespace glaive::inspect {
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

void FileReferences::AddFile(const table::FilePlace& place, const std::string& version) {
  if (place.store == store_) files_.try_emplace(place.path, version);
}

arrow::Status FileReferences::Add(const table::TableLocation& table,
                                  const table::Manifest& manifest, const std::string& version) {
  if (!manifest.transaction_file.empty()) {
    AddFile({table.store, table::TransactionPath(table, manifest)}, version);
  }
  ARROW_RETURN_NOT_OK(AddIndices(table, manifest));
  return manifest.fragments.Visit([&](const table::Fragment& fragment) -> arrow::Status {
    // A base may be another one in another table of the same tree.
    std::string record = table.root;
    record += '\0';
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
    ARROW_ASSIGN_OR_RAISE(const auto place, table::PlaceOf(table, manifest, table::FileKind::kData,
                                                           file.path, file.base_id));
    AddFile(place, version);
  }
  if (!fragment.deletion_file) return arrow::Status::OK();
  const std::string path = table::DeletionFilePath(fragment.id, *fragment.deletion_file);
  ARROW_ASSIGN_OR_RAISE(
      const auto place,
      table::PlaceOf(table, manifest, table::FileKind::kDeletion, path.substr(path.find('/') + 1),
                     fragment.deletion_file->base_id));
  AddFile(place, version);
  return arrow::Status::OK();
}

arrow::Status FileReferences::AddIndices(const table::TableLocation& table,
                                         const table::Manifest& manifest) {
  ARROW_ASSIGN_OR_RAISE(const auto indices,
                        table::IndexFolders(manifest.index_section, {manifest.path}));
  for (const table::IndexFolder& index : indices) {
    ARROW_ASSIGN_OR_RAISE(const auto place, table::PlaceOf(table, manifest, table::FileKind::kIndex,
                                                           index.name, index.base_id));
    if (place.store == store_) folders_.insert(place.path);
  }
  return arrow::Status::OK();
}

}  // namespace glaive::inspect
