#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "core/error.h"
#include "table/manifest/overlays.h"
#include "table/operation/apply_operations.h"
#include "table/operation/index_coverage.h"
#include "table/rows/row_lineage.h"
#include "wire/fields.h"

namespace glaive::table {
namespace {

using wire::Bytes;
using wire::DataFragment;
using wire::FieldView;

constexpr Location kOperation = {"(operation)"};

uint64_t LiveRows(const DataFragment& fragment) {
  return fragment.physical_rows -
         (fragment.deletion_file ? fragment.deletion_file->num_deleted_rows : 0);
}

bool SaysLiveRows(const DataFragment& fragment) {
  return fragment.physical_rows != 0 &&
         (!fragment.deletion_file || fragment.deletion_file->num_deleted_rows != 0);
}

// What the rows are called by, if not by their addresses, is carried over by who rewrote them.
arrow::Status CheckCarriesRowIds(const std::vector<FragmentMetadata>& fragments) {
  for (const DataFragment& fragment : fragments | Entries) {
    if (std::holds_alternative<std::monostate>(fragment.row_ids)) {
      return InvalidInput("a rewritten fragment of {} rows does not carry their row ids on",
                          fragment.physical_rows);
    }
    ARROW_RETURN_NOT_OK(RowIdsOf(fragment, kOperation).status());
    ARROW_RETURN_NOT_OK(CreatedVersionsOf(fragment, kOperation).status());
    ARROW_RETURN_NOT_OK(UpdatedVersionsOf(fragment, kOperation).status());
  }
  return arrow::Status::OK();
}

// One group, by the ids that its fragments have in the version that is made.
struct Move {
  std::vector<uint64_t> from;
  std::vector<uint64_t> to;
  std::map<int32_t, uint64_t> overlaid;  // field -> the newest version that laid values over it
};

// Takes the old fragments of a group out and puts the new ones in.
arrow::Result<Move> MoveGroup(Manifest& next, const Rewrite::Group& group) {
  Move move;
  uint64_t rows_before = 0;
  bool known = true;
  for (const DataFragment& theirs : group.old_fragments | Entries) {
    const std::optional<Fragment> view = next.fragments.Find(theirs.id);
    if (!view) {
      return CommitConflict(Retry::kYes, next.version - 1,
                            "fragment {}, which a rewrite is to replace, is gone", theirs.id);
    }
    ARROW_ASSIGN_OR_RAISE(const DataFragment old, view->Parse());
    known = known && SaysLiveRows(old);
    rows_before += LiveRows(old);
    move.from.push_back(old.id);
    ARROW_RETURN_NOT_OK(CollectOverlaid(old, {next.path}, &move.overlaid));
  }
  if (next.has_stable_row_ids()) ARROW_RETURN_NOT_OK(CheckCarriesRowIds(group.new_fragments));
  ARROW_ASSIGN_OR_RAISE(next.fragments, next.fragments.Remove(move.from));
  ARROW_ASSIGN_OR_RAISE(const auto added,
                        WithIds(EntriesOf(group.new_fragments), next.max_fragment_id));
  uint64_t rows_after = 0;
  for (const DataFragment& fragment : added) {
    move.to.push_back(fragment.id);
    rows_after += LiveRows(fragment);
  }
  if (known && rows_before != rows_after) {
    return InvalidInput("a rewrite makes {} rows of the {} of fragment {} and those beside it",
                        rows_after, rows_before, move.from.empty() ? 0 : move.from.front());
  }
  ARROW_ASSIGN_OR_RAISE(next.fragments, next.fragments.Insert(added));
  return move;
}

// An index that knew all rows of a group knows them in its new fragments, if it can tell them
// there: by their ids, or because it was rewritten as well.
void Follow(Index& index, const Move& move, bool knows_rows, const wire::Schema& schema) {
  const bool follows = knows_rows && index.covered->ContainsAll(move.from) &&
                       !IsOverlaid(index, move.overlaid, schema);
  index.covered->Remove(move.from);
  if (follows) index.covered->Add(move.to);
}

// The index under another id and with other files, which know the rows where they are now.
arrow::Status Exchange(Index& index, const RewrittenIndex& rewritten) {
  IndexMetadata entry = index.entry;
  entry.uuid = rewritten.new_id;
  entry.files = rewritten.new_files;
  ARROW_ASSIGN_OR_RAISE(Index exchanged, IndexList::ParseEntry(wire::Serialize(entry), kOperation));
  exchanged.covered = index.covered;
  index = std::move(exchanged);
  return arrow::Status::OK();
}

arrow::Status FollowMoves(Manifest& next, const Rewrite& rewrite, const std::vector<Move>& moves) {
  if (next.index_section.empty()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(IndexList indices, IndicesOf(next));
  std::map<std::string, RewrittenIndex> rewritten;
  for (const RewrittenIndex& index : rewrite.rewritten_indices) {
    if (!wire::IsUuid(index.old_id) || !wire::IsUuid(index.new_id)) {
      return InvalidInput("not the UUIDs of indices: '{}' and '{}'", index.old_id, index.new_id);
    }
    if (!rewritten.emplace(index.old_id, index).second) {
      return InvalidInput("a rewrite exchanges one index twice");
    }
  }
  for (Index& index : indices.indices()) {
    if (wire::IsSystem(index.entry)) continue;
    if (!index.covered) {
      return Unsupported(
          "rewriting fragments of a table whose index '{}' does not say which it covers",
          index.entry.name);
    }
    const auto exchanged = rewritten.find(index.entry.uuid);
    const bool knows_rows = exchanged != rewritten.end() ||
                            (next.has_stable_row_ids() && !wire::StoresRowAddresses(index.entry));
    for (const Move& move : moves) Follow(index, move, knows_rows, next.schema);
    if (exchanged != rewritten.end()) ARROW_RETURN_NOT_OK(Exchange(index, exchanged->second));
  }
  return indices.Serialize().Value(&next.index_section);
}

}  // namespace

// The same rows in other fragments.
arrow::Status ApplyTo(Manifest& next, const Rewrite& rewrite) {
  std::vector<Move> moves;
  for (const Rewrite::Group& group : rewrite.groups) {
    ARROW_ASSIGN_OR_RAISE(moves.emplace_back(), MoveGroup(next, group));
  }
  return FollowMoves(next, rewrite, moves);
}

arrow::Status ApplyTo(Manifest& next, const ReserveFragments& reservation) {
  const uint64_t last = uint64_t{next.max_fragment_id.value_or(0)} + reservation.num_fragments;
  if (last > std::numeric_limits<uint32_t>::max()) {
    return Unsupported("more than 2^32 fragments in the life of a table");
  }
  next.max_fragment_id = static_cast<uint32_t>(last);
  return arrow::Status::OK();
}

}  // namespace glaive::table
