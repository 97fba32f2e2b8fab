#include "inspect/file_references.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "table/deletion_vector.h"
#include "wire/fields.h"
#include "wire/index.h"

namespace glaive::inspect {
namespace {

constexpr uint64_t kOverlayDataFile = wire::Bytes(1);  // DataOverlayFile.data_file
constexpr uint64_t kIndices = wire::Bytes(1);          // IndexSection.indices
constexpr uint64_t kIndexBase = wire::Varint(9);       // IndexMetadata.base_id

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string FormatUuid(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xf];
  }
  return text;
}

arrow::Result<FilePlace> PlaceOf(const table::TableLocation& table, const table::Manifest& manifest,
                                 std::optional<uint32_t> base_id, const std::string& relative) {
  if (!base_id) return FilePlace{table.store, table.Path(relative)};
  const auto base = std::ranges::find(manifest.base_paths, *base_id, &table::BasePath::id);
  if (base == manifest.base_paths.end()) {
    return Corrupt({manifest.path}, "{} lies in base {}, which is not listed", relative, *base_id);
  }
  ARROW_ASSIGN_OR_RAISE(auto place, io::Resolve(base->path));
  const size_t begin = base->is_dataset_root ? 0 : relative.find('/') + 1;
  return FilePlace{std::move(place.store), place.path + "/" + relative.substr(begin)};
}

arrow::Result<std::vector<wire::DataFile>> FilesOf(const wire::DataFragment& fragment,
                                                   const std::string& manifest_path) {
  std::vector<wire::DataFile> files = fragment.files;
  for (const std::string& overlay : fragment.overlays) {
    ARROW_RETURN_NOT_OK(
        wire::VisitFields(wire::AsBytes(overlay), {manifest_path}, "DataOverlayFile",
                          [&](const wire::FieldView& field) -> arrow::Status {
                            if (field.key() != kOverlayDataFile) return arrow::Status::OK();
                            ARROW_ASSIGN_OR_RAISE(files.emplace_back(),
                                                  wire::ParseDataFile(field.payload, field.where));
                            return arrow::Status::OK();
                          }));
  }
  return files;
}

void FileReferences::AddFile(const FilePlace& place, const std::string& version) {
  if (place.store == store_) files_.try_emplace(place.path, version);
}

arrow::Status FileReferences::Add(const table::TableLocation& table,
                                  const table::Manifest& manifest, const std::string& version) {
  if (!manifest.transaction_file.empty()) {
    AddFile({table.store, table.Path("_transactions/" + manifest.transaction_file)}, version);
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
    ARROW_ASSIGN_OR_RAISE(const FilePlace place,
                          PlaceOf(table, manifest, file.base_id, "data/" + file.path));
    AddFile(place, version);
  }
  if (!fragment.deletion_file) return arrow::Status::OK();
  const wire::DeletionFile& deletions = *fragment.deletion_file;
  ARROW_ASSIGN_OR_RAISE(
      const FilePlace place,
      PlaceOf(table, manifest, deletions.base_id, table::DeletionFilePath(fragment.id, deletions)));
  AddFile(place, version);
  return arrow::Status::OK();
}

arrow::Status FileReferences::AddIndices(const table::TableLocation& table,
                                         const table::Manifest& manifest) {
  return wire::VisitFields(
      wire::AsBytes(manifest.index_section), {manifest.path}, "IndexSection",
      [&](const wire::FieldView& field) -> arrow::Status {
        if (field.key() != kIndices) return arrow::Status::OK();
        ARROW_ASSIGN_OR_RAISE(const wire::IndexEntry entry,
                              wire::ParseIndexEntry(field.payload, field.where));
        std::optional<uint32_t> base_id;
        ARROW_RETURN_NOT_OK(wire::VisitFields(field.payload, field.where, "IndexMetadata",
                                              [&](const wire::FieldView& part) {
                                                if (part.key() == kIndexBase)
                                                  base_id = part.uint32();
                                                return arrow::Status::OK();
                                              }));
        ARROW_ASSIGN_OR_RAISE(const FilePlace place, PlaceOf(table, manifest, base_id,
                                                             "_indices/" + FormatUuid(entry.uuid)));
        if (place.store == store_) folders_.insert(place.path);
        return arrow::Status::OK();
      });
}

}  // namespace glaive::inspect
