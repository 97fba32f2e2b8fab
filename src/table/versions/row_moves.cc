#include "table/versions/row_moves.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "table/operation/operation.h"
#include "table/rows/deletion_vector.h"
#include "table/versions/chain.h"
#include "table/versions/file.h"

namespace glaive::dataset {

namespace {

bool ShareOne(const auto& left, const auto& right) {
  return std::ranges::any_of(left, [&](const auto& file) { return right.contains(file); });
}

}  // namespace

FileNames FileNamesOf(const wire::DataFragment& fragment) {
  FileNames files;
  for (const wire::DataFile& file : fragment.files) files.emplace(file.path, file.base_id);
  return files;
}

RowMoves::Moves RowMoves::MovesOf(const std::optional<table::Transaction>& transaction) const {
  Moves moves;
  if (!transaction || !transaction->operation) return moves;
  const table::Operation& operation = *transaction->operation;
  const auto restate = [&](const std::vector<FragmentMetadata>& fragments) {
    for (const wire::DataFragment& each : fragments | table::Entries) {
      if (fragments_.contains(each.id)) moves.restated[each.id] = FileNamesOf(each);
    }
  };
  moves.is_known = true;
  moves.replaces_all = std::holds_alternative<table::Overwrite>(operation) ||
                       std::holds_alternative<table::Restore>(operation);
  if (const auto* merge = std::get_if<table::Merge>(&operation)) restate(merge->fragments);
  if (const auto* replacement = std::get_if<table::DataReplacement>(&operation)) {
    for (const auto& [id, file] : replacement->replacements) {
      if (fragments_.contains(id)) moves.added[id].emplace(file.path, file.base_id);
    }
  }
  const auto* update = std::get_if<table::Update>(&operation);
  if (update == nullptr) return moves;
  restate(update->updated_fragments);
  if (update->mode == table::Update::Mode::kRewriteColumns || update->new_fragments.empty()) {
    return moves;
  }
  for (const FragmentMetadata& each : update->updated_fragments) moves.fragments.insert(each.id());
  moves.fragments.insert(update->removed_fragment_ids.begin(), update->removed_fragment_ids.end());
  return moves;
}

arrow::Status RowMoves::Read(uint64_t after, uint64_t version) {
  ARROW_ASSIGN_OR_RAISE(const auto entries, table::ListManifests(table_));
  uint64_t expected = after + 1;
  table::ChainWalk chain(0);
  // Versions that were cleaned up say nothing any more, but for those that were read before. One
  // that is silent is enough.
  const auto pass_over = [&](uint64_t end) {
    while (expected < end && moves_.contains(expected)) ++expected;
    if (expected < end) moves_.emplace(expected, Moves());
  };
  for (const table::VersionEntry& entry : entries) {
    if (entry.version <= after || entry.version > version) continue;
    pass_over(entry.version);
    expected = entry.version + 1;
    if (moves_.contains(entry.version)) continue;
    const auto transaction = table::ReadTransaction(table_, entry);
    const bool is_gone =
        !transaction.ok() && KindOf(transaction.status()) == ErrorKind::kFileNotFound;
    if (!is_gone) ARROW_RETURN_NOT_OK(transaction.status());
    const auto& made_by = is_gone ? std::nullopt : *transaction;
    moves_.emplace(entry.version, MovesOf(made_by));
    // One of which the next was not made tells nothing.
    if (!chain.Follows(made_by)) moves_.insert_or_assign(entry.version - 1, Moves());
  }
  pass_over(version + 1);
  return arrow::Status::OK();
}

std::optional<RowMoves::Found> RowMoves::FindFor(const OpenRows& rows,
                                                 const wire::DataFragment& now) const {
  static constexpr const char* kOtherFiles = "other files took the place of all that it had";
  // Files of which one was beside another that is known to be of these rows.
  FileNames known = rows.files;
  const uint64_t id = rows.fragment_id;
  for (auto entry = moves_.upper_bound(rows.read_version); entry != moves_.end(); ++entry) {
    const auto& [version, moves] = *entry;
    if (!moves.is_known) return Found{version, "that version does not say any more what it did"};
    if (moves.replaces_all) return Found{version, "other rows took the place of all"};
    if (!rows.same_deletions && moves.fragments.contains(id)) {
      return Found{version, "an update moved rows of it to another fragment"};
    }
    if (known.empty()) continue;
    const auto added = moves.added.find(id);
    if (added != moves.added.end()) known.insert(added->second.begin(), added->second.end());
    const auto restated = moves.restated.find(id);
    if (restated == moves.restated.end()) continue;
    if (!ShareOne(restated->second, known)) return Found{version, kOtherFiles};
    known.insert(restated->second.begin(), restated->second.end());
  }
  if (known.empty() || now.files.empty() || ShareOne(FileNamesOf(now), known)) return std::nullopt;
  return Found{moves_.empty() ? rows.read_version : moves_.rbegin()->first, kOtherFiles};
}

arrow::Result<bool> RowMoves::AreLive(const table::Manifest& manifest,
                                      const wire::DataFragment& fragment, uint64_t physical_rows,
                                      const std::vector<RowRange>& rows) const {
  if (!fragment.deletion_file) return true;
  ARROW_ASSIGN_OR_RAISE(const auto deleted,
                        table::ReadDeletionFile(table_, manifest, fragment.id,
                                                *fragment.deletion_file, physical_rows));
  return std::ranges::all_of(rows, [&](const RowRange& range) {
    const auto offsets = deleted->offsets();
    const auto next = std::ranges::lower_bound(offsets, range.begin);
    return next == offsets.end() || *next >= range.end;
  });
}

}  // namespace glaive::dataset
