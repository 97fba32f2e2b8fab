#include "dataset/rows/deleted_rows.h"

#include <utility>

#include "core/error.h"
#include "core/executor.h"
#include "core/memory_budget.h"
#include "table/rows/deletion_vector.h"

namespace glaive::dataset {
namespace {

constexpr uint64_t kBudget = uint64_t{256} << 20;

// A fragment and what of it is hidden afterwards.
struct ChangedFragment {
  wire::DataFragment fragment;
  uint64_t physical_rows = 0;
  table::DeletionVector deletions;
  bool is_written = false;

  bool is_empty() const { return deletions.size() == physical_rows; }
};

arrow::Result<std::vector<ChangedFragment>> ChangeFragments(const read::Snapshot& snapshot,
                                                            std::span<const uint64_t> addresses) {
  std::vector<ChangedFragment> changed;
  for (auto next = addresses.begin(); next != addresses.end();) {
    const uint64_t id = *next >> 32;
    std::vector<uint32_t> offsets;
    for (; next != addresses.end() && *next >> 32 == id; ++next) {
      offsets.push_back(static_cast<uint32_t>(*next));
    }
    ChangedFragment& change = changed.emplace_back();
    ARROW_ASSIGN_OR_RAISE(change.fragment, snapshot.manifest->fragments.Find(id)->Parse());
    ARROW_ASSIGN_OR_RAISE(change.physical_rows, read::PhysicalRows(snapshot, change.fragment));
    ARROW_ASSIGN_OR_RAISE(const auto before,
                          read::Deletions(snapshot, change.fragment, change.physical_rows));
    change.deletions = before->Union(table::DeletionVector(std::move(offsets)));
  }
  return changed;
}

arrow::Status WriteFiles(const read::Snapshot& snapshot, std::vector<ChangedFragment>& changed) {
  MemoryBudget budget(kBudget);
  auto next = changed.begin();
  return RunInOrder(ProcessExecutor(), budget, [&]() -> arrow::Result<std::optional<WorkUnit>> {
    while (next != changed.end() && next->is_empty()) ++next;
    if (next == changed.end()) return std::nullopt;
    ChangedFragment& change = *next++;
    const auto run = [&snapshot, &change]() -> arrow::Status {
      ARROW_ASSIGN_OR_RAISE(change.fragment.deletion_file,
                            table::WriteDeletionFile(snapshot.location, change.fragment.id,
                                                     snapshot.manifest->version, change.deletions));
      change.is_written = true;
      return arrow::Status::OK();
    };
    return WorkUnit{change.deletions.size() * sizeof(uint32_t), run};
  });
}

}  // namespace

arrow::Result<HiddenRows> HideRows(const read::Snapshot& snapshot,
                                   std::span<const uint64_t> addresses) {
  ARROW_ASSIGN_OR_RAISE(auto changed, ChangeFragments(snapshot, addresses));
  const arrow::Status status = WriteFiles(snapshot, changed);
  HiddenRows hidden{.updated_fragments = {},
                    .removed_fragment_ids = {},
                    .files = NewFiles(snapshot.location.store)};
  // No unit is running any more; those that came after one that failed may have written too.
  for (const ChangedFragment& change : changed) {
    if (!change.is_written) continue;
    hidden.files.Add(snapshot.location.Path(
        table::DeletionFilePath(change.fragment.id, *change.fragment.deletion_file)));
  }
  ARROW_RETURN_NOT_OK(status);
  for (ChangedFragment& change : changed) {
    if (change.is_empty()) {
      hidden.removed_fragment_ids.push_back(change.fragment.id);
    } else {
      hidden.updated_fragments.push_back(std::move(change.fragment));
    }
  }
  return hidden;
}

}  // namespace glaive::dataset
