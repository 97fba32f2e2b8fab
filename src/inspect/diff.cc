#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <arrow/type.h>
#include <fmt/format.h>

#include "dataset/handle/dataset_state.h"
#include "dataset/refs/file_references.h"
#include "glaive/history.h"
#include "inspect/fragment_walk.h"
#include "table/manifest/fragment_metadata.h"
#include "table/rows/deletion_vector.h"
#include "wire/schema.h"

namespace glaive {
namespace {

// "point.x: float" by id, for all fields of a schema.
arrow::Status Describe(const std::vector<wire::Field>& fields, const std::string& prefix,
                       std::map<int32_t, std::string>* texts) {
  for (const wire::Field& field : fields) {
    ARROW_ASSIGN_OR_RAISE(const auto arrow_field, wire::ToArrow(field));
    (*texts)[field.id] =
        fmt::format("{}{}: {}{}", prefix, field.name, arrow_field->type()->ToString(),
                    field.nullable ? "" : " not null");
    ARROW_RETURN_NOT_OK(Describe(field.children, prefix + field.name + ".", texts));
  }
  return arrow::Status::OK();
}

arrow::Result<std::vector<FieldChange>> DiffFields(const wire::Schema& before,
                                                   const wire::Schema& after) {
  std::map<int32_t, std::string> old_texts;
  std::map<int32_t, std::string> new_texts;
  ARROW_RETURN_NOT_OK(Describe(before.fields, "", &old_texts));
  ARROW_RETURN_NOT_OK(Describe(after.fields, "", &new_texts));
  std::vector<FieldChange> changes;
  for (const auto& [id, text] : old_texts) {
    const auto found = new_texts.find(id);
    std::string now = found == new_texts.end() ? "" : found->second;
    if (now != text) changes.push_back({id, text, std::move(now)});
  }
  for (const auto& [id, text] : new_texts) {
    if (!old_texts.contains(id)) changes.push_back({id, "", text});
  }
  std::ranges::sort(changes, {}, &FieldChange::id);
  return changes;
}

std::vector<ValueChange> DiffMaps(const std::map<std::string, std::string>& before,
                                  const std::map<std::string, std::string>& after) {
  std::vector<ValueChange> changes;
  for (const auto& [key, value] : before) {
    const auto found = after.find(key);
    if (found == after.end()) {
      changes.push_back({key, value, std::nullopt});
    } else if (found->second != value) {
      changes.push_back({key, value, found->second});
    }
  }
  for (const auto& [key, value] : after) {
    if (!before.contains(key)) changes.push_back({key, std::nullopt, value});
  }
  std::ranges::sort(changes, {}, &ValueChange::key);
  return changes;
}

arrow::Status AddFiles(const wire::DataFragment* fragment, const std::string& manifest_path,
                       std::set<std::string>* files) {
  if (fragment == nullptr) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto data_files, dataset::FilesOf(*fragment, manifest_path));
  for (const wire::DataFile& file : data_files) files->insert("data/" + file.path);
  if (fragment->deletion_file) {
    files->insert(table::DeletionFilePath(fragment->id, *fragment->deletion_file));
  }
  return arrow::Status::OK();
}

std::optional<FragmentMetadata> Metadata(const wire::DataFragment* fragment) {
  if (fragment == nullptr) return std::nullopt;
  return table::MakeFragmentMetadata(*fragment);
}

}  // namespace

arrow::Result<TableDiff> Diff(const Dataset& before, const Dataset& after) {
  const table::Manifest& old_manifest = *StateOf(before)->manifest;
  const table::Manifest& new_manifest = *StateOf(after)->manifest;
  TableDiff diff;
  ARROW_ASSIGN_OR_RAISE(diff.rows_before, before.CountRows());
  ARROW_ASSIGN_OR_RAISE(diff.rows_after, after.CountRows());
  ARROW_ASSIGN_OR_RAISE(diff.fields, DiffFields(old_manifest.schema, new_manifest.schema));
  std::set<std::string> old_files;
  std::set<std::string> new_files;
  uint64_t in_both = 0;
  ARROW_RETURN_NOT_OK(inspect::WalkBoth(
      old_manifest.fragments, new_manifest.fragments,
      [&](const wire::DataFragment* old, const wire::DataFragment* fresh) -> arrow::Status {
        diff.fragments.push_back(
            {(old != nullptr ? old : fresh)->id, Metadata(old), Metadata(fresh)});
        in_both += old != nullptr && fresh != nullptr ? 1 : 0;
        ARROW_RETURN_NOT_OK(AddFiles(old, old_manifest.path, &old_files));
        return AddFiles(fresh, new_manifest.path, &new_files);
      }));
  const auto added = std::ranges::count_if(
      diff.fragments, [](const FragmentChange& change) { return !change.before; });
  diff.fragments_kept =
      new_manifest.fragments.totals().num_fragments - static_cast<uint64_t>(added) - in_both;
  std::ranges::set_difference(new_files, old_files, std::back_inserter(diff.files_added));
  std::ranges::set_difference(old_files, new_files, std::back_inserter(diff.files_removed));
  diff.config = DiffMaps(old_manifest.config, new_manifest.config);
  diff.table_metadata = DiffMaps(old_manifest.table_metadata, new_manifest.table_metadata);
  diff.schema_metadata = DiffMaps(old_manifest.schema.metadata, new_manifest.schema.metadata);
  return diff;
}

}  // namespace glaive
