#include "dataset/merge/plan.h"

#include <algorithm>
#include <utility>

#include <arrow/type.h>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/storage_version.h"
#include "dataset/merge/inserted_keys.h"
#include "dataset/scan/plan.h"
#include "dataset/write/input_stream.h"

namespace glaive::dataset {
namespace {

bool EqualIgnoringCase(std::string_view left, std::string_view right) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(left, right, [&](char a, char b) { return lower(a) == lower(b); });
}

// Which rows may be null is asked of the rows that are written, not of the source's schema.
void AllowNulls(std::vector<wire::Field>& fields) {
  for (wire::Field& field : fields) {
    field.nullable = true;
    AllowNulls(field.children);
  }
}

// The part of the source that a merge looks at: without rows to be written, the key alone.
arrow::Result<wire::Schema> FieldsOf(const wire::Schema& table, const arrow::Schema& source,
                                     const std::vector<std::string>& on, bool writes_rows) {
  arrow::FieldVector given = source.fields();
  if (!writes_rows) {
    std::erase_if(given,
                  [&](const auto& field) { return std::ranges::count(on, field->name()) == 0; });
  }
  for (const std::string& name : on) {
    if (source.GetFieldByName(name) == nullptr) {
      return InvalidInput("Merge insert key column '{}' is not in the source, which has {}", name,
                          fmt::join(source.field_names(), ", "));
    }
  }
  wire::Schema nullable = table;
  AllowNulls(nullable.fields);
  return FieldsToAppend(nullable, arrow::Schema(std::move(given)));
}

// New rows get nulls for what the source lacks.
arrow::Status CheckCanInsert(const wire::Schema& table, const wire::Schema& source) {
  std::vector<std::string_view> missing;
  for (const wire::Field& field : table.fields) {
    const bool given = std::ranges::count(source.fields, field.name, &wire::Field::name) > 0;
    if (!given && !field.nullable) missing.push_back(field.name);
  }
  if (missing.empty()) return arrow::Status::OK();
  return InvalidInput(
      "Cannot insert rows with a partial-schema source: column(s) {} of the table are not nullable "
      "and not in the source",
      fmt::join(missing, ", "));
}

}  // namespace

arrow::Result<std::vector<std::string>> KeyColumns(const Dataset& dataset,
                                                   const std::vector<std::string>& on) {
  const std::vector<std::string> asked =
      on.empty() ? PrimaryKey(StateOf(dataset)->manifest->schema) : on;
  if (asked.empty()) {
    return InvalidInput(
        "A merge insert operation requires join keys: name `on` columns, or declare a primary key "
        "in the schema");
  }
  std::vector<std::string> names;
  for (const std::string& name : asked) {
    const auto& fields = dataset.schema()->fields();
    const auto spelt = [&](const auto& field) { return field->name() == name; };
    const auto alike = [&](const auto& field) { return EqualIgnoringCase(field->name(), name); };
    auto found = std::ranges::find_if(fields, spelt);
    if (found == fields.end()) found = std::ranges::find_if(fields, alike);
    if (found == fields.end()) {
      return InvalidInput("Merge insert key column '{}' does not exist in schema; it has {}", name,
                          fmt::join(dataset.schema()->field_names(), ", "));
    }
    if (std::ranges::count(names, (*found)->name()) > 0) {
      return InvalidInput("Merge insert key column '{}' is named twice", name);
    }
    names.push_back((*found)->name());
  }
  return names;
}

arrow::Result<MergePlan> MergePlan::Make(const Dataset& dataset, const arrow::Schema& source,
                                         const MergeInsertOptions& options) {
  ARROW_RETURN_NOT_OK(CheckMergeOptions(options));
  ARROW_RETURN_NOT_OK(query::InitCompute());
  const table::Manifest& manifest = *StateOf(dataset)->manifest;
  MergePlan plan;
  ARROW_ASSIGN_OR_RAISE(plan.on, KeyColumns(dataset, options.on));
  const bool updates = options.when_matched == WhenMatched::kUpdateAll;
  ARROW_ASSIGN_OR_RAISE(plan.fields, FieldsOf(manifest.schema, source, plan.on,
                                              updates || options.insert_not_matched));
  if (options.insert_not_matched) {
    ARROW_RETURN_NOT_OK(CheckCanInsert(manifest.schema, plan.fields));
  }
  if (updates && options.update_condition) {
    ARROW_ASSIGN_OR_RAISE(auto given, wire::ToArrow(plan.fields));
    ARROW_ASSIGN_OR_RAISE(plan.update_condition, MergeCondition::Bind(*options.update_condition,
                                                                      *given, *dataset.schema()));
  }
  if (options.delete_not_matched_by_source && options.delete_condition) {
    ARROW_RETURN_NOT_OK(BindFilter(dataset, *options.delete_condition).status());
  }
  plan.version = manifest.data_file_version;
  if (options.data_storage_version) {
    ARROW_ASSIGN_OR_RAISE(plan.version, WritableVersion(*options.data_storage_version));
  }
  return plan;
}

std::string DescribeMerge(const std::vector<std::string>& on, const MergeInsertOptions& options) {
  std::string matched;
  switch (options.when_matched) {
    case WhenMatched::kDoNothing: matched = "DoNothing"; break;
    case WhenMatched::kFail: matched = "Fail"; break;
    case WhenMatched::kDelete: matched = "Delete"; break;
    case WhenMatched::kUpdateAll:
      matched = options.update_condition ? fmt::format("UpdateIf({})", *options.update_condition)
                                         : "UpdateAll";
      break;
  }
  const char* by_source = "Keep";
  if (options.delete_not_matched_by_source) {
    by_source = options.delete_condition ? "DeleteIf" : "Delete";
  }
  return fmt::format(
      "MergeInsert: on=[{}], when_matched={}, when_not_matched={}, "
      "when_not_matched_by_source={}",
      fmt::join(on, ", "), matched, options.insert_not_matched ? "InsertAll" : "DoNothing",
      by_source);
}

}  // namespace glaive::dataset
