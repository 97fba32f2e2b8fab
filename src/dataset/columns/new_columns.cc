#include "dataset/columns/new_columns.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "dataset/columns/job.h"
#include "dataset/columns/join_table.h"
#include "dataset/commit/verb.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/staging/state.h"
#include "query/bind/computed_value.h"
#include "query/bind/filter.h"
#include "query/values/array_rows.h"
#include "table/manifest/fragment_metadata.h"
#include "table/operation/operation.h"
#include "wire/file_columns.h"

namespace glaive::dataset {
namespace {

using Batch = std::shared_ptr<arrow::RecordBatch>;

// Columns to look at that make it known how many rows there are.
arrow::Result<std::shared_ptr<const read::Projection>> Inputs(
    const Dataset& dataset, std::optional<std::vector<std::string>> columns) {
  if (columns && columns->empty()) columns->emplace_back("_rowaddr");
  return read::Projection::Make(StateOf(dataset)->manifest->schema,
                                {.columns = std::move(columns)});
}

// One call that adds columns: the fragments so far, and what is to be done for each kind.
class Adding {
 public:
  Adding(const Dataset& dataset, std::vector<wire::DataFragment> fragments,
         const VersionOptions& options)
      : dataset_(dataset),
        job_{.snapshot = SnapshotOf(dataset),
             .fragments = std::move(fragments),
             .inputs = nullptr,
             .fields = {},
             .progress = options.progress},
        files_(job_.snapshot.location.store) {}

  arrow::Status operator()(const std::vector<ComputedColumn>& columns) {
    ARROW_RETURN_NOT_OK(query::InitCompute());
    std::vector<std::shared_ptr<const query::ComputedValue>> values;
    std::vector<std::string> inputs;
    arrow::FieldVector fields;
    for (const ComputedColumn& column : columns) {
      ARROW_ASSIGN_OR_RAISE(auto value,
                            query::ComputedValue::FromSql(column.sql, *dataset_.schema()));
      for (const std::string& input : value->columns()) {
        if (std::ranges::count(inputs, input) == 0) inputs.push_back(input);
      }
      fields.push_back(arrow::field(column.name, value->type()));
      values.push_back(std::move(value));
    }
    const auto schema = arrow::schema(std::move(fields));
    ARROW_RETURN_NOT_OK(SetFields(*schema));
    ARROW_ASSIGN_OR_RAISE(job_.inputs, Inputs(dataset_, std::move(inputs)));
    const auto compute = [&](const Batch& live) -> arrow::Result<Batch> {
      arrow::ArrayVector arrays;
      for (const auto& value : values) {
        ARROW_ASSIGN_OR_RAISE(arrays.emplace_back(), value->Evaluate(*live));
      }
      return arrow::RecordBatch::Make(schema, live->num_rows(), std::move(arrays));
    };
    return Compute(compute);
  }

  arrow::Status operator()(const ColumnFunction& function) {
    if (function.batch_rows == 0) return InvalidInput("batch_size must be greater than zero");
    ARROW_RETURN_NOT_OK(SetFields(*function.schema));
    ARROW_ASSIGN_OR_RAISE(job_.inputs, Inputs(dataset_, function.inputs));
    job_.batch_rows = function.batch_rows;
    for (wire::DataFragment& fragment : job_.fragments) {
      ARROW_ASSIGN_OR_RAISE(const bool is_kept, UseKept(function, fragment));
      if (is_kept) continue;
      ARROW_ASSIGN_OR_RAISE(ColumnFile file,
                            ComputeInTurn(job_, fragment, [&](uint64_t index, const Batch& live) {
                              return CallOrFind(function, fragment.id, index, live);
                            }));
      if (file.file) ARROW_RETURN_NOT_OK(Place(*file.file, fragment));
      if (function.checkpoint) {
        ARROW_RETURN_NOT_OK(
            function.checkpoint->keep_fragment(table::MakeFragmentMetadata(fragment)));
        kept_.insert(kept_.end(), file.files.paths().begin(), file.files.paths().end());
        file.files.Keep();
      }
      Own(std::move(file.files));
    }
    return arrow::Status::OK();
  }

  arrow::Status operator()(const NullColumns& columns) {
    for (const auto& field : columns.schema->fields()) {
      if (field->nullable()) continue;
      return InvalidInput("All-null columns must be nullable, but field '{}' is not.",
                          field->name());
    }
    return SetFields(*columns.schema);
  }

  arrow::Status operator()(const std::shared_ptr<arrow::RecordBatchReader>& stream) {
    ARROW_RETURN_NOT_OK(SetFields(*stream->schema()));
    ARROW_ASSIGN_OR_RAISE(job_.inputs, Inputs(dataset_, std::vector<std::string>()));
    for (wire::DataFragment& fragment : job_.fragments) {
      ARROW_ASSIGN_OR_RAISE(ColumnFile file,
                            ComputeInTurn(job_, fragment, [&](uint64_t, const Batch& live) {
                              return TakeRows(*stream, live->num_rows());
                            }));
      if (file.file) ARROW_RETURN_NOT_OK(Place(*file.file, fragment));
      Own(std::move(file.files));
    }
    while (rest_ == nullptr || rest_->num_rows() == 0) {
      ARROW_RETURN_NOT_OK(stream->ReadNext(&rest_));
      if (rest_ == nullptr) return arrow::Status::OK();
    }
    return InvalidInput("Stream produced more values than expected for dataset");
  }

  arrow::Status Join(arrow::RecordBatchReader& stream, std::string_view left_on,
                     std::string_view right_on) {
    ARROW_ASSIGN_OR_RAISE(job_.inputs, Inputs(dataset_, std::vector{std::string(left_on)}));
    ARROW_ASSIGN_OR_RAISE(
        const auto right,
        JoinTable::Read(stream, right_on, *job_.inputs->schema->field(0)->type(), {}));
    ARROW_RETURN_NOT_OK(SetFields(*right->values()->schema()));
    return Compute([&](const Batch& live) -> arrow::Result<Batch> {
      ARROW_ASSIGN_OR_RAISE(const auto rows, right->Find(*live->column(0)));
      return TakeJoined(*right->values(), rows);
    });
  }

  AddedColumns Finish() && {
    return {std::move(job_.fragments), std::move(fields_), std::move(staged_), std::move(files_),
            std::move(kept_)};
  }

 private:
  arrow::Status SetFields(const arrow::Schema& added) {
    const table::Manifest& manifest = *job_.snapshot.manifest;
    ARROW_ASSIGN_OR_RAISE(fields_, AddFields(manifest.schema, added, manifest.MaxFieldId(),
                                             manifest.data_file_version));
    job_.fields = fields_.written;
    return arrow::Status::OK();
  }

  arrow::Status Compute(const ComputeBatch& compute) {
    ARROW_ASSIGN_OR_RAISE(std::vector<ColumnFile> made, ComputeFiles(job_, compute));
    for (auto& file : made) Own(std::move(file.files));
    for (size_t i = 0; i < made.size(); ++i) {
      if (!made[i].file) continue;
      ARROW_RETURN_NOT_OK(Place(*made[i].file, job_.fragments[i]));
    }
    return arrow::Status::OK();
  }

  arrow::Status Place(const wire::DataFile& file, wire::DataFragment& fragment) {
    ARROW_ASSIGN_OR_RAISE(auto state, Watch(job_.snapshot, fragment, fields_.written));
    state.file = file;
    staged_.push_back(MakeStagedColumns(std::move(state)));
    AddFile(&fragment, file);
    return arrow::Status::OK();
  }

  void Own(NewFiles files) {
    for (const std::string& path : files.paths()) files_.Add(path);
    files.Keep();
  }

  static arrow::Result<Batch> CallOrFind(const ColumnFunction& function, uint64_t fragment_id,
                                         uint64_t index, const Batch& live) {
    if (!function.checkpoint) return function.compute(live);
    ARROW_ASSIGN_OR_RAISE(Batch batch, function.checkpoint->find_batch(fragment_id, index));
    if (batch != nullptr && batch->num_rows() == live->num_rows()) return batch;
    ARROW_ASSIGN_OR_RAISE(batch, function.compute(live));
    ARROW_RETURN_NOT_OK(function.checkpoint->keep_batch(fragment_id, index, batch));
    return batch;
  }

  // Takes the file of a fragment that an earlier call finished. Only where the fragment's rows are
  // the same still, and the fields have the ids that they would get now.
  arrow::Result<bool> UseKept(const ColumnFunction& function, wire::DataFragment& fragment) {
    if (!function.checkpoint) return false;
    ARROW_ASSIGN_OR_RAISE(const auto found, function.checkpoint->find_fragment(fragment.id));
    if (!found || found->physical_rows() != fragment.physical_rows ||
        StateOf(*found)->fragment.deletion_file != fragment.deletion_file) {
      return false;
    }
    const auto ids = wire::FileFieldIds(job_.fields, job_.snapshot.manifest->data_file_version);
    for (const wire::DataFile& file : StateOf(*found)->fragment.files) {
      if (file.fields != ids) continue;
      auto opened = read::OpenDataFile(job_.snapshot, file);
      if (!opened.ok() || (*opened)->metadata().num_rows != fragment.physical_rows) return false;
      ARROW_RETURN_NOT_OK(Place(file, fragment));
      return true;
    }
    return false;
  }

  // The next rows of the stream, whose batches end where they will.
  arrow::Result<Batch> TakeRows(arrow::RecordBatchReader& stream, int64_t num_rows) {
    arrow::RecordBatchVector parts;
    while (num_rows > 0) {
      if (rest_ == nullptr || rest_->num_rows() == 0) {
        ARROW_RETURN_NOT_OK(stream.ReadNext(&rest_));
        if (rest_ == nullptr) {
          return InvalidInput("Stream ended before producing values for all rows in dataset");
        }
      }
      parts.push_back(rest_->Slice(0, num_rows));
      num_rows -= parts.back()->num_rows();
      rest_ = rest_->Slice(parts.back()->num_rows());
    }
    return query::JoinRows(stream.schema(), parts);
  }

  const Dataset& dataset_;
  ColumnJob job_;
  AddedFields fields_;
  std::vector<StagedColumns> staged_;
  NewFiles files_;
  std::vector<std::string> kept_;
  Batch rest_;  // of a stream: rows that were read and not used yet
};

}  // namespace

arrow::Result<std::vector<wire::DataFragment>> AllFragments(const Dataset& dataset) {
  std::vector<wire::DataFragment> fragments;
  ARROW_RETURN_NOT_OK(
      StateOf(dataset)->manifest->fragments.Visit([&](const table::Fragment& fragment) {
        ARROW_ASSIGN_OR_RAISE(fragments.emplace_back(), fragment.Parse());
        return arrow::Status::OK();
      }));
  return fragments;
}

arrow::Result<AddedColumns> AddToFragments(const Dataset& dataset,
                                           std::vector<wire::DataFragment> fragments,
                                           const NewColumns& columns,
                                           const VersionOptions& options) {
  Adding adding(dataset, std::move(fragments), options);
  ARROW_RETURN_NOT_OK(std::visit(adding, columns));
  return std::move(adding).Finish();
}

arrow::Result<AddedColumns> JoinToFragments(const Dataset& dataset,
                                            std::vector<wire::DataFragment> fragments,
                                            arrow::RecordBatchReader& stream,
                                            std::string_view left_on, std::string_view right_on,
                                            const VersionOptions& options) {
  Adding adding(dataset, std::move(fragments), options);
  ARROW_RETURN_NOT_OK(adding.Join(stream, left_on, right_on));
  return std::move(adding).Finish();
}

arrow::Result<Dataset> CommitColumnChange(const Dataset& dataset, table::Change change,
                                          const VersionOptions& options, NewFiles files,
                                          const std::vector<std::string>& others) {
  table::CommitOptions details;
  details.files_to_sync = others;
  return CommitVerb(PlaceOf(dataset), std::move(change), options, &files, std::move(details));
}

}  // namespace glaive::dataset
