#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/buffer_builder.h>
#include <arrow/result.h>

#include "file/leaf_column.h"

namespace glaive::file {

// Rows of one leaf column gathered into buffers of their own, so that the batches they came from
// can go. Appending a slice costs its bytes, whatever the column's type, and allocates only as the
// buffers grow; those that follow others begin as large.
class RowChunk {
 public:
  explicit RowChunk(const LeafColumn& column);  // borrows it

  // Rows [begin, end) of a pruned array with valid offsets. `skip_hidden` leaves out what lies
  // behind nulls: items of null lists, bytes of null strings, either below null structs.
  arrow::Status Append(const arrow::ArrayData& rows, int64_t begin, int64_t end,
                       bool skip_hidden = false);

  int64_t num_rows() const { return levels_.front().length; }

  // The rows so far; the chunk is empty again.
  arrow::Result<std::shared_ptr<arrow::ArrayData>> Finish();

 private:
  struct Level {
    explicit Level(arrow::MemoryPool* pool) : validity(pool), values(pool), data(pool) {}

    int64_t length = 0;
    int64_t null_count = 0;
    bool has_validity = false;
    int64_t last_offset = 0;
    arrow::TypedBufferBuilder<bool> validity;
    arrow::BufferBuilder values;               // or offsets
    arrow::TypedBufferBuilder<bool> booleans;  // values of one bit
    arrow::BufferBuilder data;                 // bytes of variable values
    int64_t usual_values = 0;                  // bytes that the last rows to be finished had
    int64_t usual_data = 0;
  };
  using Visible = std::vector<uint8_t>;  // one per slot; a null pointer to it: all

  arrow::Status AppendNode(size_t depth, const arrow::ArrayData& node, int64_t begin, int64_t end,
                           const Visible* visible);
  arrow::Status AppendValidity(Level& level, const arrow::ArrayData& node, int64_t begin,
                               int64_t end);
  template <typename Offset>
  arrow::Status AppendVariable(size_t depth, const arrow::ArrayData& node, int64_t begin,
                               int64_t end, const Visible* visible);

  const LeafColumn& column_;
  bool skip_hidden_ = false;
  std::vector<Level> levels_;
};

}  // namespace glaive::file
