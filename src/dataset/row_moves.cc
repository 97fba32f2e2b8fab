#include "dataset/row_moves.h"

#include <optional>
#include <variant>

#include "table/manifest_file.h"
#include "table/operation.h"

namespace glaive::dataset {

RowMoves::Moves RowMoves::MovesOf(const std::optional<table::Transaction>& transaction) {
  Moves moves;
  if (!transaction || !transaction->operation) return moves;
  moves.is_known = true;
  moves.replaces_all = std::holds_alternative<table::Overwrite>(*transaction->operation) ||
                       std::holds_alternative<table::Restore>(*transaction->operation);
  const auto* update = std::get_if<table::Update>(&*transaction->operation);
  if (update == nullptr || update->mode == table::Update::Mode::kRewriteColumns ||
      update->new_fragments.empty()) {
    return moves;
  }
  for (const auto& fragment : update->updated_fragments) moves.fragments.insert(fragment.id);
  moves.fragments.insert(update->removed_fragment_ids.begin(), update->removed_fragment_ids.end());
  return moves;
}

arrow::Status RowMoves::Read(uint64_t after, uint64_t version) {
  ARROW_ASSIGN_OR_RAISE(const auto entries, table::ListManifests(table_));
  uint64_t expected = after + 1;
  for (const table::VersionEntry& entry : entries) {
    if (entry.version <= after || entry.version > version) continue;
    // Versions that were cleaned up say nothing any more.
    if (entry.version != expected) moves_.try_emplace(expected);
    expected = entry.version + 1;
    if (moves_.contains(entry.version)) continue;
    ARROW_ASSIGN_OR_RAISE(const auto transaction, table::ReadTransaction(table_, entry));
    moves_.emplace(entry.version, MovesOf(transaction));
  }
  if (expected <= version) moves_.try_emplace(expected);
  return arrow::Status::OK();
}

std::optional<RowMoves::Found> RowMoves::FindFor(uint64_t fragment_id, uint64_t after,
                                                 bool same_rows) const {
  for (auto entry = moves_.upper_bound(after); entry != moves_.end(); ++entry) {
    const auto& [version, moves] = *entry;
    if (!moves.is_known) return Found{version, "that version does not say any more what it did"};
    if (moves.replaces_all) return Found{version, "other rows took the place of all"};
    if (!same_rows && moves.fragments.contains(fragment_id)) {
      return Found{version, "an update moved rows of it to another fragment"};
    }
  }
  return std::nullopt;
}

}  // namespace glaive::dataset
