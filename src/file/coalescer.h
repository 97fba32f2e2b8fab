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
  // Rows of an open page are offered once it holds an eighth of what it may, and so many bytes;
  // then whenever there are so many more. The first are enough to tell how they are best encoded,
  // and to be no small page should it end.
  uint64_t first_offer_bytes = uint64_t{8} << 20;
  uint64_t offer_bytes = uint64_t{4} << 20;
};

// Rows of one column that make a page.
struct ClosedPage {
  size_t column = 0;
  std::vector<std::shared_ptr<arrow::ArrayData>> pieces;  // pruned to the column's leaf; none of
                                                          // rows that were taken before
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
// A row above a limit is a page of its own. Rows of a large page may be taken while it is open, at
// rows that its bytes alone tell. It ends as well, by (e), where those rows cannot go on with what
// was made of the ones before. While one page is taken so, those of other columns wait for its end;
// when they are a quarter of data_cache_bytes it ends, by (b).
//
// Rows of the current input are borrowed; what is still
// open when the next one comes is copied out of it, so that no input is held for the sake of a few
// of its rows.
class Coalescer {
 public:
  // Takes a page and returns how many bytes the file has with it, at most.
  using Sink = std::function<arrow::Result<uint64_t>(ClosedPage)>;
  // How many it has, which only then has to be known.
  using Size = std::function<arrow::Result<uint64_t>()>;
  // What becomes of rows that an open page has. Those that are taken need not be there any more.
  enum class Offer : uint8_t {
    kTaken,
    kLater,   // are to be offered again, with more
    kNever,   // stay, as all of the page
    kEndPage  // cannot be in one page with those that were taken
  };
  using Pieces = std::vector<std::shared_ptr<arrow::ArrayData>>;
  using Take = std::function<arrow::Result<Offer>(size_t column, Pieces& pieces)>;

  // Borrows the columns. With `keep_slices` inputs hold little more than their rows, and large
  // slices of them are kept as they are. `take` may be null.
  Coalescer(std::span<const LeafColumn> columns, const CoalescerLimits& limits, bool keep_slices,
            Sink sink, Size size, Take take = nullptr);

  // Takes rows from `offset` on and says how many: fewer than there are only when the file is full.
  arrow::Result<int64_t> Add(std::shared_ptr<const InputRows> rows, int64_t offset);

  // Whether the file has reached its limit of rows or bytes.
  bool full() const { return full_; }
  uint64_t num_rows() const { return num_rows_; }
  uint64_t open_bytes() const;  // that are not taken

  // Copies what is still open out of the input, which is free to go then.
  arrow::Status LetGoOfInput();

  // What is still open, in order of the columns; first, where rows were taken, that page.
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
    uint64_t taken_rows = 0;    // the first ones
    uint64_t taken_bits = 0;
    uint64_t next_offer_bits = 0;  // once it holds so many
  };

  uint64_t OpenBits(size_t column, int64_t row) const;
  uint64_t AllOpenBits(int64_t row) const;
  arrow::Status Step();
  void AdvanceTo(int64_t row);
  int64_t NextClosing(int64_t from, int64_t end) const;
  arrow::Status CloseFor(int64_t row);
  int64_t NextOffer(int64_t end) const;
  arrow::Status OfferRows();
  arrow::Result<Offer> OfferTo(size_t column);
  static arrow::Status FinishChunk(OpenPage& page);
  ClosedPage CloseTaken(size_t column);
  arrow::Result<ClosedPage> CloseOpen(size_t column, PageEnd end);
  arrow::Result<bool> CompleteTaken(size_t column);
  arrow::Status Emit(ClosedPage page);
  arrow::Status Close(size_t column, PageEnd end);

  std::span<const LeafColumn> columns_;
  bool keep_slices_;
  Sink sink_;
  Size size_;
  Take take_;
  uint64_t cache_bits_;
  uint64_t page_bits_;
  uint64_t file_bits_;
  uint64_t max_rows_;
  std::optional<uint64_t> group_rows_;

  uint64_t first_offer_bits_;
  uint64_t offer_bits_;
  std::optional<size_t> growing_;  // the column of whose open page rows were taken
  uint64_t waiting_bits_ = 0;      // of pages closed since then

  std::vector<OpenPage> pages_;
  std::shared_ptr<const InputRows> input_;
  int64_t position_ = 0;  // rows of the input before it are in pages
  uint64_t num_rows_ = 0;
  uint64_t written_bits_ = 0;  // of the file, at most
  bool is_written_exact_ = true;
  bool full_ = false;
};

}  // namespace glaive::file
