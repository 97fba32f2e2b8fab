#include "dataset/retention/look.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/refs/files.h"
#include "table/versions/not_found.h"

namespace glaive::dataset {
namespace {

std::string NameOf(const std::string& branch, const BranchInfo& info) {
  std::string name = branch;
  for (const auto& [version, id] : info.identifier) name += fmt::format("\n{} {}", version, id);
  return name;
}

}  // namespace

CleanupLook::CleanupLook(const Dataset& dataset, ProgressCallback progress)
    : dataset_(dataset),
      progress_(std::move(progress)),
      own_(StateOf(dataset)->location),
      main_(MainLocation(dataset)),
      kept_(own_.store) {}

arrow::Status CleanupLook::Poll() const { return progress_ ? progress_({}) : arrow::Status::OK(); }

arrow::Status CleanupLook::Keep(const table::VersionEntry& entry, const table::Manifest& manifest) {
  read_.emplace(entry.path, entry.size_bytes);
  return kept_.Add(own_, manifest, "");
}

arrow::Status CleanupLook::KeepEntry(const table::VersionEntry& entry) {
  if (read_.contains({entry.path, entry.size_bytes})) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(Poll());
  const auto manifest = table::ReadManifest(own_, entry);
  if (table::IsGone(manifest.status())) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(manifest.status());
  return Keep(entry, **manifest);
}

arrow::Result<bool> CleanupLook::KeepWhereverItLies(const Tombstone& tombstone) {
  // Its own name last: from the tombstone it is put back there.
  for (const std::string& path : {tombstone.path, tombstone.version.path}) {
    table::VersionEntry entry = tombstone.version;
    entry.path = path;
    entry.size_bytes = 0;
    const auto manifest = table::ReadManifest(own_, entry);
    if (table::IsGone(manifest.status())) continue;
    ARROW_RETURN_NOT_OK(manifest.status());
    ARROW_RETURN_NOT_OK(kept_.Add(own_, **manifest, ""));
    return true;
  }
  return false;
}

arrow::Status CleanupLook::LookAtMarks() {
  ARROW_ASSIGN_OR_RAISE(marks_, ListMarks(own_));
  pinned_.clear();
  const uint64_t newest = marks_.attached.empty() ? 0 : *marks_.attached.rbegin();
  for (const Pin& pin : marks_.pins) {
    if (pin.published_as > newest) pinned_.insert(pin.version);
  }
  return arrow::Status::OK();
}

arrow::Status CleanupLook::LookAtVersions(const std::set<std::string>& passed_over) {
  ARROW_RETURN_NOT_OK(LookAtMarks());
  for (const Tombstone& tombstone : marks_.tombstones) {
    if (passed_over.contains(tombstone.path)) continue;
    table::VersionEntry entry = tombstone.version;
    entry.path = tombstone.path;
    ARROW_RETURN_NOT_OK(KeepEntry(entry));
  }
  ARROW_ASSIGN_OR_RAISE(auto entries, table::ListVersions(own_));
  ARROW_ASSIGN_OR_RAISE(const auto detached, ListDetached(own_));
  entries.insert(entries.end(), detached.begin(), detached.end());
  for (const table::VersionEntry& entry : entries) ARROW_RETURN_NOT_OK(KeepEntry(entry));
  return arrow::Status::OK();
}

arrow::Status CleanupLook::LookAtRefs() {
  ARROW_RETURN_NOT_OK(LookAtTags());
  return LookAtBranches(/*with_clones=*/false);
}

arrow::Status CleanupLook::LookAtRefsAndClones() {
  ARROW_RETURN_NOT_OK(LookAtTags());
  ARROW_RETURN_NOT_OK(LookAtBranches(/*with_clones=*/true));
  is_first_look_ = false;
  return arrow::Status::OK();
}

arrow::Status CleanupLook::LookAtTags() {
  ARROW_ASSIGN_OR_RAISE(const auto tags, ListTags(dataset_));
  for (const auto& entry : tags) {
    if (entry.second.branch == BranchOf(dataset_)) tagged_.insert(entry.second.version);
  }
  return arrow::Status::OK();
}

// Names that have versions below tree/, whether or not there is a ref.
arrow::Result<std::set<std::string>> CleanupLook::ListClones() const {
  constexpr std::string_view kVersions = "/_versions/";
  const std::string tree = main_.Path("tree/");
  ARROW_ASSIGN_OR_RAISE(const auto objects, main_.store->ListRecursive(main_.Path("tree")));
  std::set<std::string> names;
  for (const io::ObjectInfo& object : objects) {
    const size_t end = object.path.find(kVersions, tree.size());
    if (end == object.path.npos) continue;
    std::string name = object.path.substr(tree.size(), end - tree.size());
    if (CheckBranchName(name).ok()) names.insert(std::move(name));
  }
  return names;
}

// A branch is cloned before it gets its ref. Whoever makes it looks in between whether the version
// that it is made from is still there, so clones are looked for before refs.
arrow::Status CleanupLook::LookAtBranches(bool with_clones) {
  std::set<std::string> clones;
  if (with_clones) {
    ARROW_ASSIGN_OR_RAISE(clones, ListClones());
  }
  ARROW_ASSIGN_OR_RAISE(const auto branches, ListBranches(dataset_));
  const auto own = BranchOf(dataset_);
  children_.clear();
  for (const std::string& name : clones) {
    if (name == own || branches.contains(name)) continue;
    ARROW_RETURN_NOT_OK(LookAtBranch(name, nullptr));
  }
  if (own) ARROW_RETURN_NOT_OK(LookAtBranch(std::nullopt, nullptr));
  for (const auto& [name, info] : branches) {
    if (name == own) continue;
    ARROW_RETURN_NOT_OK(LookAtBranch(name, &info));
    if (info.parent_branch == own) children_.push_back({name, info.parent_version, false});
  }
  return arrow::Status::OK();
}

// Its versions refer to what the version that it was made from referred to, or to less. Where none
// of them is seen, that one stands for them, as it does for a branch that was made while this went
// on.
arrow::Status CleanupLook::LookAtBranch(const std::optional<std::string>& name,
                                        const BranchInfo* info) {
  ARROW_ASSIGN_OR_RAISE(const auto location, BranchLocation(main_, name));
  ARROW_ASSIGN_OR_RAISE(auto entries, table::ListVersions(location));
  ARROW_ASSIGN_OR_RAISE(const auto detached, ListDetached(location));
  entries.insert(entries.end(), detached.begin(), detached.end());
  FileReferences references = FileReferences::ByName();
  bool is_seen = false;
  for (const table::VersionEntry& entry : entries) {
    is_seen |= read_.contains({entry.path, entry.size_bytes});
    if (read_.contains({entry.path, entry.size_bytes})) continue;
    ARROW_RETURN_NOT_OK(Poll());
    const auto manifest = table::ReadManifest(location, entry);
    if (table::IsGone(manifest.status())) continue;  // another clean-up was faster
    ARROW_RETURN_NOT_OK(manifest.status());
    ARROW_RETURN_NOT_OK(references.Add(location, **manifest, ""));
    read_.emplace(entry.path, entry.size_bytes);
    is_seen = true;
  }
  kept_by_branches_.Merge(references);
  if (info == nullptr) return arrow::Status::OK();
  const bool is_new = known_branches_.insert(NameOf(*name, *info)).second && !is_first_look_;
  const bool is_needy =
      references.ContainsAnyOf(own_files_) && info->parent_branch == BranchOf(dataset_);
  const auto left_at = LeftAt(*info);
  if (left_at && (is_needy || is_new || !is_seen)) branched_off_.insert(*left_at);
  return arrow::Status::OK();
}

// The version of this branch that the other one, or a branch between the two, was made from.
std::optional<uint64_t> CleanupLook::LeftAt(const BranchInfo& branch) const {
  const auto own = BranchOf(dataset_);
  if (branch.parent_branch == own) return branch.parent_version;
  if (branch.identifier.empty()) return std::nullopt;
  if (!own) return branch.identifier.front().first;
  const auto above = ReadBranch(main_, *own);
  if (!above.ok() || branch.identifier.size() <= above->identifier.size() ||
      !std::ranges::equal(above->identifier,
                          std::span(branch.identifier).first(above->identifier.size()))) {
    return std::nullopt;
  }
  return branch.identifier[above->identifier.size()].first;
}

bool CleanupLook::Needs(const std::string& path, const std::string& name) const {
  return kept_.Contains(path) || kept_.ContainsFolder(path) || kept_by_branches_.Contains(name) ||
         kept_by_branches_.ContainsFolder(name);
}

}  // namespace glaive::dataset
