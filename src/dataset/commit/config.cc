#include "glaive/config.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "dataset/commit/verb.h"
#include "dataset/handle/dataset_state.h"

namespace glaive {
namespace {

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
  return dataset::CommitVerb(dataset::PlaceOf(dataset), table::UpdateConfig{.config = edit},
                             options);
}

arrow::Result<Dataset> UpdateTableMetadata(const Dataset& dataset, const MetadataEdit& edit,
                                           const VersionOptions& options) {
  return dataset::CommitVerb(dataset::PlaceOf(dataset), table::UpdateConfig{.table_metadata = edit},
                             options);
}

arrow::Result<Dataset> UpdateSchemaMetadata(const Dataset& dataset, const MetadataEdit& edit,
                                            const VersionOptions& options) {
  return dataset::CommitVerb(dataset::PlaceOf(dataset),
                             table::UpdateConfig{.schema_metadata = edit}, options);
}

arrow::Result<Dataset> UpdateFieldMetadata(const Dataset& dataset,
                                           const std::map<std::string, MetadataEdit>& edits,
                                           const VersionOptions& options) {
  table::UpdateConfig update;
  for (const auto& [path, edit] : edits) {
    const wire::Field* const field = FindField(StateOf(dataset)->manifest->schema.fields, path);
    if (field == nullptr) return InvalidInput("Field '{}' does not exist in the dataset", path);
    update.field_metadata[field->id] = edit;
  }
  return dataset::CommitVerb(dataset::PlaceOf(dataset), std::move(update), options);
}

std::vector<DatasetBasePath> BasePaths(const Dataset& dataset) {
  return StateOf(dataset)->manifest->base_paths;
}

arrow::Result<Dataset> AddBases(const Dataset& dataset, std::span<const DatasetBasePath> bases,
                                const VersionOptions& options) {
  return dataset::CommitVerb(dataset::PlaceOf(dataset),
                             table::UpdateBases{.new_bases = {bases.begin(), bases.end()}},
                             options);
}

}  // namespace glaive
