#include "dataset/rows/carrier.h"

#include <algorithm>

#include "core/ranges.h"
#include "table/rows/row_ids.h"

namespace glaive::dataset {
namespace {

void Append(uint64_t id, std::vector<RowRange>* ids) {
  if (!ids->empty() && ids->back().end == id) {
    ++ids->back().end;
  } else {
    ids->push_back({id, id + 1});
  }
}

arrow::Result<std::vector<RowRange>> IdsOf(const read::Snapshot& snapshot,
                                           std::span<const uint64_t> addresses) {
  std::vector<RowRange> ids;
  for (auto next = addresses.begin(); next != addresses.end();) {
    const uint64_t fragment_id = *next >> 32;
    ARROW_ASSIGN_OR_RAISE(const wire::DataFragment fragment,
                          snapshot.manifest->fragments.Find(fragment_id)->Parse());
    ARROW_ASSIGN_OR_RAISE(const uint64_t rows, read::PhysicalRows(snapshot, fragment));
    ARROW_ASSIGN_OR_RAISE(const auto of_fragment, read::StableRowIds(snapshot, fragment, rows));
    auto run = of_fragment->runs().begin();
    for (; next != addresses.end() && *next >> 32 == fragment_id; ++next) {
      const uint64_t offset = *next & UINT32_MAX;
      while (offset >= run->offset + run->length) ++run;
      Append(run->first + (offset - run->offset), &ids);
    }
  }
  return ids;
}

// The next `count` of the ids, which are taken away.
std::vector<RowRange> TakeFront(std::span<RowRange>& ids, uint64_t count) {
  std::vector<RowRange> front;
  while (count > 0 && !ids.empty()) {
    const uint64_t taken = std::min(count, ids.front().size());
    front.push_back({ids.front().begin, ids.front().begin + taken});
    ids.front().begin += taken;
    count -= taken;
    if (ids.front().size() == 0) ids = ids.subspan(1);
  }
  return front;
}

}  // namespace

arrow::Status CarryRowIds(const read::Snapshot& snapshot, std::span<const uint64_t> addresses,
                          std::vector<wire::DataFragment>& fragments) {
  if (!snapshot.manifest->has_stable_row_ids()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(auto ids, IdsOf(snapshot, addresses));
  std::span<RowRange> left = ids;
  for (wire::DataFragment& fragment : fragments) {
    if (left.empty()) break;
    const auto carried = TakeFront(left, fragment.physical_rows);
    fragment.row_ids = wire::InlineSequence{table::SerializeRowIds(carried)};
  }
  return arrow::Status::OK();
}

}  // namespace glaive::dataset
