#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/clock.h"
#include "core/error.h"
#include "dataset/clones/files.h"
#include "dataset/commit/verb.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/table_identity.h"
#include "dataset/refs/files.h"
#include "table/commit/after_put.h"
#include "table/commit/publish.h"

namespace glaive {
namespace {

using dataset::MainLocation;
using dataset::RefKind;

using Identifier = std::vector<std::pair<uint64_t, std::string>>;

std::string NewIdentifier() {
  std::string uuid = table::NewUuid();
  std::erase(uuid, '-');
  return uuid;
}

uint64_t SecondsNow() { return static_cast<uint64_t>(UnixNanoseconds() / 1'000'000'000); }

// Whether `inner` lies in `outer`, or is it.
bool IsWithin(std::string_view inner, std::string_view outer) {
  return inner.starts_with(outer) && (inner.size() == outer.size() || inner[outer.size()] == '/');
}

// Names of branches made from the one with this identifier, or from one made from it.
std::vector<std::string> Descendants(const std::map<std::string, BranchInfo>& branches,
                                     const Identifier& identifier) {
  std::vector<std::string> names;
  for (const auto& [name, branch] : branches) {
    if (branch.identifier.size() > identifier.size() &&
        std::ranges::equal(identifier, std::span(branch.identifier).first(identifier.size()))) {
      names.push_back(name);
    }
  }
  return names;
}

arrow::Status CheckNothingRefersTo(const Dataset& dataset, const std::string& branch,
                                   const std::map<std::string, BranchInfo>& branches) {
  const auto found = branches.find(branch);
  if (found != branches.end()) {
    const auto names = Descendants(branches, found->second.identifier);
    if (!names.empty()) {
      return InvalidInput("Ref conflict error: Branch {} is what branch {} was made from", branch,
                          names.front());
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto tags, ListTags(dataset));
  for (const auto& [name, tag] : tags) {
    if (tag.branch != branch) continue;
    return InvalidInput("Ref conflict error: Branch {} is what tag {} points to", branch, name);
  }
  return arrow::Status::OK();
}

// Removes the branch's folder, with those above it that no other branch is in. Where another one
// lies below it, only the folders that are the branch's own.
arrow::Status DeleteFolders(const table::TableLocation& main, const std::string& branch,
                            const std::vector<std::string>& others) {
  const auto is_needed = [&](std::string_view folder) {
    return std::ranges::any_of(others,
                               [&](const std::string& other) { return IsWithin(other, folder); });
  };
  for (size_t end = 0; end < branch.size(); ++end) {
    end = std::min(branch.find('/', end), branch.size());
    const std::string folder = branch.substr(0, end);
    if (!is_needed(folder)) return main.store->DeleteFolder(main.Path("tree/" + folder));
  }
  for (const char* own : {"_versions", "_transactions", "_deletions", "_indices", "data"}) {
    const std::string folder = branch + "/" + own;
    if (is_needed(folder)) continue;
    ARROW_RETURN_NOT_OK(main.store->DeleteFolder(main.Path("tree/" + folder)));
  }
  return arrow::Status::OK();
}

// A forced deletion may have come between the clone and its ref, and another creation after it.
arrow::Status CheckCloneIsOurs(const table::TableLocation& location, const std::string& branch,
                               const table::Manifest& clone) {
  const auto manifest = table::ReadManifest(location, clone.version);
  if (!manifest.ok() && KindOf(manifest.status()) != ErrorKind::kNotFound) return manifest.status();
  if (manifest.ok() && dataset::IsSameVersion(**manifest, clone)) return arrow::Status::OK();
  return CommitConflict(Retry::kYes, clone.version, "branch {} was deleted while it was made",
                        branch);
}

// The ref makes the branch: without it, what was cloned is nobody's. Others build on a branch as
// soon as it has its ref, so whether the version that it is made from is whole is looked at before:
// a clean-up that takes that one later sees the clone.
arrow::Status PublishRef(const table::TableLocation& main, const std::string& branch,
                         const BranchInfo& info, const dataset::ResolvedReference& parent,
                         const table::TableLocation& location, const table::Manifest& clone) {
  const arrow::Status whole = dataset::CheckStillThere(parent, "branch " + branch);
  if (!whole.ok()) {
    ARROW_RETURN_NOT_OK(table::TakeBack(location, clone));
    return whole;
  }
  const arrow::Status created = dataset::CreateRef(main, branch, info);
  if (!created.ok()) {
    const auto there = main.store->Head(dataset::RefPath(main, RefKind::kBranch, branch));
    const bool is_certain = KindOf(created) == ErrorKind::kAlreadyExists || (there.ok() && !*there);
    // Other files of the folder may be another one's by now.
    if (is_certain) (void)table::TakeBack(location, clone);
    return created;
  }
  const arrow::Status ours = CheckCloneIsOurs(location, branch, clone);
  if (IsRetryable(ours)) {
    ARROW_RETURN_NOT_OK(dataset::TakeBackRef(main, branch, info));
    ARROW_RETURN_NOT_OK(table::TakeBack(location, clone));
  }
  return ours;
}

}  // namespace

arrow::Result<Dataset> CreateBranch(const Dataset& dataset, const std::string& branch,
                                    const std::optional<Reference>& reference,
                                    const VersionOptions& options) {
  ARROW_RETURN_NOT_OK(dataset::CheckBranchName(branch));
  const table::TableLocation main = MainLocation(dataset);
  const std::string ref = dataset::RefPath(main, RefKind::kBranch, branch);
  ARROW_ASSIGN_OR_RAISE(const auto existing, main.store->Head(ref));
  if (existing) return AlreadyExists("Ref conflict error: branch {} already exists", branch);
  ARROW_ASSIGN_OR_RAISE(
      const auto parent,
      dataset::ResolveReference(
          dataset, reference.value_or(BranchVersion{BranchOf(dataset), dataset.version()})));
  BranchInfo info{.parent_branch = parent.branch,
                  .parent_version = parent.manifest->version,
                  .identifier = {},
                  .created_at_s = SecondsNow(),
                  .manifest_size = parent.manifest->size_bytes,
                  .metadata = {}};
  if (parent.branch) {
    ARROW_ASSIGN_OR_RAISE(const BranchInfo above, dataset::ReadBranch(main, *parent.branch));
    info.identifier = above.identifier;
  }
  info.identifier.emplace_back(info.parent_version, NewIdentifier());

  ARROW_ASSIGN_OR_RAISE(const auto location, dataset::BranchLocation(main, branch));
  auto clone = dataset::CommitShallowClone(parent, {location, nullptr, StateOf(dataset)->session},
                                           branch, options);
  if (!clone.ok() && KindOf(clone.status()) == ErrorKind::kAlreadyExists) {
    return AlreadyExists(
        "branch {} is not listed, but {} has versions: what a failed attempt left goes by a "
        "forced deletion",
        branch, location.uri);
  }
  ARROW_RETURN_NOT_OK(clone.status());
  ARROW_RETURN_NOT_OK(PublishRef(main, branch, info, parent, location, *StateOf(*clone)->manifest));
  return clone;
}

arrow::Status ReplaceBranchMetadata(const Dataset& dataset, const std::string& branch,
                                    const std::map<std::string, std::string>& metadata) {
  ARROW_RETURN_NOT_OK(dataset::CheckBranchName(branch));
  const table::TableLocation main = MainLocation(dataset);
  ARROW_ASSIGN_OR_RAISE(BranchInfo info, dataset::ReadBranch(main, branch));
  info.metadata = metadata;
  return dataset::ReplaceRef(main, branch, info);
}

arrow::Status DeleteBranch(const Dataset& dataset, const std::string& branch, bool force) {
  ARROW_RETURN_NOT_OK(dataset::CheckBranchName(branch));
  const table::TableLocation main = MainLocation(dataset);
  ARROW_ASSIGN_OR_RAISE(const auto branches, ListBranches(dataset));
  if (!branches.contains(branch) && !force) {
    return NotFound("Ref not found error: Branch {} does not exist", branch);
  }
  ARROW_RETURN_NOT_OK(CheckNothingRefersTo(dataset, branch, branches));
  ARROW_RETURN_NOT_OK(main.store->Delete(dataset::RefPath(main, RefKind::kBranch, branch)));
  std::vector<std::string> others;
  for (const auto& entry : branches) {
    if (entry.first != branch) others.push_back(entry.first);
  }
  return DeleteFolders(main, branch, others);
}

}  // namespace glaive
