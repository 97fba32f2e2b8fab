#include "glaive/history.h"

#include <algorithm>
#include <ranges>
#include <string>
#include <utility>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/session_state.h"
#include "inspect/fragment_walk.h"
#include "table/operation/conflict.h"
#include "table/versions/versions.h"

namespace glaive {
namespace {

uint64_t LiveRows(const wire::DataFragment& fragment) {
  const uint64_t deleted = fragment.deletion_file ? fragment.deletion_file->num_deleted_rows : 0;
  return fragment.physical_rows - std::min(deleted, fragment.physical_rows);
}

uint64_t Deleted(const wire::DataFragment& fragment) {
  return fragment.deletion_file ? fragment.deletion_file->num_deleted_rows : 0;
}

arrow::Status AddChanges(const table::Manifest& before, const table::Manifest& after,
                         HistoryEntry* entry) {
  uint64_t added = 0;
  uint64_t removed = 0;
  ARROW_RETURN_NOT_OK(
      inspect::WalkBoth(before.fragments, after.fragments,
                        [&](const wire::DataFragment* old, const wire::DataFragment* fresh) {
                          if (old == nullptr) {
                            ++entry->fragments_added;
                            added += LiveRows(*fresh);
                          } else if (fresh == nullptr) {
                            ++entry->fragments_removed;
                            removed += LiveRows(*old);
                          } else {
                            ++entry->fragments_changed;
                            const uint64_t was = Deleted(*old);
                            const uint64_t is = Deleted(*fresh);
                            (is > was ? removed : added) += is > was ? is - was : was - is;
                          }
                          return arrow::Status::OK();
                        }));
  entry->rows_added = added;
  entry->rows_removed = removed;
  return arrow::Status::OK();
}

arrow::Status AddTransaction(const table::TableLocation& location,
                             const table::VersionEntry& version, HistoryEntry* entry) {
  ARROW_ASSIGN_OR_RAISE(auto transaction, table::ReadTransaction(location, version));
  if (!transaction) return arrow::Status::OK();
  entry->read_version = transaction->read_version;
  if (transaction->operation) {
    entry->operation = table::kOperationNames[transaction->operation->index()];
  }
  entry->properties = std::move(transaction->properties);
  if (const auto message = entry->properties.find(kCommitMessageKey);
      message != entry->properties.end()) {
    entry->message = message->second;
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<std::vector<HistoryEntry>> History(const Dataset& dataset,
                                                 const HistoryOptions& options) {
  const table::TableLocation& location = StateOf(dataset)->location;
  dataset::SessionState& session = *StateOf(*StateOf(dataset)->session);
  ARROW_ASSIGN_OR_RAISE(auto versions, table::ListVersions(location));
  std::ranges::reverse(versions);
  const size_t shown =
      options.limit == 0 ? versions.size() : std::min<size_t>(options.limit, versions.size());
  std::vector<HistoryEntry> history;
  table::ManifestPtr newer;
  // One more than is shown: the one before the last of them.
  for (size_t i = 0; i < std::min(shown + 1, versions.size()); ++i) {
    if (options.progress) ARROW_RETURN_NOT_OK(options.progress({.tasks = i, .total_tasks = shown}));
    ARROW_ASSIGN_OR_RAISE(auto manifest, session.ManifestOf(location, versions[i]));
    if (newer != nullptr) ARROW_RETURN_NOT_OK(AddChanges(*manifest, *newer, &history.back()));
    if (i == shown) break;
    const table::FragmentTotals& totals = manifest->fragments.totals();
    HistoryEntry& entry = history.emplace_back();
    entry.version = manifest->version;
    entry.timestamp_ns = manifest->timestamp_ns;
    entry.num_rows = totals.live_rows().value_or(totals.physical_rows);
    entry.num_fragments = totals.num_fragments;
    ARROW_RETURN_NOT_OK(AddTransaction(location, versions[i], &entry));
    newer = std::move(manifest);
  }
  return history;
}

bool IsSameVersion(const Dataset& one, const Dataset& other) {
  const table::Manifest& ours = *StateOf(one)->manifest;
  const table::Manifest& theirs = *StateOf(other)->manifest;
  return one.uri() == other.uri() && ours.version == theirs.version &&
         ours.transaction_file == theirs.transaction_file &&
         ours.timestamp_ns == theirs.timestamp_ns;
}

}  // namespace glaive
