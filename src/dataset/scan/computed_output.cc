#include "dataset/scan/computed_output.h"

#include <algorithm>
#include <utility>

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "core/pieces.h"
#include "query/bind/filter.h"
#include "read/projection.h"

namespace glaive::dataset {
namespace {

// A column keeps its field's type, nullability and metadata under its new name.
std::shared_ptr<arrow::Field> FieldOf(const query::ComputedValue& value, const std::string& name,
                                      const arrow::Schema& schema) {
  if (value.is_column()) {
    const std::string& column = value.columns().front();
    if (auto field = schema.GetFieldByName(column)) return field->WithName(name);
  }
  return arrow::field(name, value.type());
}

}  // namespace

arrow::Result<std::shared_ptr<const ComputedOutput>> ComputedOutput::Make(
    const arrow::Schema& schema, const ScanOptions& options) {
  ARROW_RETURN_NOT_OK(query::InitCompute());
  std::shared_ptr<ComputedOutput> output(new ComputedOutput());
  arrow::FieldVector fields;
  for (const ComputedColumn& column : *options.computed) {
    if (std::ranges::any_of(fields, [&](const auto& f) { return f->name() == column.name; })) {
      return InvalidInput("Duplicate column name: {}", column.name);
    }
    ARROW_ASSIGN_OR_RAISE(auto value, query::ComputedValue::FromSql(column.sql, schema));
    for (const std::string& input : value->columns()) {
      if (std::ranges::count(output->inputs_, input) == 0) output->inputs_.push_back(input);
    }
    fields.push_back(FieldOf(*value, column.name, schema));
    output->values_.push_back(std::move(value));
  }
  if (options.with_row_id) fields.push_back(read::ArrowField(read::SystemColumn::kRowId));
  if (options.with_row_address) fields.push_back(read::ArrowField(read::SystemColumn::kRowAddress));
  output->schema_ = arrow::schema(std::move(fields));
  return output;
}

arrow::Result<arrow::RecordBatchVector> ComputedOutput::ApplyInPieces(
    const arrow::RecordBatch& batch) const {
  arrow::RecordBatchVector results;
  const auto num_rows = static_cast<uint64_t>(batch.num_rows());
  Pieces pieces(num_rows, [num_rows](uint64_t) { return num_rows; });
  while (!pieces.at_end()) {
    ARROW_ASSIGN_OR_RAISE(results.emplace_back(), pieces.Next([&](Piece piece) {
      return Apply(
          *batch.Slice(static_cast<int64_t>(piece.begin), static_cast<int64_t>(piece.size)));
    }));
  }
  return results;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ComputedOutput::Apply(
    const arrow::RecordBatch& batch) const {
  arrow::ArrayVector arrays;
  for (const auto& value : values_) {
    auto column = value->is_column() ? batch.GetColumnByName(value->columns().front()) : nullptr;
    if (column == nullptr) {
      ARROW_ASSIGN_OR_RAISE(column, value->Evaluate(batch));
    }
    arrays.push_back(std::move(column));
  }
  while (arrays.size() < static_cast<size_t>(schema_->num_fields())) {
    const std::string& name = schema_->field(static_cast<int>(arrays.size()))->name();
    auto column = batch.GetColumnByName(name);
    if (column == nullptr) return Internal("a scan got no column '{}'", name);
    arrays.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(schema_, batch.num_rows(), std::move(arrays));
}

}  // namespace glaive::dataset
