#include "table/manifest/index_files.h"

#include <utility>

#include "wire/fields.h"
#include "wire/index.h"

namespace glaive::table {

std::string UuidText(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

arrow::Result<std::vector<IndexFolder>> IndexFolders(const std::string& index_section,
                                                     Location where) {
  constexpr uint32_t kIndices = 1;
  constexpr uint32_t kBaseId = 9;
  constexpr size_t kUuidBytes = 16;  // any other number would name no folder, or all of them
  std::vector<IndexFolder> folders;
  ARROW_RETURN_NOT_OK(wire::VisitFields(
      wire::AsBytes(index_section), where, "IndexSection",
      [&](const wire::FieldView& field) -> arrow::Status {
        if (field.key() != wire::Bytes(kIndices)) return arrow::Status::OK();
        ARROW_ASSIGN_OR_RAISE(const auto entry, wire::ParseIndexEntry(field.payload, field.where));
        if (entry.uuid.size() != kUuidBytes) {
          return Corrupt(field.where, "index '{}' has an id of {} bytes", entry.name,
                         entry.uuid.size());
        }
        IndexFolder folder{.name = UuidText(entry.uuid), .base_id = std::nullopt};
        ARROW_RETURN_NOT_OK(wire::VisitFields(field.payload, field.where, "IndexMetadata",
                                              [&](const wire::FieldView& inner) {
                                                if (inner.key() == wire::Varint(kBaseId)) {
                                                  folder.base_id = inner.uint32();
                                                }
                                                return arrow::Status::OK();
                                              }));
        folders.push_back(std::move(folder));
        return arrow::Status::OK();
      }));
  return folders;
}

arrow::Result<wire::DataFile> OverlayFile(const std::string& overlay, Location where) {
  constexpr uint32_t kDataFile = 1;
  wire::DataFile file;
  ARROW_RETURN_NOT_OK(wire::VisitFields(
      wire::AsBytes(overlay), where, "DataOverlayFile",
      [&](const wire::FieldView& field) -> arrow::Status {
        if (field.key() != wire::Bytes(kDataFile)) return arrow::Status::OK();
        ARROW_ASSIGN_OR_RAISE(file, wire::ParseDataFile(field.payload, field.where));
        return arrow::Status::OK();
      }));
  return file;
}

}  // namespace glaive::table
