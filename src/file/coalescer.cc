#include "file/coalescer.h"

#include <algorithm>
#include <array>
#include <utility>

namespace glaive::file {
namespace {

constexpr uint64_t kRowLimitFloorBits = uint64_t{8} * (8 << 20);  // what (c) asks a page to hold
constexpr uint64_t kChunkBits = uint64_t{8} * (1 << 20);       // rows are gathered up to about this
constexpr uint64_t kKeptSliceBits = uint64_t{8} * (64 << 10);  // smaller slices are always gathered

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
                     bool keep_slices, Sink sink, Size size)
    : columns_(columns),
      keep_slices_(keep_slices),
      sink_(std::move(sink)),
      size_(std::move(size)),
      cache_bits_(BitsOf(limits.data_cache_bytes)),
      page_bits_(BitsOf(limits.max_page_bytes)),
      file_bits_(BitsOf(limits.max_bytes)),
      max_rows_(limits.max_rows),
      group_rows_(limits.max_rows_per_group) {
  pages_.reserve(columns.size());
  for (const LeafColumn& column : columns) pages_.emplace_back(column);
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
  for (const OpenPage& page : pages_) bits += page.num_bits;
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

// Takes rows up to the next one that closes a page; closes what that row closes if it is at hand.
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
  return arrow::Status::OK();
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
    if (page.num_rows == 0) continue;
    if (OpenBits(column, row + 1) > page_bits_) {
      ARROW_RETURN_NOT_OK(Close(column, PageEnd::kPageBytes));
    } else if (group_rows_ && page.num_rows >= *group_rows_ &&
               page.num_bits >= kRowLimitFloorBits) {
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

arrow::Result<ClosedPage> Coalescer::Take(size_t column, PageEnd end) {
  OpenPage& page = pages_[column];
  if (page.chunk.num_rows() > 0) {
    ARROW_ASSIGN_OR_RAISE(page.pieces.emplace_back(), page.chunk.Finish());
  }
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
  page.num_rows = page.num_bits = page.chunk_bits = 0;
  page.borrowed_from = position_;
  return closed;
}

arrow::Status Coalescer::Close(size_t column, PageEnd end) {
  ARROW_ASSIGN_OR_RAISE(ClosedPage closed, Take(column, end));
  ARROW_ASSIGN_OR_RAISE(const uint64_t written, sink_(std::move(closed)));
  written_bits_ = BitsOf(written);
  is_written_exact_ = false;
  return arrow::Status::OK();
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
  for (size_t column = 0; column < columns_.size(); ++column) {
    if (pages_[column].num_rows == 0) continue;
    ARROW_ASSIGN_OR_RAISE(closed.emplace_back(), Take(column, PageEnd::kFileEnd));
  }
  input_ = nullptr;
  return closed;
}

}  // namespace glaive::file
