#include "table/manifest/index_files.h"

#include <utility>

#include "wire/fields.h"
#include "wire/index.h"

namespace glaive::table {

arrow::Result<std::vector<IndexFolder>> IndexFolders(const std::string& index_section,
                                                     Location where) {
  constexpr uint32_t kIndices = 1;
  std::vector<IndexFolder> folders;
  ARROW_RETURN_NOT_OK(wire::VisitFields(
      wire::AsBytes(index_section), where, "IndexSection",
      [&](const wire::FieldView& field) -> arrow::Status {
        if (field.key() != wire::Bytes(kIndices)) return arrow::Status::OK();
        ARROW_ASSIGN_OR_RAISE(const auto entry, wire::ParseIndex(field.payload, field.where));
        // Any other id would name no folder, or all of them.
        if (!wire::IsUuid(entry.uuid)) {
          return Corrupt(field.where, "index '{}' has the id '{}'", entry.name, entry.uuid);
        }
        folders.push_back({.name = entry.uuid, .base_id = entry.base_id});
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
