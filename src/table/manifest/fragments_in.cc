#include "table/manifest/fragments_in.h"

#include <algorithm>

namespace glaive::table {

std::vector<uint64_t> FragmentsIn(const FragmentTable& fragments,
                                  std::span<const RowRange> ranges) {
  constexpr uint64_t kEndOfIds = uint64_t{1} << 32;
  std::vector<RowRange> others;
  uint64_t begin = 0;
  for (const RowRange& range : ranges) {
    if (begin < range.begin) others.push_back({begin, range.begin});
    begin = range.end;
  }
  if (begin < kEndOfIds) others.push_back({begin, kEndOfIds});
  return fragments.IdsBeside(others);
}

bool HasFragmentIn(const FragmentTable& fragments, std::span<const RowRange> ranges) {
  return std::ranges::any_of(ranges, [&](const RowRange& range) {
    const uint64_t position = fragments.PositionOf(range.begin);
    return position < fragments.totals().num_fragments && fragments.At(position).id() < range.end;
  });
}

}  // namespace glaive::table
