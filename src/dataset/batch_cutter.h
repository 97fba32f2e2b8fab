#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace glaive::dataset {

// Cuts batches as they come into batches of at most, or of exactly, so many rows. Copies only where
// rows of several must be joined. Not thread safe.
class BatchCutter {
 public:
  BatchCutter(int64_t max_rows, bool exactly) : max_rows_(max_rows), exactly_(exactly) {}

  void Add(std::shared_ptr<arrow::RecordBatch> batch);

  // Null when more must be added first; after the last one was, when nothing is left.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next(bool is_last);

 private:
  std::shared_ptr<arrow::RecordBatch> CutFront(int64_t max_rows);

  const int64_t max_rows_;
  const bool exactly_;
  std::deque<std::shared_ptr<arrow::RecordBatch>> waiting_;
  int64_t begin_ = 0;  // rows of the first that are gone
  int64_t rows_ = 0;   // that wait
};

}  // namespace glaive::dataset
