#include <algorithm>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/chunked_array.h>
#include <arrow/table.h>

#include "dataset/scan/array_bytes.h"
#include "dataset/write/sliceable_reader.h"
#include "glaive/write.h"

namespace glaive {
namespace {

// Bytes of a column's rows before any of them.
class ColumnBytes {
 public:
  explicit ColumnBytes(const arrow::ChunkedArray& column) : chunks_(column.chunks()) {
    for (const auto& chunk : chunks_) {
      first_rows_.push_back(first_rows_.back() + static_cast<uint64_t>(chunk->length()));
      bytes_.push_back(bytes_.back() + dataset::ArrayBytes(*chunk->data(), 0, chunk->length()));
    }
  }

  uint64_t Before(uint64_t row) const {
    const auto past = std::ranges::upper_bound(first_rows_, row);
    const auto chunk = static_cast<size_t>(past - first_rows_.begin()) - 1;
    if (chunk == chunks_.size()) return bytes_.back();
    const auto rest = static_cast<int64_t>(row - first_rows_[chunk]);
    return bytes_[chunk] + dataset::ArrayBytes(*chunks_[chunk]->data(), 0, rest);
  }

 private:
  const arrow::ArrayVector& chunks_;
  std::vector<uint64_t> first_rows_ = {0};  // of each chunk, and one past the last row
  std::vector<uint64_t> bytes_ = {0};       // before each chunk, and of all
};

class TableReader final : public dataset::SliceableReader {
 public:
  explicit TableReader(std::shared_ptr<arrow::Table> table)
      : table_(std::move(table)), batches_(*table_) {
    for (const auto& column : table_->columns()) columns_.emplace_back(*column);
  }

  std::shared_ptr<arrow::Schema> schema() const override { return table_->schema(); }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    return batches_.ReadNext(batch);
  }

  uint64_t num_rows() const override { return static_cast<uint64_t>(table_->num_rows()); }

  uint64_t BytesBefore(uint64_t row) const override {
    uint64_t bytes = 0;
    for (const ColumnBytes& column : columns_) bytes += column.Before(row);
    return bytes;
  }

  bool is_in_memory() const override { return true; }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Slice(uint64_t first_row,
                                                                 uint64_t num_rows) const override {
    return std::make_shared<arrow::TableBatchReader>(
        table_->Slice(static_cast<int64_t>(first_row), static_cast<int64_t>(num_rows)));
  }

 private:
  std::shared_ptr<arrow::Table> table_;
  arrow::TableBatchReader batches_;
  std::vector<ColumnBytes> columns_;
};

}  // namespace

std::shared_ptr<arrow::RecordBatchReader> ReadTable(std::shared_ptr<arrow::Table> table) {
  return std::make_shared<TableReader>(std::move(table));
}

}  // namespace glaive
