#include "dataset/compaction/run/carried_lineage.h"

#include <algorithm>

#include "core/error.h"
#include "table/rows/row_lineage.h"

namespace glaive::dataset {
namespace {

using table::VersionRun;

void Append(std::span<const VersionRun> added, std::vector<VersionRun>* runs) {
  for (const VersionRun& run : added) {
    if (!runs->empty() && runs->back().version == run.version) {
      runs->back().num_rows += run.num_rows;
    } else {
      runs->push_back(run);
    }
  }
}

uint64_t RowsOf(const RowRange& ids) { return ids.size(); }
uint64_t RowsOf(const VersionRun& run) { return run.num_rows; }

// The first `num_rows` rows of ids or versions.
RowRange First(const RowRange& ids, uint64_t num_rows) { return {ids.begin, ids.begin + num_rows}; }
VersionRun First(const VersionRun& run, uint64_t num_rows) { return {num_rows, run.version}; }

RowRange WithoutFirst(const RowRange& ids, uint64_t num_rows) {
  return {ids.begin + num_rows, ids.end};
}
VersionRun WithoutFirst(const VersionRun& run, uint64_t num_rows) {
  return {run.num_rows - num_rows, run.version};
}

// Deals out runs of rows, so many rows at a time.
template <typename Run>
class Dealer {
 public:
  explicit Dealer(std::vector<Run> runs) : runs_(std::move(runs)) {}

  std::vector<Run> Next(uint64_t num_rows) {
    std::vector<Run> dealt;
    while (num_rows > 0 && next_ < runs_.size()) {
      const uint64_t taken = std::min(num_rows, RowsOf(runs_[next_]));
      if (taken > 0) dealt.push_back(First(runs_[next_], taken));
      runs_[next_] = WithoutFirst(runs_[next_], taken);
      if (RowsOf(runs_[next_]) == 0) ++next_;
      num_rows -= taken;
    }
    return dealt;
  }

 private:
  std::vector<Run> runs_;
  size_t next_ = 0;
};

}  // namespace

arrow::Status CarriedLineage::Add(const read::Snapshot& snapshot,
                                  const wire::DataFragment& fragment) {
  if (!snapshot.manifest->has_stable_row_ids()) return arrow::Status::OK();
  stable_ = true;
  const Location where = {snapshot.manifest->path};
  wire::DataFragment counted = fragment;
  ARROW_ASSIGN_OR_RAISE(counted.physical_rows, read::PhysicalRows(snapshot, fragment));
  ARROW_ASSIGN_OR_RAISE(const auto deletions,
                        read::Deletions(snapshot, fragment, counted.physical_rows));
  const auto live = deletions->LiveRanges({0, counted.physical_rows});
  ARROW_ASSIGN_OR_RAISE(const auto ids, table::RowIdsOf(counted, where));
  for (const RowRange& rows : live) ids.AppendTo(rows, &ids_);
  ARROW_ASSIGN_OR_RAISE(const auto created, table::CreatedVersionsOf(counted, where));
  ARROW_ASSIGN_OR_RAISE(const auto updated, table::UpdatedVersionsOf(counted, where));
  Append(table::SelectRows(created, live), &created_);
  Append(table::SelectRows(updated, live), &updated_);
  return arrow::Status::OK();
}

arrow::Status CarriedLineage::GiveTo(std::vector<wire::DataFragment>& fragments) const {
  if (!stable_) return arrow::Status::OK();
  uint64_t num_rows = 0;
  for (const auto& fragment : fragments) num_rows += fragment.physical_rows;
  if (num_rows != CountRows(ids_)) {
    return Internal("the lineage of {} rows for the {} rewritten", CountRows(ids_), num_rows);
  }
  Dealer ids(ids_);
  Dealer created(created_);
  Dealer updated(updated_);
  for (wire::DataFragment& fragment : fragments) {
    const uint64_t rows = fragment.physical_rows;
    fragment.row_ids = wire::InlineSequence{table::SerializeRowIds(ids.Next(rows))};
    fragment.created_at_versions =
        wire::InlineSequence{table::SerializeRowVersions(created.Next(rows))};
    fragment.last_updated_at_versions =
        wire::InlineSequence{table::SerializeRowVersions(updated.Next(rows))};
  }
  return arrow::Status::OK();
}

}  // namespace glaive::dataset
