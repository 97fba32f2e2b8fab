#include "dataset/retention/plan.h"

#include <algorithm>
#include <map>
#include <memory>
#include <ranges>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/clock.h"
#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/table_identity.h"
#include "dataset/refs/file_references.h"
#include "dataset/refs/files.h"
#include "table/commit/same_table.h"
#include "table/versions/chain.h"
#include "table/versions/hint.h"
#include "table/versions/naming_schemes.h"
#include "table/versions/not_found.h"

namespace glaive::dataset {
namespace {

constexpr uint64_t kLongestAge = uint64_t{1} << 62;

// Whether the options' conditions hold for a version.
class Policy {
 public:
  static arrow::Result<Policy> Make(const CleanupOptions& options) {
    Policy policy;
    if (options.older_than_ns) {
      policy.before_ns_ =
          UnixNanoseconds() - static_cast<int64_t>(std::min(*options.older_than_ns, kLongestAge));
    }
    if (options.retain_versions) {
      if (*options.retain_versions == 0) return InvalidInput("retain_versions must be at least 1");
      policy.num_retained_ = *options.retain_versions;
    }
    if (options.versions) {
      if (options.versions->empty()) return InvalidInput("versions must name at least one");
      policy.versions_ = std::set<uint64_t>(options.versions->begin(), options.versions->end());
    }
    if (options.delete_rate_limit == 0) return InvalidInput("delete_rate_limit must be at least 1");
    return policy;
  }

  // `num_newer`: how many versions come after it.
  bool Holds(const table::Manifest& manifest, uint64_t num_newer) const {
    return (!before_ns_ || manifest.timestamp_ns < *before_ns_) && num_newer >= num_retained_ &&
           (!versions_ || versions_->contains(manifest.version));
  }

 private:
  std::optional<int64_t> before_ns_;
  uint64_t num_retained_ = 0;
  std::optional<std::set<uint64_t>> versions_;
};

// A file that was there before any version was looked at: one that was committed since is seen to
// be needed.
struct ListedFile {
  io::ObjectInfo object;
  CleanupFileKind kind;
};

class Planner {
 public:
  Planner(const Dataset& dataset, uint64_t keep_from, const CleanupOptions& options,
          CleanupScope scope)
      : dataset_(dataset),
        own_(StateOf(dataset)->location),
        keep_from_(keep_from),
        options_(options),
        scope_(scope),
        gone_(own_.store) {
    plan_.look = std::make_shared<CleanupLook>(dataset, options.progress);
  }

  arrow::Result<CleanupPlan> Run() {
    if (table::IsDetached(dataset_.version())) {
      return InvalidInput(
          "Cleanup error: version {} is detached, and no version comes before it: clean up from an "
          "attached one",
          dataset_.version());
    }
    ARROW_ASSIGN_OR_RAISE(const Policy policy, Policy::Make(options_));
    ARROW_RETURN_NOT_OK(ListFiles());
    ARROW_RETURN_NOT_OK(look().LookAtRefsAndClones());
    for (ReferencedBranch branch : look().children()) {
      branch.cleanup_candidate = options_.clean_referenced_branches;
      plan_.referenced_branches.push_back(std::move(branch));
    }
    ARROW_RETURN_NOT_OK(look().LookAtMarks());
    ARROW_RETURN_NOT_OK(LookAtVersions(policy));
    ARROW_RETURN_NOT_OK(LookAtTombstones());
    if (options_.error_if_tagged_old_versions && plan_.num_tagged > 0) {
      return InvalidInput(
          "Cleanup error: {} tagged versions would be deleted, the first is {}: delete their tags, "
          "or set error_if_tagged_old_versions to false to pass over them",
          plan_.num_tagged, first_tagged_);
    }
    for (const ListedFile& file : files_) Judge(file);
    FindEmptyFolders();
    return std::move(plan_);
  }

 private:
  CleanupLook& look() { return *plan_.look; }

  // From the newest version down, so that it is known of each whether those above descend from it.
  arrow::Status LookAtVersions(const Policy& policy) {
    std::vector<table::VersionEntry> no_versions;
    ARROW_ASSIGN_OR_RAISE(const auto entries, table::ListVersions(own_, &no_versions));
    if (!entries.empty()) keep_from_ = std::min(keep_from_, entries.back().version);
    for (const table::VersionEntry& entry : entries | std::views::reverse) {
      ARROW_RETURN_NOT_OK(LookAt(entry, policy));
    }
    std::ranges::reverse(plan_.manifests);
    std::ranges::reverse(plan_.versions);
    ARROW_RETURN_NOT_OK(FindLostNames(no_versions));
    if (!has_seen_handle_) {
      const auto manifest = table::ReadManifest(own_, dataset_.version());
      if (table::IsGone(manifest.status())) return HandleIsLost();
      ARROW_RETURN_NOT_OK(manifest.status());
      ARROW_RETURN_NOT_OK(CheckHandle(**manifest));
    }
    ARROW_ASSIGN_OR_RAISE(const auto detached, ListDetached(own_));
    for (const table::VersionEntry& entry : detached) {
      const auto manifest = table::ReadManifest(own_, entry);
      if (table::IsGone(manifest.status())) continue;
      ARROW_RETURN_NOT_OK(manifest.status());
      ARROW_RETURN_NOT_OK(look().Keep(entry, **manifest));
    }
    return arrow::Status::OK();
  }

  // Once a version of the table's scheme was read, its creation is decided: names of the other
  // scheme that were seen before are of nobody who could still get them.
  arrow::Status FindLostNames(const std::vector<table::VersionEntry>& no_versions) {
    if (newest_ == nullptr || scope_ == CleanupScope::kUnverified) return arrow::Status::OK();
    for (const table::VersionEntry& name : no_versions) {
      ARROW_ASSIGN_OR_RAISE(const bool is_none, table::IsCertainlyNoVersion(own_, name, *newest_));
      if (is_none) plan_.lost_names.push_back(name);
    }
    return arrow::Status::OK();
  }

  arrow::Status HandleIsLost() const {
    return CommitConflict(Retry::kYes, dataset_.version(),
                          "that version of {} is there no longer, or is another table's: open the "
                          "newest one, and clean up from there",
                          own_.uri);
  }

  // Numbers alone say nothing of a table that was made anew at the same place.
  arrow::Status CheckHandle(const table::Manifest& manifest) {
    has_seen_handle_ = true;
    return IsSameVersion(manifest, *StateOf(dataset_)->manifest) ? arrow::Status::OK()
                                                                 : HandleIsLost();
  }

  arrow::Status LookAt(const table::VersionEntry& entry, const Policy& policy) {
    ARROW_RETURN_NOT_OK(look().Poll());
    const auto read = table::ReadManifest(own_, entry);
    if (table::IsGone(read.status())) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(read.status());
    const table::ManifestPtr& manifest = *read;
    const uint64_t version = manifest->version;
    if (newest_ == nullptr) {
      newest_ = manifest;
      ARROW_RETURN_NOT_OK(table::CheckFollowsHint(own_, *manifest, table::ReadVersionHint(own_)));
    }
    if (version == dataset_.version()) ARROW_RETURN_NOT_OK(CheckHandle(*manifest));
    const bool may_go = scope_ != CleanupScope::kUnverified && version < keep_from_;
    if (IsStray(manifest) && may_go && !look().IsNeeded(version)) {
      // Its writer may be trying again with the same files: they are nobody's.
      plan_.strays.push_back(entry);
      plan_.manifests.push_back(
          {entry.path, CleanupFileKind::kManifest, true, manifest->size_bytes});
      return arrow::Status::OK();
    }
    const bool is_old = may_go && policy.Holds(*manifest, num_versions_);
    ++num_versions_;
    const bool goes = is_old && !look().IsNeeded(version);
    if (is_old && !goes) CountKept(version);
    if (!goes) return look().Keep(entry, *manifest);
    plan_.versions.push_back(entry);
    plan_.manifests.push_back(
        {entry.path, CleanupFileKind::kManifest, false, manifest->size_bytes});
    return gone_.Add(own_, *manifest, "");
  }

  void CountKept(uint64_t version) {
    if (look().IsTagged(version)) {
      first_tagged_ = version;
      ++plan_.num_tagged;
    } else if (look().IsBranchedOff(version)) {
      ++plan_.num_branched_off;
    }
  }

  bool IsStray(const table::ManifestPtr& manifest) {
    const bool is_stray =
        above_ != nullptr && table::Descends(*above_, *manifest) == table::Descent::kNo;
    if (!is_stray) above_ = manifest;
    return is_stray;
  }

  // What an earlier clean-up took and did not finish with.
  arrow::Status LookAtTombstones() {
    for (const Tombstone& tombstone : look().marks().tombstones) {
      const uint64_t version = tombstone.version.version;
      if (look().marks().attached.contains(version)) continue;
      const auto manifest = ReadTombstone(own_, tombstone);
      if (table::IsGone(manifest.status())) continue;
      ARROW_RETURN_NOT_OK(manifest.status());
      if (scope_ == CleanupScope::kUnverified || look().IsNeeded(version)) {
        table::VersionEntry entry = tombstone.version;
        entry.path = tombstone.path;
        ARROW_RETURN_NOT_OK(look().Keep(entry, **manifest));
      } else {
        ARROW_RETURN_NOT_OK(gone_.Add(own_, **manifest, ""));
      }
      if (scope_ == CleanupScope::kUnverified) continue;
      plan_.tombstones.push_back(tombstone);
      plan_.tombstones.back().version.size_bytes = (*manifest)->size_bytes;
      if (look().IsNeeded(version)) continue;
      plan_.manifests.push_back(
          {tombstone.path, CleanupFileKind::kManifest, false, (*manifest)->size_bytes});
    }
    return arrow::Status::OK();
  }

  void Judge(const ListedFile& file) {
    const std::string name = WholeOf(own_, file.object.path);
    const std::string path = own_.Path(name);
    const bool is_index = file.kind == CleanupFileKind::kIndex;
    if (look().Needs(path, name)) {
      if (is_index) files_left_[name] += 1;
      return;
    }
    const bool is_verified = gone_.Contains(path) || gone_.ContainsFolder(path);
    const bool goes = is_verified || MayGoUnverified(file.object);
    if (is_index) files_left_[name] += goes ? 0 : 1;
    if (goes) {
      plan_.files.push_back({file.object.path, file.kind, !is_verified, file.object.size_bytes});
    }
  }

  // Of a file that no version refers to; counts those that are left for their youth.
  bool MayGoUnverified(const io::ObjectInfo& object) {
    if (scope_ == CleanupScope::kVersions) return false;
    const auto age = static_cast<int64_t>(std::min(options_.unverified_age_ns, kLongestAge));
    if (options_.delete_unverified ||
        (object.modified_ns && *object.modified_ns < UnixNanoseconds() - age)) {
      return true;
    }
    ++plan_.young_files;
    plan_.young_bytes += object.size_bytes;
    return false;
  }

  void FindEmptyFolders() {
    for (const auto& [folder, count] : files_left_) {
      if (count == 0) plan_.index_folders.push_back(own_.Path(folder));
    }
  }

  // Takes those of the folder's files of which `is_ours` says so; the others are somebody else's.
  template <typename IsOurs>
  arrow::Status ListFolder(const std::string& folder, CleanupFileKind kind, IsOurs&& is_ours) {
    ARROW_RETURN_NOT_OK(look().Poll());
    ARROW_ASSIGN_OR_RAISE(auto objects, own_.store->ListRecursive(own_.Path(folder)));
    const size_t prefix = own_.Path(folder).size() + 1;
    for (io::ObjectInfo& object : objects) {
      if (is_ours(std::string_view(object.path).substr(prefix))) {
        files_.push_back({std::move(object), kind});
      }
    }
    return arrow::Status::OK();
  }

  arrow::Status ListFiles() {
    using Name = std::string_view;
    ARROW_RETURN_NOT_OK(ListFolder("_versions", CleanupFileKind::kTemporaryManifest,
                                   [](Name name) { return name.starts_with(".tmp"); }));
    ARROW_RETURN_NOT_OK(ListFolder("_transactions", CleanupFileKind::kTransaction,
                                   [](Name name) { return name.ends_with(".txn"); }));
    ARROW_RETURN_NOT_OK(ListFolder("data", CleanupFileKind::kData, [](Name name) {
      return name.ends_with(".lance") || name.starts_with(".tmp") ||
             (name.ends_with(".blob") && name.find('/') != name.npos);
    }));
    ARROW_RETURN_NOT_OK(ListFolder("_deletions", CleanupFileKind::kDeletion, [](Name name) {
      return name.ends_with(".arrow") || name.ends_with(".bin");
    }));
    ARROW_RETURN_NOT_OK(ListFolder("_indices", CleanupFileKind::kIndex, [](Name) { return true; }));
    ARROW_ASSIGN_OR_RAISE(const auto branches,
                          ListRefNames(MainLocation(dataset_), RefKind::kBranch));
    if (branches.empty()) return arrow::Status::OK();
    std::unordered_set<std::string> names;
    for (const ListedFile& file : files_) names.insert(WholeOf(own_, file.object.path));
    look().SetOwnFiles(std::move(names));
    return arrow::Status::OK();
  }

  const Dataset& dataset_;
  const table::TableLocation own_;
  uint64_t keep_from_;
  const CleanupOptions& options_;
  const CleanupScope scope_;
  std::vector<ListedFile> files_;
  FileReferences gone_;  // what versions refer to that go
  bool has_seen_handle_ = false;
  table::ManifestPtr newest_;
  table::ManifestPtr above_;                    // the last version that was no stray
  uint64_t num_versions_ = 0;                   // looked at, but for strays
  uint64_t first_tagged_ = 0;                   // of those that would go
  std::map<std::string, uint64_t> files_left_;  // of each index
  CleanupPlan plan_;
};

}  // namespace

std::string WholeOf(const table::TableLocation& table, const std::string& path) {
  std::string name = path.substr(table.Path("").size());
  const size_t below = name.find('/') + 1;
  const size_t slash = name.find('/', below);
  if (slash == name.npos) return name;
  if (name.starts_with("_indices/")) return name.substr(0, slash);
  if (name.starts_with("data/") && name.ends_with(".blob")) return name.substr(0, slash) + ".lance";
  return name;
}

arrow::Result<CleanupPlan> PlanCleanup(const Dataset& dataset, uint64_t keep_from,
                                       const CleanupOptions& options, CleanupScope scope) {
  return Planner(dataset, keep_from, options, scope).Run();
}

}  // namespace glaive::dataset
