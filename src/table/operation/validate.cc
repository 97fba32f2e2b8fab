#include "table/operation/validate.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "table/operation/validate_schema.h"
#include "wire/file_version.h"

namespace glaive::table {
namespace {

using wire::DataFile;
using wire::DataFragment;

using ColumnRule = std::map<int32_t, bool>;  // field id -> whether it is a column of its own

void CollectColumns(const std::vector<wire::Field>& fields, bool inside_column, ColumnRule* rule) {
  for (const wire::Field& field : fields) {
    const bool is_column = !inside_column && wire::IsSingleColumn(field);
    if (!inside_column) rule->emplace(field.id, is_column);
    CollectColumns(field.children, inside_column || is_column, rule);
  }
}

// Columns in which every row has a value: those that are not there would read as nulls.
void CollectRequired(const std::vector<wire::Field>& fields,
                     std::vector<const wire::Field*>* required) {
  for (const wire::Field& field : fields) {
    if (field.nullable) continue;
    if (wire::IsSingleColumn(field)) {
      required->push_back(&field);
    } else if (field.logical_type == "struct") {
      CollectRequired(field.children, required);
    }
  }
}

arrow::Status CheckHoldsRequired(const DataFragment& fragment,
                                 const std::vector<const wire::Field*>& required) {
  for (const wire::Field* field : required) {
    const bool held = std::ranges::any_of(fragment.files, [&](const DataFile& file) {
      return std::ranges::count(file.fields, field->id) > 0;
    });
    if (held) continue;
    return InvalidInput(
        "a fragment of {} rows has no values of the required column '{}' (field {})",
        fragment.physical_rows, field->name, field->id);
  }
  return arrow::Status::OK();
}

// From 2.1 on a file has a column for each leaf; a field that is only what others make up has none.
// What the schema does not know is a dropped column's, of which nothing is asked.
arrow::Status CheckColumns(const DataFile& file, const ColumnRule& rule) {
  const bool leaves_only =
      file.file_major_version > 2 || (file.file_major_version == 2 && file.file_minor_version >= 1);
  if (!leaves_only) return arrow::Status::OK();
  for (size_t i = 0; i < file.fields.size() && i < file.column_indices.size(); ++i) {
    const auto found = rule.find(file.fields[i]);
    if (found == rule.end() || found->second == (file.column_indices[i] >= 0)) continue;
    return InvalidInput("data file {} has column {} for field {}, which is {} column of its own",
                        file.path, file.column_indices[i], file.fields[i],
                        found->second ? "a" : "no");
  }
  return arrow::Status::OK();
}

arrow::Status CheckFragment(const DataFragment& fragment, const ColumnRule& rule,
                            FileVersion table_version) {
  std::set<int32_t> live;
  for (const DataFile& file : fragment.files) {
    if (!wire::FileVersionOf(file.file_major_version, file.file_minor_version)) {
      return InvalidInput("data file {} is of version {}.{}, which is unknown", file.path,
                          file.file_major_version, file.file_minor_version);
    }
    const bool first_format = file.file_major_version < 2;
    if (first_format != (table_version == FileVersion::k0_1) &&
        !(file.file_major_version == 0 && file.file_minor_version == 3)) {
      return InvalidInput(
          "data file {} is of version {}.{}, which cannot be mixed with the table's", file.path,
          file.file_major_version, file.file_minor_version);
    }
    ARROW_RETURN_NOT_OK(CheckColumns(file, rule));
    for (const int32_t id : file.fields) {
      if (id < 0 || live.insert(id).second || !rule.contains(id)) continue;
      return InvalidInput("two data files of a fragment hold field {}; one of them is {}", id,
                          file.path);
    }
  }
  return arrow::Status::OK();
}

// The fragments that an operation brings, in whole.
std::vector<const std::vector<FragmentMetadata>*> BroughtFragments(const Operation& operation) {
  std::vector<const std::vector<FragmentMetadata>*> brought;
  std::visit(
      Match{[&](const Append& append) { brought = {&append.fragments}; },
            [&](const Overwrite& overwrite) { brought = {&overwrite.fragments}; },
            [&](const Rewrite& rewrite) {
              for (const Rewrite::Group& group : rewrite.groups) {
                brought.push_back(&group.new_fragments);
              }
            },
            [&](const Merge& merge) { brought = {&merge.fragments}; },
            [&](const Update& update) {
              brought = {&update.updated_fragments, &update.new_fragments};
            },
            [](const Delete&) {}, [](const CreateIndex&) {}, [](const Restore&) {},
            [](const ReserveFragments&) {}, [](const Project&) {}, [](const UpdateConfig&) {},
            [](const DataReplacement&) {}, [](const DataOverlay&) {},
            [](const UpdateMemWalState&) {}, [](const Clone&) {}, [](const UpdateBases&) {}},
      operation);
  return brought;
}

// Rows that were changed can be told only of fragments that were.
arrow::Status CheckOffsets(const Update& update) {
  if (update.mode != Update::Mode::kRewriteColumns) return arrow::Status::OK();
  for (const auto& [id, offsets] : update.updated_fragment_offsets) {
    if (std::ranges::count(update.updated_fragments, id, &FragmentMetadata::id) > 0) continue;
    return InvalidInput(
        "an update tells which rows of fragment {} it changed, but does not bring "
        "that fragment",
        id);
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Status Validate(const Manifest& previous, const Operation& operation, const Manifest& next) {
  ColumnRule rule;
  std::vector<const wire::Field*> required;
  CollectColumns(next.schema.fields, false, &rule);
  CollectRequired(next.schema.fields, &required);
  for (const auto* fragments : BroughtFragments(operation)) {
    for (const DataFragment& fragment : *fragments | Entries) {
      ARROW_RETURN_NOT_OK(CheckHoldsRequired(fragment, required));
      ARROW_RETURN_NOT_OK(CheckFragment(fragment, rule, next.data_file_version));
    }
  }
  if (const uint64_t without = next.fragments.totals().without_row_ids;
      next.has_stable_row_ids() && without > 0) {
    return InvalidInput("{} fragments would have no row ids, on a table with stable ones", without);
  }
  if (const auto* replacement = std::get_if<DataReplacement>(&operation)) {
    for (const auto& each : replacement->replacements) {
      ARROW_RETURN_NOT_OK(CheckColumns(each.new_file, rule));
    }
  }
  if (const auto* update = std::get_if<Update>(&operation)) return CheckOffsets(*update);
  if (const auto* project = std::get_if<Project>(&operation)) {
    return ValidateProject(previous.schema, StateOf(project->schema)->schema);
  }
  if (const auto* merge = std::get_if<Merge>(&operation)) return ValidateMerge(previous, *merge);
  if (const auto* overwrite = std::get_if<Overwrite>(&operation)) {
    return ValidateFields(StateOf(overwrite->schema)->schema);
  }
  return arrow::Status::OK();
}

}  // namespace glaive::table
