#include "dataset/batch_cutter.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type.h>

namespace glaive::dataset {

void BatchCutter::Add(std::shared_ptr<arrow::RecordBatch> batch) {
  if (batch->num_rows() == 0) return;
  rows_ += batch->num_rows();
  waiting_.push_back(std::move(batch));
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> BatchCutter::Next(bool is_last) {
  if (rows_ == 0 || (exactly_ && !is_last && rows_ < max_rows_)) return nullptr;
  const bool is_enough = waiting_.front()->num_rows() - begin_ >= max_rows_;
  if (!exactly_ || is_enough) return CutFront(max_rows_);
  std::vector<std::shared_ptr<arrow::RecordBatch>> parts;
  for (int64_t missing = std::min(rows_, max_rows_); missing > 0;) {
    parts.push_back(CutFront(missing));
    missing -= parts.back()->num_rows();
  }
  if (parts.size() == 1) return std::move(parts.front());
  if (parts.front()->num_columns() == 0) {
    int64_t rows = 0;
    for (const auto& part : parts) rows += part->num_rows();
    return arrow::RecordBatch::Make(parts.front()->schema(), rows, arrow::ArrayVector{});
  }
  return arrow::ConcatenateRecordBatches(parts);
}

std::shared_ptr<arrow::RecordBatch> BatchCutter::CutFront(int64_t max_rows) {
  std::shared_ptr<arrow::RecordBatch> front = waiting_.front();
  const int64_t size = std::min(max_rows, front->num_rows() - begin_);
  rows_ -= size;
  if (begin_ + size == front->num_rows()) {
    waiting_.pop_front();
    return std::exchange(begin_, 0) == 0 ? front : front->Slice(front->num_rows() - size, size);
  }
  begin_ += size;
  return front->Slice(begin_ - size, size);
}

}  // namespace glaive::dataset
