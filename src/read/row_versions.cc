#include "read/row_versions.h"

#include <algorithm>

#include "table/rows/row_lineage.h"

namespace glaive::read {
namespace {

// As many rows as lie in the files, where the manifest does not say.
wire::DataFragment Counted(wire::DataFragment fragment, uint64_t physical_rows) {
  fragment.physical_rows = physical_rows;
  return fragment;
}

}  // namespace

RowVersions::RowVersions(const std::vector<table::VersionRun>& runs) {
  uint64_t end = 0;
  for (const table::VersionRun& run : runs) {
    end += run.num_rows;
    ends_.push_back(end);
    versions_.push_back(run.version);
  }
}

void RowVersions::Get(std::span<const RowRange> rows, uint64_t* versions) const {
  if (rows.empty()) return;
  auto run =
      static_cast<size_t>(std::ranges::upper_bound(ends_, rows.front().begin) - ends_.begin());
  for (const RowRange& range : rows) {
    for (uint64_t row = range.begin; row < range.end; ++row) {
      while (ends_[run] <= row) ++run;
      *versions++ = versions_[run];
    }
  }
}

arrow::Result<RowVersions> CreatedAtVersions(const Snapshot& snapshot,
                                             const wire::DataFragment& fragment,
                                             uint64_t physical_rows) {
  ARROW_ASSIGN_OR_RAISE(const auto runs, table::CreatedVersionsOf(Counted(fragment, physical_rows),
                                                                  {snapshot.manifest->path}));
  return RowVersions(runs);
}

arrow::Result<RowVersions> LastUpdatedAtVersions(const Snapshot& snapshot,
                                                 const wire::DataFragment& fragment,
                                                 uint64_t physical_rows) {
  ARROW_ASSIGN_OR_RAISE(const auto runs, table::UpdatedVersionsOf(Counted(fragment, physical_rows),
                                                                  {snapshot.manifest->path}));
  return RowVersions(runs);
}

}  // namespace glaive::read
