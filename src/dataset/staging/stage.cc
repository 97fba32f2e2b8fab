#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/byte_size.h>

#include "core/error.h"
#include "core/executor.h"
#include "core/memory_budget.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/durability.h"
#include "dataset/handle/edited_fragment.h"
#include "dataset/staging/binding.h"
#include "dataset/staging/column_file.h"
#include "dataset/staging/state.h"
#include "dataset/write/added_fields.h"
#include "dataset/write/input_stream.h"
#include "glaive/schema.h"
#include "glaive/staged_columns.h"
#include "table/manifest/table_schema.h"

namespace glaive {
namespace {

using dataset::ColumnFile;
using dataset::ColumnFileWriter;
using State = dataset::StagedColumnsState;

constexpr uint64_t kReadAhead = uint64_t{8} << 20;  // of one fragment's values
constexpr uint64_t kBudget = uint64_t{256} << 20;

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

  arrow::Result<std::vector<StagedColumns>> Run(std::span<const FragmentColumns> columns) && {
    for (const std::string& path : options_.reads) {
      ARROW_ASSIGN_OR_RAISE(const auto ids, dataset::FieldIdsAt(snapshot_.manifest->schema, path));
      read_fields_.insert(ids.begin(), ids.end());
    }
    ARROW_RETURN_NOT_OK(columns.size() == 1 ? StageHere(columns.front()) : StageAll(columns));
    // Everything is the caller's from here on.
    ARROW_RETURN_NOT_OK(dataset::HandOver(*snapshot_.location.store, files_, options_.durability));
    return std::move(staged_);
  }

 private:
  // One fragment, and as much of its values as was read ahead.
  struct Task {
    wire::DataFragment fragment;
    State state;
    std::shared_ptr<arrow::RecordBatchReader> stream;  // null: all of it was read
    arrow::RecordBatchVector batches;
    uint64_t bytes = 0;
    std::optional<ColumnFile> file;
  };

  arrow::Result<Task> Begin(const FragmentColumns& columns) const {
    ARROW_ASSIGN_OR_RAISE(auto fragment, dataset::FragmentOf(dataset_, columns.fragment_id));
    ARROW_ASSIGN_OR_RAISE(wire::Schema fields,
                          FieldsOf(StateOf(columns.schema)->schema, *columns.stream->schema()));
    ARROW_RETURN_NOT_OK(dataset::CheckBinding(*snapshot_.manifest, fields));
    ARROW_ASSIGN_OR_RAISE(auto state,
                          dataset::Watch(snapshot_, fragment, std::move(fields), read_fields_));
    return Task{.fragment = std::move(fragment),
                .state = std::move(state),
                .stream = columns.stream,
                .batches = {},
                .file = std::nullopt};
  }

  arrow::Status StageHere(const FragmentColumns& columns) {
    auto task = Begin(columns);
    ARROW_RETURN_NOT_OK(InFragment(task.status(), columns));
    ARROW_RETURN_NOT_OK(InFragment(Write(*task), columns));
    return Keep(*task);
  }

  // Streams are read by the calling thread; values of small fragments are then written by any.
  arrow::Status StageAll(std::span<const FragmentColumns> columns) {
    size_t begun = 0;
    const auto next = [&]() -> arrow::Result<std::optional<WorkUnit>> {
      if (begun == columns.size()) return std::nullopt;
      const FragmentColumns& each = columns[begun++];
      auto begun_task = ReadAhead(each);
      if (!begun_task.ok()) return InFragment(begun_task.status(), each);
      const auto task = std::make_shared<Task>(*std::move(begun_task));
      const auto run = [this, task, &each] { return InFragment(Write(*task), each); };
      // What does not fit is written as it comes, and has to be here.
      if (task->stream != nullptr) ARROW_RETURN_NOT_OK(run());
      const bool is_written = task->file.has_value();
      return WorkUnit{task->bytes,
                      [run, is_written] { return is_written ? arrow::Status::OK() : run(); },
                      [this, task, begun, total = columns.size()] {
                        ARROW_RETURN_NOT_OK(Keep(*task));
                        return Report({.tasks = begun, .total_tasks = total});
                      }};
    };
    MemoryBudget budget(kBudget);
    return RunInOrder(ProcessExecutor(), budget, next);
  }

  arrow::Result<Task> ReadAhead(const FragmentColumns& columns) const {
    ARROW_ASSIGN_OR_RAISE(Task task, Begin(columns));
    while (task.bytes < kReadAhead) {
      std::shared_ptr<arrow::RecordBatch> batch;
      ARROW_RETURN_NOT_OK(task.stream->ReadNext(&batch));
      if (batch == nullptr) {
        task.stream = nullptr;
        break;
      }
      task.bytes += static_cast<uint64_t>(arrow::util::TotalBufferSize(*batch));
      task.batches.push_back(std::move(batch));
    }
    return task;
  }

  arrow::Status Write(Task& task) const {
    const State& state = task.state;
    auto deletions = std::make_shared<const table::DeletionVector>();
    if (options_.live_rows_only) {
      ARROW_ASSIGN_OR_RAISE(deletions,
                            read::Deletions(snapshot_, task.fragment, state.physical_rows));
    }
    ARROW_ASSIGN_OR_RAISE(
        ColumnFileWriter writer,
        ColumnFileWriter::Make(snapshot_, state.schema, std::move(deletions), state.physical_rows));
    for (auto& batch : task.batches) {
      ARROW_RETURN_NOT_OK(writer.WriteLive(std::exchange(batch, nullptr)));
    }
    while (task.stream != nullptr) {
      std::shared_ptr<arrow::RecordBatch> batch;
      ARROW_RETURN_NOT_OK(task.stream->ReadNext(&batch));
      if (batch == nullptr) break;
      ARROW_RETURN_NOT_OK(writer.WriteLive(batch));
      ARROW_RETURN_NOT_OK(Report({.rows = writer.rows(), .total_rows = state.physical_rows}));
    }
    ARROW_ASSIGN_OR_RAISE(ColumnFile file, std::move(writer).Finish());
    task.file.emplace(std::move(file));
    return arrow::Status::OK();
  }

  arrow::Status Keep(Task& task) {
    files_.Take(task.file->files);
    if (!task.file->file) {
      return InvalidInput("fragment {} has no rows to write values of", task.state.fragment_id);
    }
    task.state.file = *std::move(task.file->file);
    staged_.push_back(dataset::MakeStagedColumns(std::move(task.state)));
    return arrow::Status::OK();
  }

  arrow::Status Report(const Progress& progress) const {
    return options_.progress ? options_.progress(progress) : arrow::Status::OK();
  }

  static arrow::Status InFragment(const arrow::Status& status, const FragmentColumns& columns) {
    if (status.ok()) return status;
    return WithContext(status, "columns of fragment {}", columns.fragment_id);
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
  const table::Manifest& manifest = *StateOf(dataset)->manifest;
  ARROW_ASSIGN_OR_RAISE(auto fields,
                        dataset::AddFields(manifest.schema, columns, manifest.MaxFieldId(),
                                           manifest.data_file_version));
  return table::MakeTableSchema(std::move(fields.written));
}

arrow::Result<TableSchema> ColumnSchema(const Dataset& dataset, const arrow::Schema& columns) {
  // Some of the columns may be given, whether they may be null or not.
  const wire::Schema& table = StateOf(dataset)->manifest->schema;
  ARROW_ASSIGN_OR_RAISE(const wire::Schema given,
                        dataset::FieldsToAppend(dataset::AllNullable(table), columns));
  std::set<int32_t> ids;
  wire::CollectFieldIds(given.fields, &ids);
  wire::Schema fields;
  fields.fields = table.fields;
  std::erase_if(fields.fields, [&](const wire::Field& field) { return !ids.contains(field.id); });
  return table::MakeTableSchema(std::move(fields));
}

arrow::Result<std::vector<StagedColumns>> StageColumns(const Dataset& dataset,
                                                       std::span<const FragmentColumns> columns,
                                                       const StageOptions& options) {
  return Staging(dataset, options).Run(columns);
}

arrow::Result<StagedColumns> StageColumns(const Dataset& dataset, uint64_t fragment_id,
                                          std::shared_ptr<arrow::RecordBatchReader> stream,
                                          const TableSchema& schema, const StageOptions& options) {
  const FragmentColumns columns{fragment_id, std::move(stream), schema};
  ARROW_ASSIGN_OR_RAISE(auto staged, StageColumns(dataset, std::span(&columns, 1), options));
  return std::move(staged.front());
}

}  // namespace glaive
