#include "read/row_versions.h"

#include <algorithm>
#include <span>

#include "core/error.h"

namespace glaive::read {
namespace {

arrow::Result<std::vector<table::VersionRun>> RunsOf(const Snapshot& snapshot,
                                                     const wire::DataFragment& fragment,
                                                     const wire::RowSequence& sequence,
                                                     uint64_t physical_rows) {
  if (std::holds_alternative<wire::ColumnSequence>(sequence)) {
    return Unsupported(
        "versions of rows of fragment {} lie in a data file, where they are not "
        "read",
        fragment.id);
  }
  const auto& bytes = std::get<wire::InlineSequence>(sequence).bytes;
  return table::ParseRowVersions(std::as_bytes(std::span(bytes)), physical_rows,
                                 {snapshot.manifest->path});
}

bool IsRecorded(const wire::RowSequence& sequence) {
  return !std::holds_alternative<std::monostate>(sequence);
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

uint64_t RowVersions::At(uint64_t row) const {
  return versions_[static_cast<size_t>(std::ranges::upper_bound(ends_, row) - ends_.begin())];
}

arrow::Result<RowVersions> CreatedAtVersions(const Snapshot& snapshot,
                                             const wire::DataFragment& fragment,
                                             uint64_t physical_rows) {
  if (!IsRecorded(fragment.created_at_versions)) return RowVersions({{physical_rows, 1}});
  ARROW_ASSIGN_OR_RAISE(const auto runs,
                        RunsOf(snapshot, fragment, fragment.created_at_versions, physical_rows));
  return RowVersions(runs);
}

arrow::Result<RowVersions> LastUpdatedAtVersions(const Snapshot& snapshot,
                                                 const wire::DataFragment& fragment,
                                                 uint64_t physical_rows) {
  if (!IsRecorded(fragment.last_updated_at_versions)) {
    return CreatedAtVersions(snapshot, fragment, physical_rows);
  }
  ARROW_ASSIGN_OR_RAISE(const auto runs, RunsOf(snapshot, fragment,
                                                fragment.last_updated_at_versions, physical_rows));
  return RowVersions(runs);
}

}  // namespace glaive::read
