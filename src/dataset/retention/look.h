#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "dataset/refs/file_references.h"
#include "dataset/refs/tombstones.h"
#include "glaive/refs.h"
#include "glaive/retention.h"
#include "table/versions/versions.h"

namespace glaive::dataset {

// What the versions, tags and branches of a table need of its files, as far as it was looked at.
// Every further look adds what came to be since the last one; each manifest is read once.
class CleanupLook {
 public:
  // Of the handle's branch.
  CleanupLook(const Dataset& dataset, ProgressCallback progress);

  const table::TableLocation& table() const { return own_; }
  arrow::Status Poll() const;

  // Files of the table: "data/x.lance", "_deletions/x.arrow", "_indices/uuid". A branch that refers
  // to one of them needs the version that it was made from.
  void SetOwnFiles(std::unordered_set<std::string> files) { own_files_ = std::move(files); }

  // The tags of the branch, and all versions of all other branches.
  arrow::Status LookAtRefs();
  // The same, and what was cloned for branches that have no ref yet, or never got one.
  arrow::Status LookAtRefsAndClones();
  // Tombstones and pins. They come before versions: a version that was put back, or restored, while
  // this went on is there by then.
  arrow::Status LookAtMarks();
  // The same, and then versions, attached and detached. What they need is kept, but for versions
  // that lie in these tombstones alone.
  arrow::Status LookAtVersions(const std::set<std::string>& passed_over);

  // A version that stays, for the planner, who reads them all.
  arrow::Status Keep(const table::VersionEntry& entry, const table::Manifest& manifest);

  // Keeps what a version needs that lies under its own name or in its tombstone, and whether it
  // does: by name, since listings may be old.
  arrow::Result<bool> KeepWhereverItLies(const Tombstone& tombstone);

  bool IsTagged(uint64_t version) const { return tagged_.contains(version); }
  bool IsBranchedOff(uint64_t version) const { return branched_off_.contains(version); }
  // Also one that is being restored.
  bool IsNeeded(uint64_t version) const {
    return IsTagged(version) || IsBranchedOff(version) || pinned_.contains(version);
  }
  // Of the table's own files, by the path in the store and by the name below the root.
  bool Needs(const std::string& path, const std::string& name) const;

  // As the last look found them.
  const VersionMarks& marks() const { return marks_; }
  const std::vector<ReferencedBranch>& children() const { return children_; }

 private:
  arrow::Status LookAtTags();
  arrow::Status LookAtBranches(bool with_clones);
  arrow::Result<std::set<std::string>> ListClones() const;
  arrow::Status LookAtBranch(const std::optional<std::string>& name, const BranchInfo* info);
  arrow::Status KeepEntry(const table::VersionEntry& entry);
  std::optional<uint64_t> LeftAt(const BranchInfo& branch) const;

  const Dataset dataset_;
  const ProgressCallback progress_;
  const table::TableLocation own_;
  const table::TableLocation main_;
  FileReferences kept_;
  FileReferences kept_by_branches_ = FileReferences::ByName();
  std::unordered_set<std::string> own_files_;
  std::set<std::pair<std::string, uint64_t>> read_;  // manifests that are in one of the two
  std::set<std::string> known_branches_;             // by their identifiers
  std::set<uint64_t> tagged_;
  std::set<uint64_t> branched_off_;
  std::set<uint64_t> pinned_;
  VersionMarks marks_;
  std::vector<ReferencedBranch> children_;
  bool is_first_look_ = true;
};

}  // namespace glaive::dataset
