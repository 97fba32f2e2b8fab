#include "dataset/stable_rows.h"

#include <algorithm>
#include <numeric>

namespace glaive::dataset {

arrow::Result<std::vector<std::optional<uint64_t>>> FindStableRows(
    const read::Snapshot& snapshot, std::span<const uint64_t> row_ids) {
  std::vector<size_t> by_id(row_ids.size());
  std::iota(by_id.begin(), by_id.end(), size_t{0});
  const auto id_of = [&](size_t i) { return row_ids[i]; };
  std::ranges::sort(by_id, {}, id_of);
  std::vector<std::optional<uint64_t>> found(row_ids.size());
  ARROW_RETURN_NOT_OK(snapshot.manifest->fragments.Visit([&](const table::Fragment& fragment) {
    ARROW_ASSIGN_OR_RAISE(const wire::DataFragment parsed, fragment.Parse());
    ARROW_ASSIGN_OR_RAISE(const uint64_t rows, read::PhysicalRows(snapshot, parsed));
    ARROW_ASSIGN_OR_RAISE(const auto ids, read::StableRowIds(snapshot, parsed, rows));
    // A row that was moved keeps its id: only the live one of its places counts.
    table::DeletionVectorPtr deletions;
    for (const table::RowIdSequence::Run& run : ids->runs()) {
      auto next = std::ranges::lower_bound(by_id, run.first, {}, id_of);
      for (; next != by_id.end() && id_of(*next) - run.first < run.length; ++next) {
        const uint64_t row = run.offset + (id_of(*next) - run.first);
        if (deletions == nullptr) {
          ARROW_ASSIGN_OR_RAISE(deletions, read::Deletions(snapshot, parsed, rows));
        }
        if (!deletions->Contains(static_cast<uint32_t>(row))) {
          found[*next] = fragment.id() << 32 | row;
        }
      }
    }
    return arrow::Status::OK();
  }));
  return found;
}

}  // namespace glaive::dataset
