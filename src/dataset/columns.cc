#include "glaive/columns.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "dataset/dataset_state.h"
#include "dataset/fragment_writer.h"
#include "dataset/write_session.h"
#include "query/computed_value.h"
#include "query/filter.h"
#include "read/fragment_reader.h"
#include "read/projection.h"
#include "wire/schema.h"

namespace glaive {
namespace {

using dataset::FragmentWriter;
using query::ComputedValue;

constexpr uint64_t kRowsAtATime = 8192;

// The columns to add, bound to the version that they are computed from.
struct Computation {
  std::vector<std::shared_ptr<const ComputedValue>> values;
  std::shared_ptr<arrow::Schema> schema;  // of the new columns
  wire::Schema fields;                    // the same, with ids
  std::shared_ptr<const read::Projection> inputs;
};

arrow::Result<Computation> Bind(const Dataset& dataset, std::span<const ComputedColumn> columns) {
  ARROW_RETURN_NOT_OK(query::InitCompute());
  const arrow::Schema& schema = *dataset.schema();
  Computation computation;
  std::vector<std::string> inputs;
  arrow::FieldVector fields;
  for (const ComputedColumn& column : columns) {
    const auto is_taken = [&](const auto& field) { return field->name() == column.name; };
    if (std::ranges::any_of(schema.fields(), is_taken) || std::ranges::any_of(fields, is_taken)) {
      return InvalidInput("Column {} already exists in the dataset", column.name);
    }
    ARROW_ASSIGN_OR_RAISE(auto value, ComputedValue::FromSql(column.sql, schema));
    for (const std::string& input : value->columns()) {
      if (std::ranges::count(inputs, input) == 0) inputs.push_back(input);
    }
    fields.push_back(arrow::field(column.name, value->type()));
    computation.values.push_back(std::move(value));
  }
  // Without any input, an expression still has a value for each row.
  if (inputs.empty()) inputs.emplace_back("_rowaddr");
  computation.schema = arrow::schema(fields);
  const auto& state = *dataset.state();
  ARROW_ASSIGN_OR_RAISE(computation.fields,
                        wire::FromArrow(*computation.schema, dataset.max_field_id() + 1));
  ARROW_ASSIGN_OR_RAISE(computation.inputs, read::Projection::Make(state.manifest->schema,
                                                                   {.columns = std::move(inputs)}));
  return computation;
}

// Values for all physical rows of a fragment, in one new file.
arrow::Result<dataset::WrittenFragments> Compute(const Dataset& dataset,
                                                 const wire::DataFragment& fragment,
                                                 const Computation& computation,
                                                 const ColumnOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto rows, read::FragmentReader::Open(dataset::SnapshotOf(dataset),
                                                                    fragment, computation.inputs));
  constexpr uint64_t kNoLimit = std::numeric_limits<int64_t>::max();
  ARROW_ASSIGN_OR_RAISE(
      FragmentWriter writer,
      FragmentWriter::Make(
          dataset.state()->location, computation.fields,
          {.limits = {.max_rows_per_file = kNoLimit, .max_bytes_per_file = kNoLimit},
           .version = dataset.state()->manifest->data_file_version,
           .total_rows = rows->physical_rows(),
           .progress = options.progress}));
  for (uint64_t begin = 0; begin < rows->physical_rows(); begin += kRowsAtATime) {
    const RowRange range = {begin, std::min(begin + kRowsAtATime, rows->physical_rows())};
    ARROW_ASSIGN_OR_RAISE(const auto batch, rows->Read({&range, 1}));
    arrow::ArrayVector columns;
    for (const auto& value : computation.values) {
      ARROW_ASSIGN_OR_RAISE(columns.emplace_back(), value->Evaluate(*batch));
    }
    ARROW_RETURN_NOT_OK(writer.Write(
        *arrow::RecordBatch::Make(computation.schema, batch->num_rows(), std::move(columns))));
  }
  return std::move(writer).Finish();
}

arrow::Result<Dataset> CommitChange(const Dataset& dataset, table::Operation operation,
                                    const ColumnOptions& options, dataset::NewFiles* files) {
  table::CommitOptions commit;
  ARROW_ASSIGN_OR_RAISE(commit.durability, dataset::Resolve(options.durability));
  commit.transaction_properties = options.transaction_properties;
  if (files != nullptr) commit.files_to_sync = files->paths();
  if (options.progress) commit.poll = [&] { return options.progress({}); };
  const auto& state = *dataset.state();
  auto manifest = table::Commit(state.location, state.manifest, std::move(operation), commit);
  // Unless it is certain that no version refers to the files, they stay.
  if (files != nullptr &&
      (manifest.ok() || KindOf(manifest.status()) == ErrorKind::kCommitUnknown)) {
    files->Keep();
  }
  ARROW_RETURN_NOT_OK(manifest.status());
  return dataset::MakeDataset(state.location, *std::move(manifest), state.session);
}

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

}  // namespace

arrow::Result<Dataset> AddColumns(const Dataset& dataset, std::span<const ComputedColumn> columns,
                                  const ColumnOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const Computation computation, Bind(dataset, columns));
  const auto& state = *dataset.state();
  table::Merge merge{
      .fragments = {}, .schema = state.manifest->schema, .preserves_nullability = true};
  for (const wire::Field& field : computation.fields.fields) merge.schema.fields.push_back(field);
  dataset::NewFiles files(state.location.store);
  ARROW_RETURN_NOT_OK(state.manifest->fragments.Visit([&](const table::Fragment& view) {
    ARROW_ASSIGN_OR_RAISE(wire::DataFragment fragment, view.Parse());
    ARROW_ASSIGN_OR_RAISE(auto written, Compute(dataset, fragment, computation, options));
    for (const std::string& path : written.files.paths()) files.Add(path);
    written.files.Keep();
    for (const wire::DataFragment& part : written.fragments) {
      fragment.files.insert(fragment.files.end(), part.files.begin(), part.files.end());
    }
    merge.fragments.push_back(std::move(fragment));
    return arrow::Status::OK();
  }));
  return CommitChange(dataset, std::move(merge), options, &files);
}

arrow::Result<Dataset> DropColumns(const Dataset& dataset, std::span<const std::string> columns,
                                   const ColumnOptions& options) {
  table::Project project{.schema = dataset.state()->manifest->schema,
                         .preserves_nullability = true};
  for (const std::string& column : columns) {
    if (!Drop(column, &project.schema.fields)) {
      return InvalidInput("Column {} does not exist in the dataset", column);
    }
  }
  if (project.schema.fields.empty()) return InvalidInput("dropping all columns of a dataset");
  return CommitChange(dataset, std::move(project), options, nullptr);
}

}  // namespace glaive
