#pragma once

#include <cstdint>
#include <memory>

#include <arrow/array.h>
#include <arrow/datum.h>
#include <arrow/result.h>

namespace glaive::query {

// The lists of a column, or of a scalar that stands for all rows: which of `values` each has.
class ListValues {
 public:
  struct Range {
    int64_t begin;
    int64_t end;
    int64_t size() const { return end - begin; }
  };

  static arrow::Result<ListValues> Make(const arrow::Datum& value, int64_t num_rows);

  bool IsNull(int64_t row) const { return lists_->IsNull(is_scalar_ ? 0 : row); }
  Range operator[](int64_t row) const;
  const std::shared_ptr<arrow::Array>& values() const { return values_; }
  int64_t num_rows() const { return num_rows_; }

 private:
  ListValues() = default;

  std::shared_ptr<arrow::Array> lists_;
  std::shared_ptr<arrow::Array> values_;
  bool is_scalar_ = false;
  int64_t num_rows_ = 0;
};

}  // namespace glaive::query
