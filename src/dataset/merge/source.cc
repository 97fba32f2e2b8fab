#include "dataset/merge/source.h"

#include <algorithm>
#include <utility>

#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/byte_size.h>

#include "core/error.h"
#include "core/too_large.h"
#include "dataset/scan/gather.h"
#include "dataset/write/input_stream.h"
#include "query/values/array_rows.h"

namespace glaive::dataset {
namespace {

using RecordBatchPtr = std::shared_ptr<arrow::RecordBatch>;

// Small batches are joined up to so many bytes: rows are gathered from each batch by itself.
constexpr int64_t kJoinedBytes = int64_t{64} << 20;
// Rows that are taken at once may take so many, unless it is one.
constexpr uint64_t kMostTaken = uint64_t{64} << 20;

}  // namespace

arrow::Status MergeSource::Append(RecordBatchPtr batch) {
  if (batch->num_rows() == 0) return arrow::Status::OK();
  const uint64_t num_rows = starts_.back() + static_cast<uint64_t>(batch->num_rows());
  if (num_rows >= UINT32_MAX) return InvalidInput("a merge of 2^32 rows or more");
  batches_.push_back(std::move(batch));
  starts_.push_back(num_rows);
  return arrow::Status::OK();
}

// The small ones of some batches joined.
class MergeSource::Joiner {
 public:
  // Dictionaries stay apart: together they may have more words than their indices can number.
  explicit Joiner(const std::shared_ptr<arrow::Schema>& schema)
      : source_(schema), joins_(std::ranges::none_of(schema->fields(), [](const auto& field) {
          return HasDictionary(*field->type());
        })) {}

  arrow::Status Add(RecordBatchPtr batch) {
    ARROW_ASSIGN_OR_RAISE(const int64_t bytes, arrow::util::ReferencedBufferSize(*batch));
    if (!joins_ || waiting_bytes_ + bytes > kJoinedBytes) ARROW_RETURN_NOT_OK(Join());
    waiting_.push_back(std::move(batch));
    waiting_bytes_ += bytes;
    return arrow::Status::OK();
  }

  arrow::Result<MergeSource> Finish() && {
    ARROW_RETURN_NOT_OK(Join());
    return std::move(source_);
  }

 private:
  static bool HasDictionary(const arrow::DataType& type) {
    return type.id() == arrow::Type::DICTIONARY ||
           std::ranges::any_of(type.fields(),
                               [](const auto& field) { return HasDictionary(*field->type()); });
  }

  arrow::Status Join() {
    if (waiting_.empty()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(auto joined, query::JoinRows(source_.schema_, waiting_));
    waiting_.clear();
    waiting_bytes_ = 0;
    return source_.Append(std::move(joined));
  }

  MergeSource source_;
  bool joins_;
  arrow::RecordBatchVector waiting_;
  int64_t waiting_bytes_ = 0;
};

arrow::Result<MergeSource> MergeSource::Read(
    const std::shared_ptr<arrow::RecordBatchReader>& stream, const ProgressCallback& progress) {
  Joiner joiner(stream->schema());
  while (true) {
    RecordBatchPtr batch;
    ARROW_RETURN_NOT_OK(stream->ReadNext(&batch));
    if (batch == nullptr) break;
    if (progress) ARROW_RETURN_NOT_OK(progress({}));
    ARROW_RETURN_NOT_OK(joiner.Add(std::move(batch)));
  }
  return std::move(joiner).Finish();
}

arrow::Result<MergeSource> MergeSource::As(const wire::Schema& fields) const {
  std::vector<int> columns;
  for (int i = 0; i < schema_->num_fields(); ++i) {
    if (std::ranges::count(fields.fields, schema_->field(i)->name(), &wire::Field::name) > 0) {
      columns.push_back(i);
    }
  }
  ARROW_ASSIGN_OR_RAISE(const MergeSource selected, Select(columns));
  ARROW_ASSIGN_OR_RAISE(const StoredForm form, StoredForm::Make(*selected.schema_, fields));
  Joiner joiner(form.schema());
  for (const RecordBatchPtr& batch : selected.batches_) {
    ARROW_ASSIGN_OR_RAISE(auto converted, form.Convert(batch));
    ARROW_RETURN_NOT_OK(joiner.Add(std::move(converted)));
  }
  return std::move(joiner).Finish();
}

arrow::Result<MergeSource> MergeSource::Select(const std::vector<int>& columns) const {
  arrow::FieldVector fields;
  for (const int column : columns) fields.push_back(schema_->field(column));
  MergeSource selected(arrow::schema(std::move(fields)));
  for (const RecordBatchPtr& batch : batches_) {
    ARROW_ASSIGN_OR_RAISE(auto part, batch->SelectColumns(columns));
    ARROW_RETURN_NOT_OK(selected.Append(std::move(part)));
  }
  return selected;
}

double MergeSource::BytesPerRow() const {
  if (num_rows() == 0) return 0;
  int64_t bytes = 0;
  for (const RecordBatchPtr& batch : batches_) {
    bytes += arrow::util::ReferencedBufferSize(*batch).ValueOr(0);
  }
  return static_cast<double>(bytes) / static_cast<double>(num_rows());
}

arrow::Result<RecordBatchPtr> MergeSource::Take(std::span<const uint32_t> rows) const {
  std::vector<RowPlace> places;
  places.reserve(rows.size());
  for (const uint32_t row : rows) {
    const auto after = std::ranges::upper_bound(starts_, uint64_t{row});
    const auto batch = static_cast<uint32_t>(after - starts_.begin() - 1);
    places.push_back({batch, static_cast<uint32_t>(row - starts_[batch])});
  }
  if (CountGatherable(batches_, places, {.bytes = kMostTaken}) < places.size()) {
    return TooLarge("{} rows of a merge take more than {} bytes", rows.size(), kMostTaken);
  }
  return GatherRows(schema_, batches_, places);
}

}  // namespace glaive::dataset
