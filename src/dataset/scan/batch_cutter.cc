#include "dataset/scan/batch_cutter.h"
#include "query/values/array_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type.h>

namespace glaive::dataset {

void BatchCutter::Add(std::shared_ptr<arrow::RecordBatch> batch) {
  if (batch->num_rows() == 0) return;
  rows_ += batch->num_rows();
  waiting_reach_.resize(static_cast<size_t>(batch->num_columns()));
  if (exactly_) Count(*batch, waiting_reach_);
  waiting_.push_back(std::move(batch));
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> BatchCutter::Next(bool is_last) {
  if (rows_ == 0 || (exactly_ && !is_last && rows_ < max_rows_ && !IsTooFar(waiting_reach_)))
    return nullptr;
  const bool is_enough = waiting_.front()->num_rows() - begin_ >= max_rows_;
  if (!exactly_ || is_enough) return CutFront(max_rows_);
  std::vector<std::shared_ptr<arrow::RecordBatch>> parts;
  std::vector<uint64_t> reach(waiting_reach_.size());
  for (int64_t missing = std::min(rows_, max_rows_); missing > 0;) {
    auto part = CutFront(missing);
    Count(*part, reach);
    if (IsTooFar(reach) && !parts.empty()) {
      PutBack(std::move(part));
      break;
    }
    missing -= part->num_rows();
    parts.push_back(std::move(part));
  }
  return query::JoinRows(parts.front()->schema(), parts);
}

// Adds how far the offsets of each column reach.
void BatchCutter::Count(const arrow::RecordBatch& rows, std::vector<uint64_t>& reach) {
  for (size_t i = 0; i < reach.size(); ++i)
    reach[i] += OffsetReach(*rows.column(static_cast<int>(i)));
}

bool BatchCutter::IsTooFar(const std::vector<uint64_t>& reach) const {
  return std::ranges::any_of(reach, [this](uint64_t of_column) { return of_column > reach_; });
}

// In front of those that wait.
void BatchCutter::PutBack(std::shared_ptr<arrow::RecordBatch> part) {
  rows_ += part->num_rows();
  Count(*part, waiting_reach_);
  if (begin_ > 0) {
    begin_ -= part->num_rows();  // it was cut from the one that is in front still
  } else {
    waiting_.push_front(std::move(part));
  }
}

std::shared_ptr<arrow::RecordBatch> BatchCutter::CutFront(int64_t max_rows) {
  const std::shared_ptr<arrow::RecordBatch> front = waiting_.front();
  const int64_t size = std::min(max_rows, front->num_rows() - begin_);
  auto cut = size == front->num_rows() ? front : front->Slice(begin_, size);
  rows_ -= size;
  begin_ += size;
  if (begin_ == front->num_rows()) {
    waiting_.pop_front();
    begin_ = 0;
  }
  if (exactly_) {
    for (size_t i = 0; i < waiting_reach_.size(); ++i) {
      waiting_reach_[i] -= OffsetReach(*cut->column(static_cast<int>(i)));
    }
  }
  return cut;
}

}  // namespace glaive::dataset
