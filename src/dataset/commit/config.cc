#include "glaive/config.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "dataset/commit/verb.h"
#include "dataset/handle/base_list.h"
#include "dataset/handle/dataset_state.h"

namespace glaive {
namespace {

table::UpdateMap ToUpdate(const MetadataEdit& edit) {
  return {.entries = edit.entries, .replace = edit.replace};
}

const wire::Field* FindField(const std::vector<wire::Field>& fields, std::string_view path) {
  const auto named = std::ranges::find(fields, path, &wire::Field::name);
  if (named != fields.end()) return &*named;
  const size_t dot = path.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const auto parent = std::ranges::find(fields, path.substr(0, dot), &wire::Field::name);
  return parent == fields.end() ? nullptr : FindField(parent->children, path.substr(dot + 1));
}

}  // namespace

arrow::Result<Dataset> UpdateConfig(const Dataset& dataset, const MetadataEdit& edit,
                                    const VersionOptions& options) {
  return dataset::CommitVerb(dataset::PlaceOf(dataset),
                             table::UpdateConfig{.config = ToUpdate(edit)}, options);
}

arrow::Result<Dataset> UpdateTableMetadata(const Dataset& dataset, const MetadataEdit& edit,
                                           const VersionOptions& options) {
  return dataset::CommitVerb(dataset::PlaceOf(dataset),
                             table::UpdateConfig{.table_metadata = ToUpdate(edit)}, options);
}

arrow::Result<Dataset> UpdateSchemaMetadata(const Dataset& dataset, const MetadataEdit& edit,
                                            const VersionOptions& options) {
  return dataset::CommitVerb(dataset::PlaceOf(dataset),
                             table::UpdateConfig{.schema_metadata = ToUpdate(edit)}, options);
}

arrow::Result<Dataset> UpdateFieldMetadata(const Dataset& dataset,
                                           const std::map<std::string, MetadataEdit>& edits,
                                           const VersionOptions& options) {
  table::UpdateConfig update;
  for (const auto& [path, edit] : edits) {
    const wire::Field* const field = FindField(StateOf(dataset)->manifest->schema.fields, path);
    if (field == nullptr) return InvalidInput("Field '{}' does not exist in the dataset", path);
    update.field_metadata[field->id] = ToUpdate(edit);
  }
  return dataset::CommitVerb(dataset::PlaceOf(dataset), std::move(update), options);
}

std::vector<DatasetBasePath> BasePaths(const Dataset& dataset) {
  std::vector<DatasetBasePath> bases;
  for (const table::BasePath& base : StateOf(dataset)->manifest->base_paths) {
    bases.push_back({base.id, base.name, base.is_dataset_root, base.path});
  }
  return bases;
}

arrow::Result<Dataset> AddBases(const Dataset& dataset, std::span<const DatasetBasePath> bases,
                                const VersionOptions& options) {
  return dataset::CommitVerb(dataset::PlaceOf(dataset),
                             table::UpdateBases{.new_bases = dataset::ToTableBases(bases)},
                             options);
}

}  // namespace glaive
