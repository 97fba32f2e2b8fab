#include "dataset/column_file.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <arrow/array/builder_primitive.h>
#include <arrow/array/util.h>
#include <arrow/compute/api_vector.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "core/error.h"
#include "dataset/input_stream.h"
#include "query/filter.h"

namespace glaive::dataset {
namespace {

constexpr uint64_t kNoLimit = std::numeric_limits<int64_t>::max();
constexpr uint64_t kFillRows = 8192;  // at a time, where nothing but deleted rows is left

using Batch = std::shared_ptr<arrow::RecordBatch>;

// Columns whose fields may be null are taken by the second list.
arrow::Result<Batch> TakeRows(const arrow::RecordBatch& batch, const wire::Schema& fields,
                              const std::shared_ptr<arrow::Array>& rows,
                              const std::shared_ptr<arrow::Array>& rows_or_null) {
  arrow::ArrayVector columns;
  const auto options = arrow::compute::TakeOptions::NoBoundsCheck();
  for (int i = 0; i < batch.num_columns(); ++i) {
    const auto field = std::ranges::find(fields.fields, batch.column_name(i), &wire::Field::name);
    const bool nullable = field != fields.fields.end() && field->nullable;
    ARROW_ASSIGN_OR_RAISE(
        auto column,
        arrow::compute::Take(*batch.column(i), nullable ? *rows_or_null : *rows, options));
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(batch.schema(), rows->length(), std::move(columns));
}

// `count` rows of nulls, and where none may be of the value in `row`.
arrow::Result<Batch> FillOf(const Batch& row, const wire::Schema& fields, uint64_t count) {
  ARROW_ASSIGN_OR_RAISE(const auto first, arrow::MakeArrayFromScalar(arrow::Int64Scalar(0),
                                                                     static_cast<int64_t>(count)));
  ARROW_ASSIGN_OR_RAISE(const auto nulls,
                        arrow::MakeArrayOfNull(arrow::int64(), static_cast<int64_t>(count)));
  return TakeRows(*row, fields, first, nulls);
}

}  // namespace

ColumnFileWriter::ColumnFileWriter(FragmentWriter writer, wire::Schema fields,
                                   table::DeletionVectorPtr deletions, uint64_t physical_rows)
    : writer_(std::move(writer)),
      fields_(std::move(fields)),
      deletions_(std::move(deletions)),
      physical_rows_(physical_rows) {}

arrow::Result<ColumnFileWriter> ColumnFileWriter::Make(const read::Snapshot& snapshot,
                                                       wire::Schema fields,
                                                       table::DeletionVectorPtr deletions,
                                                       uint64_t physical_rows) {
  ARROW_RETURN_NOT_OK(query::InitCompute());
  ARROW_ASSIGN_OR_RAISE(FragmentWriter writer,
                        FragmentWriter::Make(snapshot.location, fields,
                                             {.limits = {.max_rows_per_file = kNoLimit,
                                                         .max_bytes_per_file = kNoLimit},
                                              .version = snapshot.manifest->data_file_version,
                                              .total_rows = physical_rows}));
  return ColumnFileWriter(std::move(writer), std::move(fields), std::move(deletions),
                          physical_rows);
}

// Rows of the range: live ones in their places, others with nothing to be seen.
arrow::Result<Batch> ColumnFileWriter::WithDeleted(RowRange physical, const Batch& live) {
  arrow::Int64Builder rows;
  arrow::Int64Builder rows_or_null;
  const auto deleted = deletions_->offsets();
  auto next = std::ranges::lower_bound(deleted, physical.begin);
  int64_t source = 0;
  for (uint64_t row = physical.begin; row < physical.end; ++row) {
    if (next != deleted.end() && *next == row) {
      ++next;
      ARROW_RETURN_NOT_OK(rows.Append(std::min(source, live->num_rows() - 1)));
      ARROW_RETURN_NOT_OK(rows_or_null.AppendNull());
    } else {
      ARROW_RETURN_NOT_OK(rows.Append(source));
      ARROW_RETURN_NOT_OK(rows_or_null.Append(source++));
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto indices, rows.Finish());
  ARROW_ASSIGN_OR_RAISE(const auto indices_or_null, rows_or_null.Finish());
  return TakeRows(*live, fields_, indices, indices_or_null);
}

arrow::Status ColumnFileWriter::Write(uint64_t physical_rows, const Batch& live) {
  const RowRange physical{rows(), rows() + physical_rows};
  if (physical.end > physical_rows_) {
    return InvalidInput("values for {} rows, more than the {} of the fragment", physical.end,
                        physical_rows_);
  }
  const uint64_t num_live = CountRows(deletions_->LiveRanges(physical));
  if (static_cast<uint64_t>(live->num_rows()) != num_live) {
    return InvalidInput("new batch has different size with the source batch: {} != {}", num_live,
                        live->num_rows());
  }
  if (num_live == 0) {
    owed_ += physical_rows;
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const auto form, StoredForm::Make(*live->schema(), fields_));
  ARROW_ASSIGN_OR_RAISE(auto stored, form.Convert(live));
  if (any_live_ == nullptr && !deletions_->empty()) {
    // Copied, so that it does not keep the batch alive.
    ARROW_ASSIGN_OR_RAISE(const auto first, arrow::MakeArrayFromScalar(arrow::Int64Scalar(0), 1));
    ARROW_ASSIGN_OR_RAISE(any_live_, TakeRows(*stored, fields_, first, first));
  }
  ARROW_RETURN_NOT_OK(WriteOwed());
  if (num_live != physical_rows) {
    ARROW_ASSIGN_OR_RAISE(stored, WithDeleted(physical, stored));
  }
  ARROW_RETURN_NOT_OK(writer_.Write(*stored));
  rows_ = physical.end;
  return arrow::Status::OK();
}

arrow::Status ColumnFileWriter::WriteOwed() {
  while (owed_ > 0) {
    const uint64_t count = std::min(owed_, kFillRows);
    ARROW_ASSIGN_OR_RAISE(const auto fill, FillOf(any_live_, fields_, count));
    ARROW_RETURN_NOT_OK(writer_.Write(*fill));
    owed_ -= count;
    rows_ += count;
  }
  return arrow::Status::OK();
}

arrow::Result<ColumnFile> ColumnFileWriter::Finish() && {
  if (rows_ + owed_ != physical_rows_) {
    return InvalidInput("values for {} rows of a fragment that has {}", rows_ + owed_,
                        physical_rows_);
  }
  if (owed_ > 0 && any_live_ == nullptr) {
    return Unsupported("new columns for a fragment of which all {} rows are deleted",
                       physical_rows_);
  }
  ARROW_RETURN_NOT_OK(WriteOwed());
  ARROW_ASSIGN_OR_RAISE(WrittenFragments written, std::move(writer_).Finish());
  ColumnFile result{.file = std::nullopt, .files = std::move(written.files)};
  if (!written.fragments.empty()) {
    result.file = std::move(written.fragments.front().files.front());
  }
  return result;
}

}  // namespace glaive::dataset
