#include "glaive/rows.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "core/executor.h"
#include "core/memory_budget.h"
#include "dataset/commit/retry.h"
#include "dataset/commit/verb.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/storage_version.h"
#include "dataset/rows/carrier.h"
#include "dataset/rows/deleted_rows.h"
#include "dataset/scan/plan.h"
#include "dataset/write/fragment_writer.h"
#include "query/bind/computed_value.h"
#include "query/cast/cast.h"
#include "wire/schema.h"

namespace glaive {
namespace {

using query::ComputedValue;
using RecordBatchPtr = std::shared_ptr<arrow::RecordBatch>;

constexpr uint64_t kBudget = uint64_t{256} << 20;
constexpr const char* kAddress = "_rowaddr";

// What does not fit is an error.
arrow::Result<std::shared_ptr<arrow::Array>> CastTo(const std::shared_ptr<arrow::DataType>& type,
                                                    const std::shared_ptr<arrow::Array>& values) {
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum cast,
                        query::CastValue(arrow::Datum(values), type, /*is_try=*/false));
  return cast.make_array();
}

// New values of one column of the table.
struct BoundUpdate {
  int column;  // of the table's schema
  std::shared_ptr<const ComputedValue> value;
};

// The update bound to a version: which columns are read, and how a row is made of them.
class RowUpdater {
 public:
  static arrow::Result<RowUpdater> Make(const Dataset& dataset,
                                        std::span<const ColumnUpdate> updates) {
    if (updates.empty()) return InvalidInput("No updates provided");
    ARROW_RETURN_NOT_OK(query::InitCompute());
    RowUpdater updater(dataset.schema());
    for (const ColumnUpdate& update : updates) ARROW_RETURN_NOT_OK(updater.Bind(update));
    return updater;
  }

  // What a scan has to read: the columns that stay, those that the expressions look at, addresses.
  std::vector<std::string> Inputs() const {
    std::vector<std::string> names;
    const auto add = [&](const std::string& name) {
      if (std::ranges::count(names, name) == 0) names.push_back(name);
    };
    for (int i = 0; i < schema_->num_fields(); ++i) {
      if (Find(i) == nullptr) add(schema_->field(i)->name());
    }
    for (const BoundUpdate& update : updates_) {
      for (const std::string& input : update.value->columns()) add(input);
    }
    names.emplace_back(kAddress);
    return names;
  }

  // The table's columns with their new values, and the addresses behind them. Thread safe.
  arrow::Result<RecordBatchPtr> Apply(const RecordBatchPtr& rows) const {
    arrow::ArrayVector columns;
    for (int i = 0; i < schema_->num_fields(); ++i) {
      const BoundUpdate* update = Find(i);
      if (update == nullptr) {
        columns.push_back(rows->GetColumnByName(schema_->field(i)->name()));
        continue;
      }
      ARROW_ASSIGN_OR_RAISE(columns.emplace_back(), Evaluate(*update, *rows));
    }
    columns.push_back(rows->GetColumnByName(kAddress));
    return arrow::RecordBatch::Make(output_, rows->num_rows(), std::move(columns));
  }

  // Ids of the fields that change, with all below them.
  std::vector<uint32_t> ChangedFields(const wire::Schema& schema) const {
    std::vector<uint32_t> ids;
    for (const BoundUpdate& update : updates_) {
      Collect(schema.fields[static_cast<size_t>(update.column)], &ids);
    }
    return ids;
  }

 private:
  explicit RowUpdater(std::shared_ptr<arrow::Schema> schema) : schema_(std::move(schema)) {
    arrow::FieldVector fields = schema_->fields();
    fields.push_back(arrow::field(kAddress, arrow::uint64()));
    output_ = arrow::schema(std::move(fields));
  }

  // The new values, as the column's type.
  arrow::Result<std::shared_ptr<arrow::Array>> Evaluate(const BoundUpdate& update,
                                                        const arrow::RecordBatch& rows) const {
    const arrow::Field& field = *schema_->field(update.column);
    ARROW_ASSIGN_OR_RAISE(auto values, update.value->Evaluate(rows));
    auto cast = CastTo(field.type(), std::move(values));
    if (cast.ok()) return cast;
    return InvalidInput("column '{}': {}", field.name(), cast.status().message());
  }

  arrow::Status Bind(const ColumnUpdate& update) {
    const int column = schema_->GetFieldIndex(update.column);
    if (column < 0) return NoSuchTarget(update.column);
    if (Find(column) != nullptr) {
      return InvalidInput("Column '{}' is updated more than once", update.column);
    }
    ARROW_ASSIGN_OR_RAISE(auto value, ComputedValue::FromSql(update.sql, *schema_));
    // A constant that does not fit is a mistake in any row, and known before one is read.
    if (value->columns().empty()) {
      const auto one_row = arrow::RecordBatch::Make(arrow::schema({}), 1, arrow::ArrayVector());
      ARROW_RETURN_NOT_OK(Evaluate({column, value}, *one_row).status());
    }
    updates_.push_back({column, std::move(value)});
    return arrow::Status::OK();
  }

  arrow::Status NoSuchTarget(const std::string& name) const {
    if (schema_->GetFieldByName(name.substr(0, name.find('.'))) != nullptr) {
      return Unsupported("updating '{}': columns below structs are updated with the whole struct",
                         name);
    }
    return InvalidInput("Column '{}' does not exist in the dataset; it has {}", name,
                        fmt::join(schema_->field_names(), ", "));
  }

  const BoundUpdate* Find(int column) const {
    const auto found = std::ranges::find(updates_, column, &BoundUpdate::column);
    return found == updates_.end() ? nullptr : &*found;
  }

  static void Collect(const wire::Field& field, std::vector<uint32_t>* ids) {
    ids->push_back(static_cast<uint32_t>(field.id));
    for (const wire::Field& child : field.children) Collect(child, ids);
  }

  std::shared_ptr<arrow::Schema> schema_;  // the table's
  std::shared_ptr<arrow::Schema> output_;
  std::vector<BoundUpdate> updates_;
};

// One attempt, on one version.
class UpdateAttempt {
 public:
  UpdateAttempt(const Dataset& dataset, std::span<const ColumnUpdate> updates,
                const std::optional<Predicate>& where, const UpdateOptions& options)
      : dataset_(dataset),
        updates_(updates),
        where_(where),
        options_(options),
        snapshot_(dataset::SnapshotOf(dataset)) {}

  arrow::Result<UpdateResult> Run() {
    ARROW_ASSIGN_OR_RAISE(const RowUpdater updater, RowUpdater::Make(dataset_, updates_));
    ARROW_ASSIGN_OR_RAISE(dataset::WrittenFragments written, MoveRows(updater));
    ARROW_RETURN_NOT_OK(dataset::CarryRowIds(snapshot_, rows_, written.fragments));
    ARROW_ASSIGN_OR_RAISE(dataset::HiddenRows hidden, dataset::HideRows(snapshot_, rows_));
    written.files.Take(hidden.files);
    const uint64_t num_rows = rows_.size();
    table::Update operation{
        .removed_fragment_ids = std::move(hidden.removed_fragment_ids),
        .updated_fragments = table::FragmentsOf(std::move(hidden.updated_fragments)),
        .new_fragments = table::FragmentsOf(std::move(written.fragments)),
        .fields_for_preserving_frag_bitmap = updater.ChangedFields(snapshot_.manifest->schema),
        .affected_rows = std::move(rows_)};
    ARROW_ASSIGN_OR_RAISE(Dataset after,
                          dataset::CommitVerb(dataset::PlaceOf(dataset_), std::move(operation),
                                              options_.version, &written.files));
    return UpdateResult{std::move(after), num_rows};
  }

 private:
  arrow::Result<dataset::WrittenFragments> MoveRows(const RowUpdater& updater) {
    ScanOptions scan;
    scan.columns = updater.Inputs();
    scan.filter = where_;
    ARROW_ASSIGN_OR_RAISE(dataset::ScanPlan plan, dataset::PlanScan(dataset_, scan));
    plan.transform = [&updater](const RecordBatchPtr& rows) { return updater.Apply(rows); };
    FileVersion version = snapshot_.manifest->data_file_version;
    if (options_.data_storage_version) {
      ARROW_ASSIGN_OR_RAISE(version, dataset::WritableVersion(*options_.data_storage_version));
    }
    ARROW_ASSIGN_OR_RAISE(
        dataset::FragmentWriter writer,
        dataset::FragmentWriter::Make(snapshot_.location, snapshot_.manifest->schema,
                                      {.version = version, .progress = options_.version.progress}));
    MemoryBudget budget(kBudget);
    dataset::ScanUnits units(std::move(plan), [&](const RecordBatchPtr& rows) -> arrow::Status {
      const int addresses = rows->num_columns() - 1;
      const auto& values = static_cast<const arrow::UInt64Array&>(*rows->column(addresses));
      rows_.insert(rows_.end(), values.raw_values(), values.raw_values() + values.length());
      ARROW_ASSIGN_OR_RAISE(const auto columns, rows->RemoveColumn(addresses));
      return writer.Write(*columns);
    });
    ARROW_RETURN_NOT_OK(RunInOrder(ProcessExecutor(), budget, [&] { return units.Next(); }));
    return std::move(writer).Finish();
  }

  const Dataset& dataset_;
  std::span<const ColumnUpdate> updates_;
  const std::optional<Predicate>& where_;
  const UpdateOptions& options_;
  read::Snapshot snapshot_;
  std::vector<uint64_t> rows_;  // addresses of the rows that move, ascending
};

// The values were meant for the columns that the caller saw.
arrow::Status CheckSameTypes(const Dataset& seen, const Dataset& current,
                             std::span<const ColumnUpdate> updates) {
  for (const ColumnUpdate& update : updates) {
    const auto before = seen.schema()->GetFieldByName(update.column);
    const auto now = current.schema()->GetFieldByName(update.column);
    if (before == nullptr || now == nullptr || before->type()->Equals(now->type())) continue;
    return CommitConflict(Retry::kNo, current.version(), "column '{}' became {} there, was {}",
                          update.column, now->type()->ToString(), before->type()->ToString());
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Status CheckUpdate(const Dataset& dataset, std::span<const ColumnUpdate> updates,
                          const std::optional<Predicate>& where) {
  ARROW_RETURN_NOT_OK(RowUpdater::Make(dataset, updates).status());
  if (!where) return arrow::Status::OK();
  return dataset::BindFilter(dataset, *where).status();
}

arrow::Result<UpdateResult> Update(const Dataset& dataset, std::span<const ColumnUpdate> updates,
                                   const std::optional<Predicate>& where,
                                   const UpdateOptions& options) {
  return dataset::Persist(
      dataset, {options.conflict_retries, options.retry_timeout_ms, options.version.progress},
      [&](const Dataset& current) -> arrow::Result<UpdateResult> {
        ARROW_RETURN_NOT_OK(CheckSameTypes(dataset, current, updates));
        return UpdateAttempt(current, updates, where, options).Run();
      });
}

}  // namespace glaive
