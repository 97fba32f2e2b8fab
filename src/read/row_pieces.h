#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/pieces.h"
#include "core/ranges.h"
#include "file/file_reader.h"
#include "read/row_ranges.h"

namespace glaive::read {

// What a piece of rows may come to.
struct PieceLimits {
  uint64_t bytes = 0;     // about, decoded
  uint64_t min_rows = 1;  // that were asked for, and come together if a batch can hold them
  uint64_t max_rows = UINT64_MAX;
  uint64_t multiple = 1;  // whole batches of so many rows, where any fit
};

// Decoded values that a batch of several rows may hold: 32-bit offsets reach what overlays bring on
// top as well.
inline constexpr uint64_t kMostBytes = uint64_t{1} << 30;

// Decoded values that a reading of several rows may take, where it is meant to take so many: more
// than the estimate is off by, usually.
uint64_t MostBytes(uint64_t piece_bytes);
inline uint64_t MostBytes(const PieceLimits& limits) {
  return limits.min_rows > 1 ? kMostBytes : MostBytes(limits.bytes);
}

// How many of the rows at the front of some ranges fit, at least one. The one place that cuts rows
// by what they decode to.
uint64_t RowsWithin(std::span<const RowRange> rows, const PieceLimits& limits,
                    const std::function<file::FileReader::RowSize(uint64_t)>& size_from);

// Reads rows in pieces (core/pieces.h). Reader is a FragmentReader or FragmentScan, or what has
// their Read and SizeFrom. Borrows it.
template <typename Reader>
class RowPieces {
 public:
  RowPieces(const Reader& reader, std::vector<RowRange> rows, PieceLimits limits)
      : reader_(reader),
        rows_(std::move(rows)),
        limits_(limits),
        pieces_(CountRows(rows_), [this](uint64_t begin) { return FitFrom(begin); }) {}
  RowPieces(const RowPieces&) = delete;
  RowPieces& operator=(const RowPieces&) = delete;

  bool at_end() const { return pieces_.at_end(); }
  uint64_t done() const { return pieces_.done(); }
  uint64_t largest() const { return pieces_.largest(); }

  // What `finish` makes of the rows of the next piece; its TooLarge makes the piece smaller, too.
  template <typename Finish>
  auto Next(const Finish& finish) {
    using Rows = typename decltype(reader_.Read({}, 0))::ValueType;
    using Made = std::invoke_result_t<const Finish&, Rows>;
    return pieces_.Next([&](Piece piece) -> Made {
      const uint64_t most = piece.is_single() ? UINT64_MAX : MostBytes(limits_);
      ARROW_ASSIGN_OR_RAISE(auto rows, reader_.Read(Window(rows_, piece.begin, piece.size), most));
      return finish(std::move(rows));
    });
  }

 private:
  uint64_t FitFrom(uint64_t begin) const {
    const auto size_from = [this](uint64_t row) { return reader_.SizeFrom(row); };
    if (begin == 0) return RowsWithin(rows_, limits_, size_from);
    return RowsWithin(Window(rows_, begin, UINT64_MAX), limits_, size_from);
  }

  const Reader& reader_;
  const std::vector<RowRange> rows_;
  const PieceLimits limits_;
  Pieces pieces_;
};

}  // namespace glaive::read
