#include "table/apply_operations.h"

#include <limits>
#include <utility>

#include "core/error.h"
#include "table/index_coverage.h"

namespace glaive::table {
namespace {

using wire::DataFragment;

// An index that stores row ids goes on to know rows that moved, which coverage cannot say yet.
arrow::Status CheckCarriesRowIds(const Manifest& manifest,
                                 const std::vector<DataFragment>& fragments) {
  if (!manifest.index_section.empty()) {
    return Unsupported("rewriting fragments of a table with both stable row ids and indices");
  }
  for (const DataFragment& fragment : fragments) {
    if (!std::holds_alternative<std::monostate>(fragment.row_ids)) continue;
    return InvalidInput("a rewritten fragment of {} rows does not carry their row ids on",
                        fragment.physical_rows);
  }
  return arrow::Status::OK();
}

}  // namespace

// The same rows in other fragments. What the rows are called by, if not by their addresses, was
// carried over by who rewrote them.
arrow::Status ApplyTo(Manifest& next, const Rewrite& rewrite) {
  if (!rewrite.rewritten_indices.empty()) return Unsupported("commits that rewrite indices");
  std::vector<DataFragment> added;
  std::vector<uint64_t> removed;
  for (const Rewrite::Group& group : rewrite.groups) {
    for (const DataFragment& fragment : group.old_fragments) removed.push_back(fragment.id);
    added.insert(added.end(), group.new_fragments.begin(), group.new_fragments.end());
  }
  if (next.has_stable_row_ids()) ARROW_RETURN_NOT_OK(CheckCarriesRowIds(next, added));
  ARROW_ASSIGN_OR_RAISE(next.fragments, next.fragments.Remove(removed));
  ARROW_ASSIGN_OR_RAISE(added, WithIds(std::move(added), next.max_fragment_id));
  ARROW_ASSIGN_OR_RAISE(next.fragments, next.fragments.Insert(added));
  if (next.index_section.empty()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(IndexList indices, IndicesOf(next));
  ARROW_RETURN_NOT_OK(Withdraw(indices, removed, std::nullopt));
  return indices.Serialize().Value(&next.index_section);
}

arrow::Status ApplyTo(Manifest& next, const ReserveFragments& reservation) {
  const uint64_t last = uint64_t{next.max_fragment_id.value_or(0)} + reservation.num_fragments;
  if (last > std::numeric_limits<uint32_t>::max()) {
    return Unsupported("more than 2^32 fragments in the life of a table");
  }
  next.max_fragment_id = static_cast<uint32_t>(last);
  return arrow::Status::OK();
}

arrow::Status ApplyTo(Manifest&, const CreateIndex&) {
  return Unsupported("committing a CreateIndex");
}

}  // namespace glaive::table
