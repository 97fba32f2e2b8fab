#include "dataset/handle/row_index.h"

#include <algorithm>

namespace glaive::dataset {
namespace {

// From tags and lengths alone where they say it.
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
  const table::FragmentTable& fragments = snapshot.manifest->fragments;
  if (fragments.totals().live_rows()) {
    index.manifest_ = snapshot.manifest;
    return index;
  }
  index.ids_.reserve(fragments.totals().num_fragments);
  index.ends_.reserve(fragments.totals().num_fragments);
  ARROW_RETURN_NOT_OK(fragments.Visit([&](const table::Fragment& fragment) {
    ARROW_ASSIGN_OR_RAISE(const uint64_t rows, LiveRowsOf(snapshot, fragment));
    index.ids_.push_back(fragment.id());
    index.ends_.push_back(index.num_rows() + rows);
    return arrow::Status::OK();
  }));
  return index;
}

uint64_t RowIndex::num_rows() const {
  if (manifest_ != nullptr) return *manifest_->fragments.totals().live_rows();
  return ends_.empty() ? 0 : ends_.back();
}

RowIndex::Place RowIndex::Find(uint64_t row) const {
  if (manifest_ != nullptr) {
    const auto place = manifest_->fragments.FindRow(row);
    return {place.fragment.id(), place.row};
  }
  const auto at = static_cast<size_t>(std::ranges::upper_bound(ends_, row) - ends_.begin());
  return {ids_[at], row - (at == 0 ? 0 : ends_[at - 1])};
}

uint64_t RowIndex::RowsBefore(uint64_t fragment_id) const {
  if (manifest_ != nullptr) return manifest_->fragments.RowsBefore(fragment_id);
  const auto at = static_cast<size_t>(std::ranges::lower_bound(ids_, fragment_id) - ids_.begin());
  return at == 0 ? 0 : ends_[at - 1];
}

}  // namespace glaive::dataset
