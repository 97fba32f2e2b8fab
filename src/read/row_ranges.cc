#include "read/row_ranges.h"

#include <algorithm>
#include <cstddef>

namespace glaive::read {
namespace {

void Append(std::vector<RowRange>& ranges, RowRange range) {
  if (!ranges.empty() && ranges.back().end == range.begin) {
    ranges.back().end = range.end;
  } else {
    ranges.push_back(range);
  }
}

}  // namespace

std::vector<RowRange> LiveWindow(const table::DeletionVector& deletions, RowRange live) {
  if (live.size() == 0) return {};
  if (deletions.empty()) return {live};
  const uint64_t first = deletions.PhysicalOffset(live.begin);
  const uint64_t last = deletions.PhysicalOffset(live.end - 1);
  return deletions.LiveRanges({first, last + 1});
}

std::vector<RowRange> Window(std::span<const RowRange> ranges, uint64_t first, uint64_t count) {
  std::vector<RowRange> window;
  for (const RowRange& range : ranges) {
    if (count == 0) break;
    if (first >= range.size()) {
      first -= range.size();
      continue;
    }
    const uint64_t begin = range.begin + first;
    const uint64_t size = std::min(count, range.end - begin);
    window.push_back({begin, begin + size});
    count -= size;
    first = 0;
  }
  return window;
}

std::vector<RowRange> Pick(std::span<const RowRange> ranges, std::span<const uint32_t> positions) {
  std::vector<RowRange> picked;
  size_t at = 0;
  uint64_t before = 0;  // rows of the ranges before `at`
  for (const uint32_t position : positions) {
    while (position - before >= ranges[at].size()) before += ranges[at++].size();
    const uint64_t row = ranges[at].begin + (position - before);
    Append(picked, {row, row + 1});
  }
  return picked;
}

std::vector<RowRange> ToRanges(std::span<const uint64_t> sorted_rows) {
  std::vector<RowRange> ranges;
  for (const uint64_t row : sorted_rows) Append(ranges, {row, row + 1});
  return ranges;
}

}  // namespace glaive::read
