#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/array.h>
#include <arrow/datum.h>
#include <arrow/result.h>

namespace glaive::query {

// A column put together of pieces that belong to some of its rows each.
class RowPieces {
 public:
  explicit RowPieces(int64_t num_rows) : sources_(static_cast<size_t>(num_rows), kNone) {}

  // REQUIRES: one value for each of the rows, in their order; pieces of one type.
  arrow::Status Add(std::shared_ptr<arrow::Array> values, std::span<const uint32_t> rows);
  // Null in rows that no piece had.
  arrow::Result<arrow::Datum> Finish(const std::shared_ptr<arrow::DataType>& type) const;

 private:
  static constexpr int64_t kNone = -1;

  std::vector<int64_t> sources_;  // which value of all pieces a row has
  arrow::ArrayVector pieces_;
  int64_t size_ = 0;
};

}  // namespace glaive::query
