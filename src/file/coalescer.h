#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/result.h>

#include "file/input_rows.h"
#include "file/leaf_column.h"
#include "file/page_end.h"
#include "file/row_chunk.h"

namespace glaive::file {

struct CoalescerLimits {
  uint64_t data_cache_bytes = uint64_t{256} << 20;
  uint64_t max_page_bytes = uint64_t{256} << 20;
  std::optional<uint64_t> max_rows_per_group;
  uint64_t max_rows = UINT64_MAX;
  uint64_t max_bytes = UINT64_MAX;
};

// Rows of one column that make a page.
struct ClosedPage {
  size_t column = 0;
  std::vector<std::shared_ptr<arrow::ArrayData>> pieces;  // pruned to the column's leaf
  uint64_t first_row = 0;
  uint64_t num_rows = 0;
  uint64_t num_bits = 0;  // by the measure of LeafColumn
  PageEnd end = PageEnd::kFileEnd;
};

// Gathers the rows of a file and decides where the pages of each column end, as if rows came one by
// one. A column's open page is closed when the next row would make
//
//   (a) it pass max_page_bytes,
//   (b) all open pages together pass data_cache_bytes, and it holds most,
//   (c) it pass max_rows_per_group, if that is given, and it holds 8 MiB or more.
//
// A row above a limit is a page of its own. Rows of the current input are borrowed; what is still
// open when the next one comes is copied out of it, so that no input is held for the sake of a few
// of its rows.
class Coalescer {
 public:
  // Takes a page and returns how many bytes the file has with it, at most.
  using Sink = std::function<arrow::Result<uint64_t>(ClosedPage)>;
  // How many it has, which only then has to be known.
  using Size = std::function<arrow::Result<uint64_t>()>;

  // Borrows the columns. With `keep_slices` inputs hold little more than their rows, and large
  // slices of them are kept as they are.
  Coalescer(std::span<const LeafColumn> columns, const CoalescerLimits& limits, bool keep_slices,
            Sink sink, Size size);

  // Takes rows from `offset` on and says how many: fewer than there are only when the file is full.
  arrow::Result<int64_t> Add(std::shared_ptr<const InputRows> rows, int64_t offset);

  // Whether the file has reached its limit of rows or bytes.
  bool full() const { return full_; }
  uint64_t num_rows() const { return num_rows_; }
  uint64_t open_bytes() const;

  // Copies what is still open out of the input, which is free to go then.
  arrow::Status LetGoOfInput();

  // What is still open, in order of the columns.
  arrow::Result<std::vector<ClosedPage>> Finish();

 private:
  struct OpenPage {
    explicit OpenPage(const LeafColumn& column) : chunk(column) {}

    std::vector<std::shared_ptr<arrow::ArrayData>> pieces;  // then `chunk`, then what is borrowed
    RowChunk chunk;
    uint64_t chunk_bits = 0;
    uint64_t first_row = 0;
    uint64_t num_rows = 0;
    uint64_t num_bits = 0;
    int64_t borrowed_from = 0;  // row of the current input
    uint64_t bits_here = 0;     // of the current input's rows before `position_`
  };

  uint64_t OpenBits(size_t column, int64_t row) const;
  uint64_t AllOpenBits(int64_t row) const;
  arrow::Status Step();
  void AdvanceTo(int64_t row);
  int64_t NextClosing(int64_t from, int64_t end) const;
  arrow::Status CloseFor(int64_t row);
  arrow::Result<ClosedPage> Take(size_t column, PageEnd end);
  arrow::Status Close(size_t column, PageEnd end);

  std::span<const LeafColumn> columns_;
  bool keep_slices_;
  Sink sink_;
  Size size_;
  uint64_t cache_bits_;
  uint64_t page_bits_;
  uint64_t file_bits_;
  uint64_t max_rows_;
  std::optional<uint64_t> group_rows_;

  std::vector<OpenPage> pages_;
  std::shared_ptr<const InputRows> input_;
  int64_t position_ = 0;  // rows of the input before it are in pages
  uint64_t num_rows_ = 0;
  uint64_t written_bits_ = 0;  // of the file, at most
  bool is_written_exact_ = true;
  bool full_ = false;
};

}  // namespace glaive::file
