#include "file/coalescer.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace glaive::file {
namespace {

constexpr uint64_t kRowLimitFloorBits = uint64_t{8} * (8 << 20);  // what (c) asks a page to hold
constexpr uint64_t kChunkBits = uint64_t{8} * (1 << 20);       // rows are gathered up to about this
constexpr uint64_t kKeptSliceBits = uint64_t{8} * (64 << 10);  // smaller slices are always gathered
constexpr uint64_t kFirstOfferShare = 8;                       // of the limit on pages
constexpr uint64_t kWaitingShare = 4;                          // of the limit on all open pages

uint64_t BitsOf(uint64_t bytes) { return bytes > UINT64_MAX / 16 ? UINT64_MAX / 2 : 8 * bytes; }

// The first row of [begin, end) for which `holds`, which once true stays true; `end` if none.
template <typename Holds>
int64_t FirstRow(int64_t begin, int64_t end, const Holds& holds) {
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    if (holds(middle)) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

}  // namespace

Coalescer::Coalescer(std::span<const LeafColumn> columns, const CoalescerLimits& limits,
                     bool keep_slices, Sink sink, Size size, Take take)
    : columns_(columns),
      keep_slices_(keep_slices),
      sink_(std::move(sink)),
      size_(std::move(size)),
      take_(std::move(take)),
      cache_bits_(BitsOf(limits.data_cache_bytes)),
      page_bits_(BitsOf(limits.max_page_bytes)),
      file_bits_(BitsOf(limits.max_bytes)),
      max_rows_(limits.max_rows),
      group_rows_(limits.max_rows_per_group),
      first_offer_bits_(take_ == nullptr
                            ? UINT64_MAX
                            : std::max(BitsOf(limits.first_offer_bytes),
                                       std::min(cache_bits_, page_bits_) / kFirstOfferShare)),
      offer_bits_(BitsOf(limits.offer_bytes)) {
  pages_.reserve(columns.size());
  for (const LeafColumn& column : columns) {
    pages_.emplace_back(column).next_offer_bits = first_offer_bits_;
  }
}

// What the open page of a column holds once it has the input's rows before `row`.
uint64_t Coalescer::OpenBits(size_t column, int64_t row) const {
  const OpenPage& page = pages_[column];
  return page.num_bits + columns_[column].BitsBefore(*input_->columns[column], row) -
         page.bits_here;
}

uint64_t Coalescer::AllOpenBits(int64_t row) const {
  uint64_t bits = 0;
  for (size_t column = 0; column < columns_.size(); ++column) bits += OpenBits(column, row);
  return bits;
}

uint64_t Coalescer::open_bytes() const {
  uint64_t bits = 0;
  for (const OpenPage& page : pages_) bits += page.num_bits - page.taken_bits;
  return bits / 8;
}

arrow::Result<int64_t> Coalescer::Add(std::shared_ptr<const InputRows> rows, int64_t offset) {
  ARROW_RETURN_NOT_OK(LetGoOfInput());
  input_ = std::move(rows);
  position_ = offset;
  for (size_t column = 0; column < columns_.size(); ++column) {
    pages_[column].borrowed_from = offset;
    pages_[column].bits_here = columns_[column].BitsBefore(*input_->columns[column], offset);
  }
  while (!full_ && position_ < input_->num_rows) ARROW_RETURN_NOT_OK(Step());
  return position_ - offset;
}

// Takes rows up to the next one that closes a page, or of which those before it are offered; closes
// what that row closes if it is at hand.
arrow::Status Coalescer::Step() {
  int64_t end = input_->num_rows;
  if (const uint64_t room = max_rows_ - num_rows_; room < static_cast<uint64_t>(end - position_)) {
    end = position_ + static_cast<int64_t>(room);
  }
  int64_t stop = NextClosing(position_, end);
  if (stop == position_) {
    ARROW_RETURN_NOT_OK(CloseFor(position_));
    stop = NextClosing(position_ + 1, end);
  }
  stop = NextOffer(stop);
  const auto reaches_file_limit = [&](int64_t row) {
    return written_bits_ + AllOpenBits(row + 1) >= file_bits_;
  };
  if (reaches_file_limit(stop - 1) && !is_written_exact_) {
    ARROW_ASSIGN_OR_RAISE(const uint64_t written, size_());
    written_bits_ = BitsOf(written);
    is_written_exact_ = true;
  }
  if (reaches_file_limit(stop - 1)) {
    stop = FirstRow(position_, stop, reaches_file_limit) + 1;
    full_ = true;
  }
  AdvanceTo(stop);
  full_ = full_ || num_rows_ == max_rows_;
  return OfferRows();
}

void Coalescer::AdvanceTo(int64_t row) {
  const auto added = static_cast<uint64_t>(row - position_);
  for (size_t column = 0; column < columns_.size(); ++column) {
    OpenPage& page = pages_[column];
    const uint64_t bits = columns_[column].BitsBefore(*input_->columns[column], row);
    page.num_bits += bits - page.bits_here;
    page.bits_here = bits;
    page.num_rows += added;
  }
  position_ = row;
  num_rows_ += added;
}

// The first row of [from, end) that would close a page, were all before it taken; `end` if none.
int64_t Coalescer::NextClosing(int64_t from, int64_t end) const {
  for (size_t column = 0; column < columns_.size() && from < end; ++column) {
    const auto passes = [&](int64_t row) { return OpenBits(column, row + 1) > page_bits_; };
    if (passes(end - 1)) end = FirstRow(from, end, passes);
    if (!group_rows_) continue;
    const auto passes_rows = [&](int64_t row) {
      return pages_[column].num_rows + static_cast<uint64_t>(row - position_) >= *group_rows_ &&
             OpenBits(column, row) >= kRowLimitFloorBits;
    };
    if (from < end && passes_rows(end - 1)) end = FirstRow(from, end, passes_rows);
  }
  const auto passes_cache = [&](int64_t row) { return AllOpenBits(row + 1) > cache_bits_; };
  if (from < end && passes_cache(end - 1)) end = FirstRow(from, end, passes_cache);
  return end;
}

// Closes the pages that `row`, which is the next, would make pass a limit.
arrow::Status Coalescer::CloseFor(int64_t row) {
  for (size_t column = 0; column < columns_.size(); ++column) {
    const OpenPage& page = pages_[column];
    while (page.num_rows > 0 && OpenBits(column, row + 1) > page_bits_) {
      ARROW_RETURN_NOT_OK(Close(column, PageEnd::kPageBytes));
    }
    if (group_rows_ && page.num_rows >= *group_rows_ && page.num_bits >= kRowLimitFloorBits) {
      ARROW_RETURN_NOT_OK(Close(column, PageEnd::kRowLimit));
    }
  }
  while (AllOpenBits(row + 1) > cache_bits_) {
    const auto largest = std::ranges::max_element(pages_, {}, [](const OpenPage& page) {
      return page.num_rows == 0 ? 0 : page.num_bits + 1;
    });
    if (largest == pages_.end() || largest->num_rows == 0) break;  // one row is above the limit
    ARROW_RETURN_NOT_OK(Close(static_cast<size_t>(largest - pages_.begin()), PageEnd::kCacheBytes));
  }
  return arrow::Status::OK();
}

// The first row of (position_, end] that all rows before make a page have enough to be offered.
int64_t Coalescer::NextOffer(int64_t end) const {
  if (take_ == nullptr) return end;
  for (size_t column = 0; column < columns_.size(); ++column) {
    const auto is_due = [&](int64_t row) {
      return OpenBits(column, row) >= pages_[column].next_offer_bits;
    };
    if (is_due(end)) end = FirstRow(position_ + 1, end, is_due);
  }
  return end;
}

arrow::Status Coalescer::OfferRows() {
  for (size_t column = 0; column < columns_.size(); ++column) {
    if (pages_[column].num_bits < pages_[column].next_offer_bits) continue;
    ARROW_ASSIGN_OR_RAISE(const Offer offer, OfferTo(column));
    if (offer == Offer::kEndPage) {
      ARROW_RETURN_NOT_OK(Emit(CloseTaken(column)));
    }
  }
  return arrow::Status::OK();
}

// Offers the rows of an open page that were not taken.
arrow::Result<Coalescer::Offer> Coalescer::OfferTo(size_t column) {
  OpenPage& page = pages_[column];
  ARROW_RETURN_NOT_OK(FinishChunk(page));
  const bool borrows = page.borrowed_from < position_;
  if (borrows) {
    page.pieces.push_back(
        input_->columns[column]->Slice(page.borrowed_from, position_ - page.borrowed_from));
  }
  ARROW_ASSIGN_OR_RAISE(const Offer offer, take_(column, page.pieces));
  page.next_offer_bits = offer == Offer::kNever ? UINT64_MAX : page.num_bits + offer_bits_;
  if (offer != Offer::kTaken) {
    if (borrows) page.pieces.pop_back();
    return offer;
  }
  if (page.taken_rows == 0) waiting_bits_ = 0;
  page.pieces.clear();
  page.borrowed_from = position_;
  page.taken_rows = page.num_rows;
  page.taken_bits = page.num_bits;
  growing_ = column;
  return offer;
}

arrow::Status Coalescer::FinishChunk(OpenPage& page) {
  if (page.chunk.num_rows() == 0) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(page.pieces.emplace_back(), page.chunk.Finish());
  page.chunk_bits = 0;
  return arrow::Status::OK();
}

// The rows that were taken, as a page without those behind them, which the next one begins with.
ClosedPage Coalescer::CloseTaken(size_t column) {
  OpenPage& page = pages_[column];
  growing_.reset();
  const ClosedPage closed = {.column = column,
                             .first_row = page.first_row,
                             .num_rows = page.taken_rows,
                             .num_bits = page.taken_bits,
                             .end = PageEnd::kFormatLimit};
  page.first_row += page.taken_rows;
  page.num_rows -= std::exchange(page.taken_rows, 0);
  page.num_bits -= std::exchange(page.taken_bits, 0);
  page.next_offer_bits = first_offer_bits_;
  return closed;
}

arrow::Result<ClosedPage> Coalescer::CloseOpen(size_t column, PageEnd end) {
  OpenPage& page = pages_[column];
  ARROW_RETURN_NOT_OK(FinishChunk(page));
  if (page.borrowed_from < position_) {
    page.pieces.push_back(
        input_->columns[column]->Slice(page.borrowed_from, position_ - page.borrowed_from));
  }
  ClosedPage closed = {.column = column,
                       .pieces = std::exchange(page.pieces, {}),
                       .first_row = page.first_row,
                       .num_rows = page.num_rows,
                       .num_bits = page.num_bits,
                       .end = end};
  page.first_row += page.num_rows;
  page.num_rows = page.num_bits = page.taken_rows = page.taken_bits = 0;
  page.next_offer_bits = first_offer_bits_;
  page.borrowed_from = position_;
  if (growing_ == column) growing_.reset();
  return closed;
}

arrow::Status Coalescer::Emit(ClosedPage page) {
  ARROW_ASSIGN_OR_RAISE(const uint64_t written, sink_(std::move(page)));
  written_bits_ = BitsOf(written);
  is_written_exact_ = false;
  return arrow::Status::OK();
}

// Whether all rows of the column's open page, if it has some that were taken, go into that page.
arrow::Result<bool> Coalescer::CompleteTaken(size_t column) {
  const OpenPage& page = pages_[column];
  if (page.taken_rows == 0 || page.taken_rows == page.num_rows) return true;
  ARROW_ASSIGN_OR_RAISE(const Offer offer, OfferTo(column));
  return offer == Offer::kTaken;
}

// Closes a page; but of one that was taken only what was, if what is behind that does not go there.
arrow::Status Coalescer::Close(size_t column, PageEnd end) {
  ARROW_ASSIGN_OR_RAISE(const bool is_complete, CompleteTaken(column));
  if (!is_complete) return Emit(CloseTaken(column));
  ARROW_ASSIGN_OR_RAISE(ClosedPage closed, CloseOpen(column, end));
  const uint64_t num_bits = closed.num_bits;
  ARROW_RETURN_NOT_OK(Emit(std::move(closed)));
  if (!growing_) return arrow::Status::OK();
  waiting_bits_ += num_bits;
  if (waiting_bits_ < cache_bits_ / kWaitingShare) return arrow::Status::OK();
  return Close(*growing_, PageEnd::kCacheBytes);
}

arrow::Status Coalescer::LetGoOfInput() {
  if (input_ == nullptr) return arrow::Status::OK();
  for (size_t column = 0; column < columns_.size(); ++column) {
    OpenPage& page = pages_[column];
    const arrow::ArrayData& rows = *input_->columns[column];
    const int64_t begin = std::exchange(page.borrowed_from, 0);
    if (begin == position_) continue;
    const uint64_t bits = page.bits_here - columns_[column].BitsBefore(rows, begin);
    const bool kept = keep_slices_ && bits >= kKeptSliceBits;
    if (page.chunk.num_rows() > 0 && (kept || page.chunk_bits + bits > kChunkBits)) {
      ARROW_ASSIGN_OR_RAISE(page.pieces.emplace_back(), page.chunk.Finish());
      page.chunk_bits = 0;
    }
    if (kept) {
      page.pieces.push_back(rows.Slice(begin, position_ - begin));
    } else {
      ARROW_RETURN_NOT_OK(page.chunk.Append(rows, begin, position_));
      page.chunk_bits += bits;
    }
  }
  input_ = nullptr;
  position_ = 0;
  return arrow::Status::OK();
}

arrow::Result<std::vector<ClosedPage>> Coalescer::Finish() {
  std::vector<ClosedPage> closed;
  std::vector<size_t> order(columns_.size());
  std::iota(order.begin(), order.end(), 0);
  if (growing_) {
    std::rotate(order.begin(), order.begin() + static_cast<ptrdiff_t>(*growing_),
                order.begin() + static_cast<ptrdiff_t>(*growing_) + 1);
  }
  for (const size_t column : order) {
    if (pages_[column].num_rows == 0) continue;
    ARROW_ASSIGN_OR_RAISE(const bool is_complete, CompleteTaken(column));
    if (!is_complete) closed.push_back(CloseTaken(column));
    ARROW_ASSIGN_OR_RAISE(closed.emplace_back(), CloseOpen(column, PageEnd::kFileEnd));
  }
  input_ = nullptr;
  return closed;
}

}  // namespace glaive::file
