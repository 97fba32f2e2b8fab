#include "dataset/staging/column_file.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <arrow/array/array_dict.h>
#include <arrow/array/builder_base.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "dataset/write/input_stream.h"
#include "query/bind/filter.h"
#include "query/values/array_rows.h"

namespace glaive::dataset {
namespace {

constexpr uint64_t kNoLimit = std::numeric_limits<int64_t>::max();
constexpr uint64_t kFillRows = 8192;  // at a time, where deleted rows are among them

using Batch = std::shared_ptr<arrow::RecordBatch>;

// One value that is there but has no size, or as little as its type can have.
arrow::Result<std::shared_ptr<arrow::Array>> EmptyValue(
    const std::shared_ptr<arrow::DataType>& type) {
  if (type->id() == arrow::Type::DICTIONARY) {
    const auto& dictionary = static_cast<const arrow::DictionaryType&>(*type);
    ARROW_ASSIGN_OR_RAISE(const auto index, EmptyValue(dictionary.index_type()));
    ARROW_ASSIGN_OR_RAISE(const auto value, EmptyValue(dictionary.value_type()));
    return arrow::DictionaryArray::FromArrays(type, index, value);
  }
  ARROW_ASSIGN_OR_RAISE(const auto builder, arrow::MakeBuilder(type));
  ARROW_RETURN_NOT_OK(builder->AppendEmptyValue());
  return builder->Finish();
}

bool MayBeNull(const wire::Schema& fields, const std::string& name) {
  const auto field = std::ranges::find(fields.fields, name, &wire::Field::name);
  return field != fields.fields.end() && field->nullable;
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
arrow::Result<Batch> ColumnFileWriter::WithDeleted(RowRange physical, const Batch& live) const {
  arrow::Int64Builder rows;  // of `live`, with the empty value behind them, or null
  arrow::Int64Builder rows_or_null;
  const auto deleted = deletions_->offsets();
  auto next = std::ranges::lower_bound(deleted, physical.begin);
  int64_t source = 0;
  for (uint64_t row = physical.begin; row < physical.end; ++row) {
    if (next != deleted.end() && *next == row) {
      ++next;
      ARROW_RETURN_NOT_OK(rows.Append(live->num_rows()));
      ARROW_RETURN_NOT_OK(rows_or_null.AppendNull());
    } else {
      ARROW_RETURN_NOT_OK(rows.Append(source));
      ARROW_RETURN_NOT_OK(rows_or_null.Append(source++));
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto indices, rows.Finish());
  ARROW_ASSIGN_OR_RAISE(const auto indices_or_null, rows_or_null.Finish());
  arrow::ArrayVector columns;
  for (int i = 0; i < live->num_columns(); ++i) {
    auto column = live->column(i);
    const bool nullable = MayBeNull(fields_, live->column_name(i));
    if (!nullable) {
      ARROW_ASSIGN_OR_RAISE(const auto empty, EmptyValue(column->type()));
      ARROW_ASSIGN_OR_RAISE(column, query::JoinRows({column, empty}));
    }
    ARROW_ASSIGN_OR_RAISE(columns.emplace_back(),
                          query::TakeKnownRows(*column, nullable ? *indices_or_null : *indices));
  }
  return arrow::RecordBatch::Make(live->schema(), indices->length(), std::move(columns));
}

// The range in pieces, so that few live rows among many deleted ones stay small.
arrow::Status ColumnFileWriter::WriteFilled(RowRange physical, const Batch& live) {
  int64_t used = 0;
  while (physical.begin < physical.end) {
    const RowRange piece{physical.begin, std::min(physical.begin + kFillRows, physical.end)};
    const auto num_live = static_cast<int64_t>(CountRows(deletions_->LiveRanges(piece)));
    ARROW_ASSIGN_OR_RAISE(const auto filled, WithDeleted(piece, live->Slice(used, num_live)));
    ARROW_RETURN_NOT_OK(writer_.Write(*filled));
    used += num_live;
    physical.begin = piece.end;
  }
  return arrow::Status::OK();
}

arrow::Status ColumnFileWriter::Write(uint64_t physical_rows, const Batch& live) {
  const RowRange physical{rows_, rows_ + physical_rows};
  if (physical.end > physical_rows_) {
    return InvalidInput("values for {} rows, more than the {} of the fragment", physical.end,
                        physical_rows_);
  }
  const uint64_t num_live = CountRows(deletions_->LiveRanges(physical));
  if (static_cast<uint64_t>(live->num_rows()) != num_live) {
    return InvalidInput("new batch has different size with the source batch: {} != {}", num_live,
                        live->num_rows());
  }
  return WriteRange(physical, live);
}

arrow::Status ColumnFileWriter::WriteLive(const Batch& live) {
  RowRange physical{rows_, rows_ + static_cast<uint64_t>(live->num_rows())};
  const auto deleted = deletions_->offsets();
  for (auto next = std::ranges::lower_bound(deleted, physical.begin);
       next != deleted.end() && *next < physical.end; ++next) {
    ++physical.end;
  }
  num_live_ += static_cast<uint64_t>(live->num_rows());
  if (physical.end > physical_rows_) {
    return InvalidInput("values for {} rows, more than the {} of the fragment", num_live_,
                        physical_rows_ - deleted.size());
  }
  return WriteRange(physical, live);
}

arrow::Status ColumnFileWriter::WriteDeleted(RowRange physical) {
  ARROW_ASSIGN_OR_RAISE(const auto schema, wire::ToArrow(fields_));
  ARROW_ASSIGN_OR_RAISE(const auto nothing, arrow::RecordBatch::MakeEmpty(schema));
  ARROW_RETURN_NOT_OK(WriteFilled(physical, nothing));
  rows_ = physical.end;
  return arrow::Status::OK();
}

arrow::Status ColumnFileWriter::WriteRange(RowRange physical, const Batch& live) {
  if (live->num_rows() == 0) return WriteDeleted(physical);
  ARROW_ASSIGN_OR_RAISE(const auto form, StoredForm::Make(*live->schema(), fields_));
  ARROW_ASSIGN_OR_RAISE(const auto stored, form.Convert(live));
  const bool any_deleted = static_cast<uint64_t>(live->num_rows()) != physical.size();
  ARROW_RETURN_NOT_OK(any_deleted ? WriteFilled(physical, stored) : writer_.Write(*stored));
  rows_ = physical.end;
  return arrow::Status::OK();
}

arrow::Result<ColumnFile> ColumnFileWriter::Finish() && {
  const RowRange rest{rows_, physical_rows_};
  if (CountRows(deletions_->LiveRanges(rest)) == 0) ARROW_RETURN_NOT_OK(WriteDeleted(rest));
  if (rows_ != physical_rows_) {
    if (num_live_ > 0) {
      return InvalidInput("values for {} rows of a fragment that has {} live ones", num_live_,
                          physical_rows_ - deletions_->size());
    }
    return InvalidInput("values for {} rows of a fragment that has {}", rows_, physical_rows_);
  }
  ARROW_ASSIGN_OR_RAISE(WrittenFragments written, std::move(writer_).Finish());
  ColumnFile result{.file = std::nullopt, .files = std::move(written.files)};
  if (!written.fragments.empty()) {
    result.file = std::move(written.fragments.front().files.front());
  }
  return result;
}

void AddFile(wire::DataFragment* fragment, const wire::DataFile& file) {
  for (wire::DataFile& old : fragment->files) {
    for (int32_t& id : old.fields) {
      if (std::ranges::count(file.fields, id) > 0) id = wire::kTombstoneFieldId;
    }
  }
  std::erase_if(fragment->files, [](const wire::DataFile& old) {
    return std::ranges::all_of(old.fields,
                               [](int32_t id) { return id == wire::kTombstoneFieldId; });
  });
  fragment->files.push_back(file);
}

}  // namespace glaive::dataset
