#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "wire/schema.h"

namespace glaive::dataset {

// Rows in memory that are found by the value of one of their columns. Keys are equal where their
// bytes are, and null is equal to null; of several rows with one key the last is found. Immutable.
class JoinTable {
 public:
  // All rows of the stream, to be found by `key` as a column of type `left`; the other columns in
  // the form that columns of `kept` with their names have. Errors: InvalidInput for a key that is
  // not there, or is of another type.
  static arrow::Result<std::shared_ptr<const JoinTable>> Read(arrow::RecordBatchReader& stream,
                                                              std::string_view key,
                                                              const arrow::DataType& left,
                                                              const wire::Schema& kept);

  // The other columns.
  const std::shared_ptr<arrow::RecordBatch>& values() const { return values_; }

  // The row of `values` for each key: an array of int64, null where there is none. REQUIRES: keys
  // of the type that Read was told.
  arrow::Result<std::shared_ptr<arrow::Array>> Find(const arrow::Array& keys) const;

 private:
  JoinTable() = default;
  void Insert(const arrow::Array& keys);

  std::shared_ptr<arrow::RecordBatch> values_;
  std::shared_ptr<arrow::Array> keys_;  // what `by_bytes_` looks at
  std::unordered_map<uint64_t, int64_t> by_word_;
  std::unordered_map<std::string_view, int64_t> by_bytes_;
  std::optional<int64_t> of_null_;
};

// The columns of `values` in these rows, nulls where a row is null.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> TakeJoined(
    const arrow::RecordBatch& values, const std::shared_ptr<arrow::Array>& rows);

}  // namespace glaive::dataset
