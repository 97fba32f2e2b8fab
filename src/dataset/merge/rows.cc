#include "dataset/merge/rows.h"

#include <algorithm>
#include <utility>

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "core/executor.h"
#include "core/memory_budget.h"
#include "core/pieces.h"
#include "dataset/scan/addressed_rows.h"
#include "wire/schema.h"

namespace glaive::dataset {
namespace {

using ArrayPtr = std::shared_ptr<arrow::Array>;
using RecordBatchPtr = std::shared_ptr<arrow::RecordBatch>;

constexpr uint64_t kBudget = uint64_t{256} << 20;
constexpr double kBatchBytes = 4 << 20;
constexpr size_t kMaxBatchRows = 64 << 10;

// Whether values of `source` have all that values of `target` are made of.
bool IsWhole(const arrow::DataType& source, const arrow::DataType& target) {
  if (target.id() != arrow::Type::STRUCT) {
    return target.num_fields() != 1 || source.num_fields() != 1 ||
           IsWhole(*source.field(0)->type(), *target.field(0)->type());
  }
  const auto& given = static_cast<const arrow::StructType&>(source);
  return std::ranges::all_of(target.fields(), [&](const auto& field) {
    const auto found = given.GetFieldByName(field->name());
    return found != nullptr && IsWhole(*found->type(), *field->type());
  });
}

// The source's values, with those fields of structs that it lacks taken from the table's row, or
// null without one. REQUIRES: arrays that are no slices
arrow::Result<ArrayPtr> Complete(const ArrayPtr& source, const ArrayPtr& target,
                                 const std::shared_ptr<arrow::DataType>& type) {
  if (source == nullptr) {
    if (target != nullptr) return target;
    return Internal("a merged column comes from nowhere");
  }
  if (IsWhole(*source->type(), *type)) return source;
  if (type->id() != arrow::Type::STRUCT) {
    return Unsupported("merging structs within lists that lack fields of the table's");
  }
  const auto& given = static_cast<const arrow::StructArray&>(*source);
  arrow::ArrayVector children;
  for (int i = 0; i < type->num_fields(); ++i) {
    const auto& field = type->field(i);
    ArrayPtr old;
    if (target != nullptr) {
      ARROW_ASSIGN_OR_RAISE(old,
                            static_cast<const arrow::StructArray&>(*target).GetFlattenedField(i));
    } else {
      ARROW_ASSIGN_OR_RAISE(old, arrow::MakeArrayOfNull(field->type(), source->length()));
    }
    ARROW_ASSIGN_OR_RAISE(children.emplace_back(),
                          Complete(given.GetFieldByName(field->name()), old, field->type()));
  }
  arrow::FieldVector fields;
  for (int i = 0; i < type->num_fields(); ++i) {
    fields.push_back(type->field(i)->WithType(children[static_cast<size_t>(i)]->type()));
  }
  return std::make_shared<arrow::StructArray>(arrow::struct_(fields), source->length(), children,
                                              source->null_bitmap(), source->null_count());
}

double BytesPerTableRow(const table::Manifest& manifest) {
  const auto& totals = manifest.fragments.totals();
  if (totals.physical_rows == 0) return 0;
  return static_cast<double>(totals.data_file_bytes) / static_cast<double>(totals.physical_rows);
}

}  // namespace

arrow::Result<MergedRows> MergedRows::Make(read::Snapshot snapshot, MergeSource source) {
  MergedRows rows(std::move(snapshot), std::move(source));
  const wire::Schema& schema = rows.snapshot_.manifest->schema;
  ARROW_ASSIGN_OR_RAISE(rows.schema_, wire::ToArrow(schema));
  std::vector<std::string> kept;
  for (const auto& field : rows.schema_->fields()) {
    Column& column = rows.columns_.emplace_back();
    column.source = rows.source_.schema()->GetFieldIndex(field->name());
    const bool is_whole =
        column.source >= 0 &&
        IsWhole(*rows.source_.schema()->field(column.source)->type(), *field->type());
    if (is_whole) continue;
    column.target = static_cast<int>(kept.size());
    kept.push_back(field->name());
  }
  if (!kept.empty()) {
    ARROW_ASSIGN_OR_RAISE(rows.kept_, read::Projection::Make(schema, {.columns = std::move(kept)}));
  }
  return rows;
}

arrow::Result<RecordBatchPtr> MergedRows::Assemble(const arrow::RecordBatch& source,
                                                   const arrow::RecordBatch* target) const {
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const auto& field = schema_->field(static_cast<int>(i));
    const Column& column = columns_[i];
    ArrayPtr given = column.source >= 0 ? source.column(column.source) : nullptr;
    ArrayPtr kept;
    if (column.target >= 0 && target != nullptr) kept = target->column(column.target);
    if (given == nullptr && kept == nullptr) {
      ARROW_ASSIGN_OR_RAISE(kept, arrow::MakeArrayOfNull(field->type(), source.num_rows()));
    }
    ARROW_ASSIGN_OR_RAISE(columns.emplace_back(), Complete(given, kept, field->type()));
    fields.push_back(field->WithType(columns.back()->type()));
  }
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields)), source.num_rows(),
                                  std::move(columns));
}

arrow::Result<RecordBatchPtr> MergedRows::Replace(std::span<const MatchedRow> rows) const {
  std::vector<uint32_t> source_rows;
  std::vector<uint64_t> addresses;
  for (const MatchedRow& row : rows) {
    source_rows.push_back(row.source_row);
    addresses.push_back(row.address);
  }
  ARROW_ASSIGN_OR_RAISE(const RecordBatchPtr source, source_.Take(source_rows));
  if (kept_ == nullptr) return Assemble(*source, nullptr);
  ARROW_ASSIGN_OR_RAISE(const RecordBatchPtr target, ReadRows(snapshot_, kept_, addresses));
  return Assemble(*source, target.get());
}

arrow::Result<RecordBatchPtr> MergedRows::Insert(std::span<const uint32_t> rows) const {
  ARROW_ASSIGN_OR_RAISE(const RecordBatchPtr source, source_.Take(rows));
  return Assemble(*source, nullptr);
}

size_t MergedRows::BatchRows() const {
  const double bytes = source_.BytesPerRow() + BytesPerTableRow(*snapshot_.manifest);
  const double rows = kBatchBytes / std::max(bytes, 1.0);
  return static_cast<size_t>(std::clamp(rows, 1.0, static_cast<double>(kMaxBatchRows)));
}

arrow::Result<WrittenFragments> WriteMergedRows(const read::Snapshot& snapshot,
                                                const MergedRows& rows,
                                                std::span<const MatchedRow> replacing,
                                                std::span<const uint32_t> inserted,
                                                const MergedWriteOptions& options) {
  ARROW_ASSIGN_OR_RAISE(FragmentWriter writer,
                        FragmentWriter::Make(snapshot.location, snapshot.manifest->schema,
                                             {.version = options.version,
                                              .total_rows = replacing.size() + inserted.size(),
                                              .progress = options.progress}));
  const size_t batch_rows = rows.BatchRows();
  MemoryBudget budget(kBudget);
  // A unit is rows of a sensible size together, or fewer at a time where they are larger than
  // others.
  const auto work_on = [&writer](size_t num_rows, auto make) {
    struct State {
      Pieces pieces;
      RecordBatchPtr batch;
    };
    const auto state = std::make_shared<State>(
        State{Pieces(num_rows, [num_rows](uint64_t) { return num_rows; }), nullptr});
    return WorkUnit{
        static_cast<uint64_t>(kBatchBytes),
        [state, make] { return state->pieces.Next(make).Value(&state->batch); },
        [&writer, state] { return writer.Write(*std::exchange(state->batch, nullptr)); },
        [state] { return !state->pieces.at_end(); }};
  };
  const auto next = [&]() -> arrow::Result<std::optional<WorkUnit>> {
    if (replacing.empty() && inserted.empty()) return std::nullopt;
    if (!replacing.empty()) {
      const auto part = replacing.first(std::min(batch_rows, replacing.size()));
      replacing = replacing.subspan(part.size());
      return work_on(part.size(), [&rows, part](Piece piece) {
        return rows.Replace(part.subspan(piece.begin, piece.size));
      });
    }
    const auto part = inserted.first(std::min(batch_rows, inserted.size()));
    inserted = inserted.subspan(part.size());
    return work_on(part.size(), [&rows, part](Piece piece) {
      return rows.Insert(part.subspan(piece.begin, piece.size));
    });
  };
  ARROW_RETURN_NOT_OK(RunInOrder(ProcessExecutor(), budget, next));
  return std::move(writer).Finish();
}

}  // namespace glaive::dataset
