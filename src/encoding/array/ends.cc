#include "encoding/array/ends.h"

namespace glaive::encoding {

std::vector<RowRange> JoinRanges(std::span<const RowRange> ranges) {
  std::vector<RowRange> joined;
  for (const RowRange& range : ranges) {
    if (range.size() == 0) continue;
    if (!joined.empty() && joined.back().end == range.begin) {
      joined.back().end = range.end;
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

std::vector<RowRange> WithPrevious(std::span<const RowRange> ranges) {
  std::vector<RowRange> longer(ranges.begin(), ranges.end());
  for (RowRange& range : longer) {
    if (range.begin > 0) --range.begin;
  }
  return longer;
}

arrow::Result<Extents> ExtentsOf(std::span<const uint64_t> ends, bool begins_at_zero,
                                 uint64_t null_adjustment, uint64_t most, Location where) {
  Extents extents;
  extents.offsets.reserve(ends.size() + 1);
  if (begins_at_zero) extents.offsets.push_back(0);
  const uint64_t num_slots = ends.size() - (begins_at_zero ? 0 : 1);
  uint64_t previous = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    const bool is_null = ends[i] >= null_adjustment;
    const uint64_t end = is_null ? ends[i] - null_adjustment : ends[i];
    if (end < previous || end > most) {
      return Corrupt(where, "slots end at {} after {}, of {}", end, previous, most);
    }
    previous = end;
    extents.offsets.push_back(end);
    if (!begins_at_zero && i == 0) continue;
    if (is_null && extents.validity.empty()) extents.validity.assign(num_slots, 1);
    if (is_null) extents.validity[extents.offsets.size() - 2] = 0;
  }
  return extents;
}

}  // namespace glaive::encoding
