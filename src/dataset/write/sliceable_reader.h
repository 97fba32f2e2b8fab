#pragma once

#include <cstdint>
#include <memory>

#include <arrow/record_batch.h>
#include <arrow/result.h>

namespace glaive::dataset {

// A stream of rows that can also be had from any row on. Thread safe, but for what it has of a
// stream.
class SliceableReader : public arrow::RecordBatchReader {
 public:
  virtual uint64_t num_rows() const = 0;

  // Bytes of rows [0, row), about. Ascends.
  virtual uint64_t BytesBefore(uint64_t row) const = 0;

  // Whether the rows are in memory, read or not.
  virtual bool is_in_memory() const = 0;

  // Rows [first_row, first_row + num_rows), whatever was read of the stream.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Slice(
      uint64_t first_row, uint64_t num_rows) const = 0;
};

}  // namespace glaive::dataset
