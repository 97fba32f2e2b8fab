#include "glaive/columns.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>

#include "core/error.h"
#include "dataset/columns/new_columns.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/staging/target.h"
#include "wire/schema.h"

namespace glaive {
namespace {

// Removes what the dotted path names, and a struct that loses its last field with it; false where
// there is nothing of that name.
bool Drop(std::string_view path, std::vector<wire::Field>* fields) {
  const auto named = std::ranges::find(*fields, path, &wire::Field::name);
  if (named != fields->end()) {
    fields->erase(named);
    return true;
  }
  const size_t dot = path.find('.');
  if (dot == std::string_view::npos) return false;
  const auto parent = std::ranges::find(*fields, path.substr(0, dot), &wire::Field::name);
  if (parent == fields->end() || !Drop(path.substr(dot + 1), &parent->children)) return false;
  if (parent->children.empty()) fields->erase(parent);
  return true;
}

// On the version that was read: the new columns have values for all its rows, and what was
// committed meanwhile is left to the rules of a merge.
arrow::Result<table::Change> Addition(const Dataset& dataset, const dataset::AddedColumns& added) {
  const dataset::DatasetState& state = *StateOf(dataset);
  if (added.staged.empty()) {
    table::Merge merge{.schema = table::WrapSchema(added.fields.table),
                       .preserves_nullability = !added.fields.any_required};
    return table::Change(std::move(merge), {.others = state.manifest->fragments});
  }
  std::vector<dataset::ColumnWrite> writes;
  for (const StagedColumns& staged : added.staged)
    writes.push_back({StateOf(staged).get(), {}, {}});
  dataset::RowMoves moves(state.location, {});
  return dataset::MakeColumnCommit(writes, {}, *state.manifest, moves);
}

arrow::Result<Dataset> CommitAdded(const Dataset& dataset, dataset::AddedColumns added,
                                   const VersionOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto addition, Addition(dataset, added));
  return dataset::CommitColumnChange(dataset, std::move(addition), options, std::move(added.files),
                                     added.kept_files);
}

}  // namespace

arrow::Result<Dataset> AddColumns(const Dataset& dataset, const NewColumns& columns,
                                  const VersionOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto fragments, dataset::AllFragments(dataset));
  ARROW_ASSIGN_OR_RAISE(auto added,
                        dataset::AddToFragments(dataset, std::move(fragments), columns, options));
  return CommitAdded(dataset, std::move(added), options);
}

arrow::Result<Dataset> MergeColumns(const Dataset& dataset,
                                    std::shared_ptr<arrow::RecordBatchReader> stream,
                                    std::string_view left_on, std::string_view right_on,
                                    const VersionOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto fragments, dataset::AllFragments(dataset));
  ARROW_ASSIGN_OR_RAISE(auto added, dataset::JoinToFragments(dataset, std::move(fragments), *stream,
                                                             left_on, right_on, options));
  return CommitAdded(dataset, std::move(added), options);
}

arrow::Result<Dataset> DropColumns(const Dataset& dataset, std::span<const std::string> columns,
                                   const VersionOptions& options) {
  const wire::Schema& schema = StateOf(dataset)->manifest->schema;
  wire::Schema left = schema;
  for (const std::string& column : columns) {
    auto before = schema.fields;
    if (!Drop(column, &before)) {
      return InvalidInput("Column {} does not exist in the dataset", column);
    }
    // What went with another one is not there any more.
    static_cast<void>(Drop(column, &left.fields));
  }
  if (left.fields.empty()) {
    return InvalidInput("Cannot drop all columns from a dataset");
  }
  table::Project project{.schema = table::WrapSchema(std::move(left)),
                         .preserves_nullability = true};
  return dataset::CommitColumnChange(dataset, std::move(project), options,
                                     dataset::NewFiles(StateOf(dataset)->location.store));
}

}  // namespace glaive
