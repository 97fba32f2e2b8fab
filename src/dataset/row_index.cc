#include "dataset/row_index.h"

#include <algorithm>

namespace glaive::dataset {
namespace {

// From tags and lengths alone where they say it, as they nearly always do.
arrow::Result<uint64_t> LiveRowsOf(const read::Snapshot& snapshot,
                                   const table::Fragment& fragment) {
  ARROW_ASSIGN_OR_RAISE(const wire::FragmentFacts facts, fragment.Scan());
  const bool known =
      facts.physical_rows != 0 && (!facts.has_deletion_file || facts.deleted_rows != 0);
  if (known) return facts.physical_rows - facts.deleted_rows;
  ARROW_ASSIGN_OR_RAISE(const wire::DataFragment parsed, fragment.Parse());
  return read::LiveRows(snapshot, parsed);
}

}  // namespace

arrow::Result<RowIndex> RowIndex::Make(const read::Snapshot& snapshot) {
  RowIndex index;
  const uint64_t num_fragments = snapshot.manifest->fragments.totals().num_fragments;
  index.ids_.reserve(num_fragments);
  index.ends_.reserve(num_fragments);
  ARROW_RETURN_NOT_OK(snapshot.manifest->fragments.Visit([&](const table::Fragment& fragment) {
    ARROW_ASSIGN_OR_RAISE(const uint64_t rows, LiveRowsOf(snapshot, fragment));
    index.ids_.push_back(fragment.id());
    index.ends_.push_back(index.num_rows() + rows);
    return arrow::Status::OK();
  }));
  return index;
}

RowIndex::Place RowIndex::Find(uint64_t row) const {
  const auto fragment = static_cast<size_t>(std::ranges::upper_bound(ends_, row) - ends_.begin());
  return {fragment, row - rows_before(fragment)};
}

uint64_t RowIndex::rows_before_id(uint64_t fragment_id) const {
  return rows_before(
      static_cast<size_t>(std::ranges::lower_bound(ids_, fragment_id) - ids_.begin()));
}

}  // namespace glaive::dataset
