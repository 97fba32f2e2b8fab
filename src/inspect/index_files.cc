#include "inspect/index_files.h"

#include <optional>
#include <utility>

#include "table/manifest/index_files.h"
#include "wire/fields.h"
#include "wire/index.h"

namespace glaive::inspect {
namespace {

constexpr uint64_t kIndices = wire::Bytes(1);  // IndexSection.indices
constexpr uint64_t kBaseId = wire::Varint(9);  // IndexMetadata.base_id

arrow::Result<bool> LiesElsewhere(const wire::FieldView& entry) {
  bool elsewhere = false;
  ARROW_RETURN_NOT_OK(wire::VisitFields(entry.payload, entry.where, "IndexMetadata",
                                        [&](const wire::FieldView& field) {
                                          elsewhere = elsewhere || field.key() == kBaseId;
                                          return arrow::Status::OK();
                                        }));
  return elsewhere;
}

}  // namespace

arrow::Result<std::vector<StoredIndex>> IndicesWithoutFiles(const table::TableLocation& table,
                                                            const table::Manifest& manifest) {
  std::vector<StoredIndex> missing;
  ARROW_RETURN_NOT_OK(wire::VisitFields(
      wire::AsBytes(manifest.index_section), {manifest.path}, "IndexSection",
      [&](const wire::FieldView& field) -> arrow::Status {
        if (field.key() != kIndices) return arrow::Status::OK();
        ARROW_ASSIGN_OR_RAISE(const IndexMetadata entry,
                              wire::ParseIndex(field.payload, field.where));
        ARROW_ASSIGN_OR_RAISE(const bool elsewhere, LiesElsewhere(field));
        if (entry.fields.empty() || elsewhere) return arrow::Status::OK();
        StoredIndex index = {.entry = entry, .folder = table.Path("_indices/" + entry.uuid)};
        ARROW_ASSIGN_OR_RAISE(const auto files, table.store->ListRecursive(index.folder));
        if (files.empty()) missing.push_back(std::move(index));
        return arrow::Status::OK();
      }));
  return missing;
}

}  // namespace glaive::inspect
