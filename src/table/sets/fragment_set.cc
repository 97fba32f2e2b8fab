#include "table/sets/fragment_set.h"

#include <algorithm>

#include "table/sets/roaring.h"
#include "wire/fields.h"

namespace glaive::table {

arrow::Result<FragmentSet> FragmentSet::Parse(std::string_view bitmap, Location where) {
  FragmentSet set;
  ARROW_ASSIGN_OR_RAISE(set.ranges_, ParseRoaring(wire::AsBytes(bitmap), where));
  return set;
}

// In pylance's form, but for more fragments than a table has, of which that form would be large.
std::string FragmentSet::Serialize() const {
  constexpr uint64_t kMany = uint64_t{1} << 22;
  return CountRows(ranges_) < kMany ? SerializeRoaring(ranges_) : SerializeRoaringWithRuns(ranges_);
}

bool FragmentSet::Contains(uint64_t id) const {
  const auto range = std::ranges::upper_bound(ranges_, id, {}, &RowRange::end);
  return range != ranges_.end() && range->begin <= id;
}

bool FragmentSet::ContainsAll(std::span<const uint64_t> ids) const {
  return std::ranges::all_of(ids, [&](uint64_t id) { return Contains(id); });
}

bool FragmentSet::ContainsAny(std::span<const uint64_t> ids) const {
  return std::ranges::any_of(ids, [&](uint64_t id) { return Contains(id); });
}

void FragmentSet::Add(std::vector<uint64_t> ids) {
  std::vector<RowRange> all = std::move(ranges_);
  for (const uint64_t id : ids) all.push_back({id, id + 1});
  std::ranges::sort(all, {}, &RowRange::begin);
  ranges_.clear();
  for (const RowRange& range : all) {
    if (!ranges_.empty() && range.begin <= ranges_.back().end) {
      ranges_.back().end = std::max(ranges_.back().end, range.end);
    } else {
      ranges_.push_back(range);
    }
  }
}

void FragmentSet::Remove(std::vector<uint64_t> ids) {
  std::ranges::sort(ids);
  std::vector<RowRange> left;
  auto id = ids.begin();
  for (RowRange range : ranges_) {
    while (id != ids.end() && *id < range.begin) ++id;
    for (; id != ids.end() && *id < range.end; ++id) {
      if (*id < range.begin) continue;  // named twice
      if (range.begin < *id) left.push_back({range.begin, *id});
      range.begin = *id + 1;
    }
    if (range.begin < range.end) left.push_back(range);
  }
  ranges_ = std::move(left);
}

}  // namespace glaive::table
