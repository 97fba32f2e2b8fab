#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "dataset/added_fields.h"
#include "dataset/column_binding.h"
#include "dataset/column_file.h"
#include "dataset/dataset_state.h"
#include "dataset/edited_fragment.h"
#include "dataset/input_stream.h"
#include "dataset/schema_state.h"
#include "dataset/staged_state.h"
#include "dataset/write_session.h"
#include "glaive/staged_columns.h"

namespace glaive {
namespace {

using dataset::ColumnFile;
using dataset::ColumnFileWriter;
using State = StagedColumns::State;

// The fields of `schema` that the stream has values of.
arrow::Result<wire::Schema> FieldsOf(const wire::Schema& schema, const arrow::Schema& stream) {
  wire::Schema fields;
  for (const wire::Field& field : schema.fields) {
    if (stream.GetFieldIndex(field.name) >= 0) fields.fields.push_back(field);
  }
  for (const auto& column : stream.fields()) {
    if (std::ranges::count(fields.fields, column->name(), &wire::Field::name) > 0) continue;
    return InvalidInput("there are values of a column '{}', which is not one of the schema's",
                        column->name());
  }
  return fields;
}

// One call that stages columns of fragments of one version.
class Staging {
 public:
  Staging(const Dataset& dataset, const StageOptions& options)
      : dataset_(dataset),
        options_(options),
        snapshot_(dataset::SnapshotOf(dataset)),
        files_(snapshot_.location.store) {}

  arrow::Status Prepare() {
    for (const std::string& path : options_.reads) {
      ARROW_ASSIGN_OR_RAISE(const auto ids, dataset::FieldIdsAt(snapshot_.manifest->schema, path));
      read_fields_.insert(ids.begin(), ids.end());
    }
    return arrow::Status::OK();
  }

  arrow::Status Add(const FragmentColumns& columns) {
    ARROW_ASSIGN_OR_RAISE(const auto fragment, dataset::FragmentOf(dataset_, columns.fragment_id));
    ARROW_ASSIGN_OR_RAISE(State state, Describe(fragment));
    ARROW_ASSIGN_OR_RAISE(state.schema,
                          FieldsOf(columns.schema.state()->schema, *columns.stream->schema()));
    ARROW_RETURN_NOT_OK(dataset::CheckBinding(*snapshot_.manifest, state.schema));
    ARROW_RETURN_NOT_OK(Watch(fragment, &state));
    ARROW_ASSIGN_OR_RAISE(ColumnFile file, Write(fragment, state, *columns.stream));
    files_.Take(file.files);
    if (!file.file) return InvalidInput("it has no rows to write values of");
    state.file = *std::move(file.file);
    staged_.push_back(dataset::MakeStagedColumns(std::move(state)));
    return arrow::Status::OK();
  }

  // Everything is the caller's from here on.
  arrow::Result<std::vector<StagedColumns>> Finish() && {
    ARROW_RETURN_NOT_OK(dataset::HandOver(dataset_, files_, {.durability = options_.durability}));
    return std::move(staged_);
  }

 private:
  arrow::Result<State> Describe(const wire::DataFragment& fragment) const {
    const table::Manifest& manifest = *snapshot_.manifest;
    State state;
    state.uri = snapshot_.location.uri;
    state.snapshot = dataset::SnapshotIdentity(manifest);
    state.read_version = manifest.version;
    state.fragment_id = fragment.id;
    ARROW_ASSIGN_OR_RAISE(state.physical_rows, read::PhysicalRows(snapshot_, fragment));
    if (!fragment.files.empty()) {
      state.anchor = fragment.files.front().path;
      state.anchor_base_id = fragment.files.front().base_id;
    }
    state.deletion_file = fragment.deletion_file;
    state.max_field_id = manifest.MaxFieldId();
    state.read_fields = read_fields_;
    return state;
  }

  arrow::Status Watch(const wire::DataFragment& fragment, State* state) const {
    const Location where{snapshot_.manifest->path};
    std::set<int32_t> fields;
    wire::CollectFieldIds(state->schema.fields, &fields);
    ARROW_ASSIGN_OR_RAISE(state->replaced, dataset::WitnessesOf(fragment, fields, where));
    ARROW_ASSIGN_OR_RAISE(state->read, dataset::WitnessesOf(fragment, read_fields_, where));
    return arrow::Status::OK();
  }

  arrow::Result<ColumnFile> Write(const wire::DataFragment& fragment, const State& state,
                                  arrow::RecordBatchReader& stream) const {
    static const auto kNoneDeleted = std::make_shared<const table::DeletionVector>();
    table::DeletionVectorPtr deletions = kNoneDeleted;
    if (options_.live_rows_only) {
      ARROW_ASSIGN_OR_RAISE(deletions, read::Deletions(snapshot_, fragment, state.physical_rows));
    }
    ARROW_ASSIGN_OR_RAISE(
        ColumnFileWriter writer,
        ColumnFileWriter::Make(snapshot_, state.schema, std::move(deletions), state.physical_rows));
    while (true) {
      std::shared_ptr<arrow::RecordBatch> batch;
      ARROW_RETURN_NOT_OK(stream.ReadNext(&batch));
      if (batch == nullptr) break;
      ARROW_RETURN_NOT_OK(writer.WriteLive(batch));
      if (!options_.progress) continue;
      ARROW_RETURN_NOT_OK(
          options_.progress({.rows = writer.rows(), .total_rows = state.physical_rows}));
    }
    return std::move(writer).Finish();
  }

  const Dataset& dataset_;
  const StageOptions& options_;
  const read::Snapshot snapshot_;
  std::set<int32_t> read_fields_;
  dataset::NewFiles files_;
  std::vector<StagedColumns> staged_;
};

}  // namespace

arrow::Result<TableSchema> NewColumnSchema(const Dataset& dataset, const arrow::Schema& columns) {
  const table::Manifest& manifest = *dataset.state()->manifest;
  ARROW_ASSIGN_OR_RAISE(auto fields,
                        dataset::AddFields(manifest.schema, columns, manifest.MaxFieldId(),
                                           manifest.data_file_version));
  return dataset::MakeTableSchema(std::move(fields.written));
}

arrow::Result<TableSchema> ColumnSchema(const Dataset& dataset, const arrow::Schema& columns) {
  // Some of the columns may be given, whether they may be null or not.
  const wire::Schema& table = dataset.state()->manifest->schema;
  ARROW_ASSIGN_OR_RAISE(const wire::Schema given,
                        dataset::FieldsToAppend(dataset::AllNullable(table), columns));
  std::set<int32_t> ids;
  wire::CollectFieldIds(given.fields, &ids);
  wire::Schema fields;
  fields.fields = table.fields;
  std::erase_if(fields.fields, [&](const wire::Field& field) { return !ids.contains(field.id); });
  return dataset::MakeTableSchema(std::move(fields));
}

arrow::Result<std::vector<StagedColumns>> StageColumns(const Dataset& dataset,
                                                       std::span<const FragmentColumns> columns,
                                                       const StageOptions& options) {
  Staging staging(dataset, options);
  ARROW_RETURN_NOT_OK(staging.Prepare());
  for (const FragmentColumns& each : columns) {
    const arrow::Status added = staging.Add(each);
    if (!added.ok()) return WithContext(added, "columns of fragment {}", each.fragment_id);
  }
  return std::move(staging).Finish();
}

arrow::Result<StagedColumns> StageColumns(const Dataset& dataset, uint64_t fragment_id,
                                          std::shared_ptr<arrow::RecordBatchReader> stream,
                                          const TableSchema& schema, const StageOptions& options) {
  const FragmentColumns columns{fragment_id, std::move(stream), schema};
  ARROW_ASSIGN_OR_RAISE(auto staged, StageColumns(dataset, std::span(&columns, 1), options));
  return std::move(staged.front());
}

}  // namespace glaive
