#include "read/row_pieces.h"

#include <algorithm>

namespace glaive::read {

uint64_t MostBytes(uint64_t piece_bytes) {
  constexpr uint64_t kFactor = 4;
  constexpr uint64_t kLeast = uint64_t{1} << 20;
  return std::clamp(std::min(piece_bytes, kMostBytes) * kFactor, kLeast, kMostBytes);
}

uint64_t RowsWithin(std::span<const RowRange> rows, const PieceLimits& limits,
                    const std::function<file::FileReader::RowSize(uint64_t)>& size_from) {
  constexpr double kLeastBytes = 1e-3;  // of a row
  double left = static_cast<double>(limits.bytes);
  uint64_t fit = 0;
  file::FileReader::RowSize size{.bytes = 0, .end = 0};
  for (const RowRange& range : rows) {
    uint64_t row = range.begin;
    while (row < range.end && fit < limits.max_rows) {
      if (row >= size.end) size = size_from(row);
      const uint64_t end = std::max(row + 1, std::min(size.end, range.end));
      const double bytes = std::max(size.bytes, kLeastBytes);
      const double within = left / bytes;
      const uint64_t step = std::min(end - row, limits.max_rows - fit);
      if (within < static_cast<double>(step)) {
        fit += static_cast<uint64_t>(std::max(within, 0.0));
        left = 0;
        break;
      }
      left -= bytes * static_cast<double>(step);
      fit += step;
      row += step;
    }
    if (left <= 0 || fit >= limits.max_rows) break;
  }
  if (fit > limits.multiple) fit -= fit % limits.multiple;
  return std::max({fit, std::min(limits.min_rows, limits.max_rows), uint64_t{1}});
}

}  // namespace glaive::read
