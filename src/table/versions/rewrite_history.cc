#include "table/versions/rewrite_history.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.h"
#include "table/operation/conflict.h"
#include "table/operation/operation.h"
#include "table/versions/chain.h"
#include "table/versions/file.h"
#include "table/versions/hint.h"

namespace glaive::dataset {

arrow::Status RewriteHistory::Read(uint64_t after, uint64_t version) {
  uint64_t expected = std::max(after, known_up_to_) + 1;
  if (expected > version) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto entries,
                        table::NewerVersions(table_, expected - 1, table::ReadVersionHint(table_),
                                             /*trusts_hint=*/false));
  table::ChainWalk chain(0);
  for (const table::VersionEntry& entry : entries) {
    if (entry.version > version) break;
    // Versions that were cleaned up say nothing any more.
    if (entry.version != expected) last_silent_ = entry.version - 1;
    expected = entry.version + 1;
    const auto theirs = table::ReadTransaction(table_, entry);
    const bool is_gone = !theirs.ok() && KindOf(theirs.status()) == ErrorKind::kFileNotFound;
    if (!is_gone) ARROW_RETURN_NOT_OK(theirs.status());
    if (!chain.Follows(is_gone ? std::nullopt : *theirs)) last_silent_ = entry.version - 1;
    if (is_gone || !*theirs) {
      last_silent_ = entry.version;
      continue;
    }
    if (!(*theirs)->operation) {
      return CommitConflict(Retry::kNo, entry.version, "that version does not say what it changed");
    }
    const table::Operation& operation = *(*theirs)->operation;
    if (std::holds_alternative<table::Overwrite>(operation) ||
        std::holds_alternative<table::Restore>(operation)) {
      return table::CheckConflict(table::Rewrite(), operation, entry.version);
    }
    Add(operation, entry.version);
  }
  if (expected <= version) last_silent_ = version;
  known_up_to_ = version;
  return arrow::Status::OK();
}

void RewriteHistory::Add(const table::Operation& operation, uint64_t version) {
  const auto ended = [&](uint64_t id, bool was_rewritten) {
    if (old_ids_.contains(id)) ends_.insert_or_assign(id, End{version, was_rewritten});
  };
  const auto brought = [&](const std::vector<FragmentMetadata>& fragments) {
    for (const wire::DataFragment& fragment : fragments | table::Entries) {
      for (const auto& file : fragment.files) {
        if (new_paths_.contains(file.path)) brought_.try_emplace(file.path, version);
      }
    }
  };
  if (const auto* deletion = std::get_if<table::Delete>(&operation)) {
    for (const uint64_t id : deletion->deleted_fragment_ids) ended(id, false);
  } else if (const auto* update = std::get_if<table::Update>(&operation)) {
    for (const uint64_t id : update->removed_fragment_ids) ended(id, false);
    brought(update->new_fragments);
  } else if (const auto* rewrite = std::get_if<table::Rewrite>(&operation)) {
    for (const auto& group : rewrite->groups) {
      for (const FragmentMetadata& fragment : group.old_fragments) ended(fragment.id(), true);
      brought(group.new_fragments);
    }
  } else if (const auto* append = std::get_if<table::Append>(&operation)) {
    brought(append->fragments);
  } else if (const auto* merge = std::get_if<table::Merge>(&operation)) {
    brought(merge->fragments);
  }
}

std::optional<RewriteHistory::End> RewriteHistory::EndOf(uint64_t fragment_id) const {
  const auto found = ends_.find(fragment_id);
  return found != ends_.end() ? std::optional(found->second) : std::nullopt;
}

std::optional<uint64_t> RewriteHistory::VersionWith(const std::string& path) const {
  const auto found = brought_.find(path);
  return found != brought_.end() ? std::optional(found->second) : std::nullopt;
}

}  // namespace glaive::dataset
