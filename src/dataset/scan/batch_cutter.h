#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "dataset/scan/offset_reach.h"

namespace glaive::dataset {

// Cuts batches as they come into batches of at most, or of exactly, so many rows; of fewer where
// more could not be joined, for 32-bit offsets would not reach the last. Copies only where rows of
// several must be joined. Not thread safe.
class BatchCutter {
 public:
  BatchCutter(int64_t max_rows, bool exactly, uint64_t reach = kOffsetReach)
      : max_rows_(max_rows), exactly_(exactly), reach_(reach) {}

  void Add(std::shared_ptr<arrow::RecordBatch> batch);

  // Null when more must be added first; after the last one was, when nothing is left.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next(bool is_last);

 private:
  std::shared_ptr<arrow::RecordBatch> CutFront(int64_t max_rows);
  void PutBack(std::shared_ptr<arrow::RecordBatch> part);
  static void Count(const arrow::RecordBatch& rows, std::vector<uint64_t>& reach);
  bool IsTooFar(const std::vector<uint64_t>& reach) const;

  const int64_t max_rows_;
  const bool exactly_;
  const uint64_t reach_;  // of the offsets of a batch
  std::deque<std::shared_ptr<arrow::RecordBatch>> waiting_;
  int64_t begin_ = 0;                    // rows of the first that are gone
  int64_t rows_ = 0;                     // that wait
  std::vector<uint64_t> waiting_reach_;  // of each column, where rows are joined
};

}  // namespace glaive::dataset
