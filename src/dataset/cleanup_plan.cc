#include "dataset/cleanup_plan.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "core/clock.h"
#include "core/error.h"
#include "dataset/dataset_state.h"
#include "dataset/file_references.h"
#include "dataset/ref_files.h"
#include "dataset/session_state.h"

namespace glaive::dataset {
namespace {

constexpr uint64_t kLongestAge = uint64_t{1} << 62;

// Whether the options' conditions hold for a version.
class Policy {
 public:
  static arrow::Result<Policy> Make(const CleanupOptions& options,
                                    const std::vector<table::VersionEntry>& entries) {
    Policy policy;
    if (options.older_than_ns) {
      policy.before_ns_ =
          UnixNanoseconds() - static_cast<int64_t>(std::min(*options.older_than_ns, kLongestAge));
    }
    if (options.retain_versions) {
      if (*options.retain_versions == 0) return InvalidInput("retain_versions must be at least 1");
      const uint64_t kept = std::min<uint64_t>(*options.retain_versions, entries.size());
      policy.before_version_ = entries.empty() ? 0 : entries[entries.size() - kept].version;
    }
    if (options.versions) {
      if (options.versions->empty()) return InvalidInput("versions must name at least one");
      policy.versions_ = std::set<uint64_t>(options.versions->begin(), options.versions->end());
    }
    if (options.delete_rate_limit == 0) return InvalidInput("delete_rate_limit must be at least 1");
    return policy;
  }

  bool Holds(const table::Manifest& manifest) const {
    return (!before_ns_ || manifest.timestamp_ns < *before_ns_) &&
           (!before_version_ || manifest.version < *before_version_) &&
           (!versions_ || versions_->contains(manifest.version));
  }

 private:
  std::optional<int64_t> before_ns_;
  std::optional<uint64_t> before_version_;
  std::optional<std::set<uint64_t>> versions_;
};

// What the versions say of files: those that stay, and those that go.
struct Inspection {
  explicit Inspection(const std::shared_ptr<io::ObjectStore>& store) : kept(store), gone(store) {}

  FileReferences kept;
  FileReferences gone;
};

class Planner {
 public:
  Planner(const Dataset& dataset, uint64_t keep_from, const CleanupOptions& options,
          CleanupScope scope)
      : dataset_(dataset),
        own_(dataset.state()->location),
        main_(MainLocation(dataset)),
        keep_from_(keep_from),
        options_(options),
        scope_(scope),
        found_(own_.store) {}

  arrow::Result<CleanupPlan> Run() {
    ARROW_ASSIGN_OR_RAISE(const auto entries, table::ListVersions(own_));
    ARROW_ASSIGN_OR_RAISE(const Policy policy, Policy::Make(options_, entries));
    ARROW_RETURN_NOT_OK(FindTags());
    ARROW_RETURN_NOT_OK(LookAtBranches());
    for (const table::VersionEntry& entry : entries) {
      ARROW_RETURN_NOT_OK(LookAt(entry, policy));
    }
    ARROW_ASSIGN_OR_RAISE(const auto detached, ListDetached(own_));
    for (const table::VersionEntry& entry : detached) {
      ARROW_ASSIGN_OR_RAISE(const auto manifest, table::ReadManifest(own_, entry));
      ARROW_RETURN_NOT_OK(found_.kept.Add(own_, *manifest, ""));
    }
    if (options_.error_if_tagged_old_versions && plan_.num_tagged > 0) {
      return InvalidInput(
          "Cleanup error: {} tagged versions would be deleted, the first is {}: delete their tags, "
          "or set error_if_tagged_old_versions to false to pass over them",
          plan_.num_tagged, first_tagged_);
    }
    ARROW_RETURN_NOT_OK(FindFiles());
    return std::move(plan_);
  }

 private:
  arrow::Status Poll() const {
    return options_.progress ? options_.progress({}) : arrow::Status::OK();
  }

  arrow::Status FindTags() {
    ARROW_ASSIGN_OR_RAISE(const auto tags, ListTags(dataset_));
    for (const auto& entry : tags) {
      if (entry.second.branch == BranchOf(dataset_)) tagged_.insert(entry.second.version);
    }
    return arrow::Status::OK();
  }

  // Files that any version of another branch refers to stay, and so does the version that a branch
  // with such files was made from.
  arrow::Status LookAtBranches() {
    ARROW_ASSIGN_OR_RAISE(const auto branches, ListBranches(dataset_));
    std::vector<std::optional<std::string>> others = {std::nullopt};
    for (const auto& entry : branches) others.push_back(entry.first);
    for (const auto& name : others) {
      if (name == BranchOf(dataset_)) continue;
      FileReferences references(own_.store);
      ARROW_RETURN_NOT_OK(LookAtBranch(name, &references));
      found_.kept.Merge(references);
      if (!name) continue;
      const BranchInfo& branch = branches.at(*name);
      if (branch.parent_branch != BranchOf(dataset_)) continue;
      if (references.NamesFilesOf(own_)) branched_off_.insert(branch.parent_version);
      plan_.referenced_branches.push_back(
          {*name, branch.parent_version, options_.clean_referenced_branches});
    }
    return arrow::Status::OK();
  }

  arrow::Status LookAtBranch(const std::optional<std::string>& name, FileReferences* references) {
    auto location = BranchLocation(main_, name);
    ARROW_RETURN_NOT_OK(location.status());
    ARROW_ASSIGN_OR_RAISE(auto entries, table::ListVersions(*location));
    ARROW_ASSIGN_OR_RAISE(const auto detached, ListDetached(*location));
    entries.insert(entries.end(), detached.begin(), detached.end());
    for (const table::VersionEntry& entry : entries) {
      ARROW_RETURN_NOT_OK(Poll());
      auto manifest = table::ReadManifest(*location, entry);
      // Another clean-up was faster.
      if (!manifest.ok() && KindOf(manifest.status()) == ErrorKind::kNotFound) continue;
      ARROW_RETURN_NOT_OK(manifest.status());
      ARROW_RETURN_NOT_OK(references->Add(*location, **manifest, ""));
    }
    return arrow::Status::OK();
  }

  arrow::Status LookAt(const table::VersionEntry& entry, const Policy& policy) {
    ARROW_RETURN_NOT_OK(Poll());
    auto manifest = table::ReadManifest(own_, entry);
    const bool has_gone = !manifest.ok() && entry.version < keep_from_ &&
                          KindOf(manifest.status()) == ErrorKind::kNotFound;
    if (has_gone) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(manifest.status());
    const bool is_old = scope_ != CleanupScope::kUnverified && entry.version < keep_from_ &&
                        policy.Holds(**manifest);
    const bool is_tagged = tagged_.contains(entry.version);
    const bool goes = is_old && !is_tagged && !branched_off_.contains(entry.version);
    if (is_old && is_tagged) {
      if (plan_.num_tagged == 0) first_tagged_ = entry.version;
      ++plan_.num_tagged;
    }
    if (is_old && !is_tagged && !goes) ++plan_.num_branched_off;
    if (goes) {
      plan_.manifests.push_back(
          {entry.path, CleanupFileKind::kManifest, false, (*manifest)->size_bytes});
    }
    return (goes ? found_.gone : found_.kept).Add(own_, **manifest, "");
  }

  // Judges a file by what the versions say of `path`: its own, or that of what it goes with.
  void Judge(const io::ObjectInfo& object, CleanupFileKind kind, const std::string& path) {
    if (found_.kept.Contains(path) || found_.kept.ContainsFolder(path)) return;
    const bool is_verified = found_.gone.Contains(path) || found_.gone.ContainsFolder(path);
    if (!is_verified && !MayGoUnverified(object)) return;
    plan_.files.push_back({object.path, kind, !is_verified, object.size_bytes});
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

  template <typename Visit>
  arrow::Status VisitFolder(const std::string& folder, Visit&& visit) {
    ARROW_RETURN_NOT_OK(Poll());
    ARROW_ASSIGN_OR_RAISE(const auto objects, own_.store->ListRecursive(own_.Path(folder)));
    const size_t prefix = own_.Path(folder).size() + 1;
    for (const io::ObjectInfo& object : objects) visit(object, object.path.substr(prefix));
    return arrow::Status::OK();
  }

  arrow::Status FindFiles() {
    ARROW_RETURN_NOT_OK(
        VisitFolder("_versions", [&](const io::ObjectInfo& object, const std::string& name) {
          if (!name.starts_with(".tmp") || !MayGoUnverified(object)) return;
          plan_.files.push_back(
              {object.path, CleanupFileKind::kTemporaryManifest, true, object.size_bytes});
        }));
    ARROW_RETURN_NOT_OK(
        VisitFolder("_transactions", [&](const io::ObjectInfo& object, const std::string& name) {
          if (!name.ends_with(".txn")) return;
          Judge(object, CleanupFileKind::kTransaction, object.path);
        }));
    ARROW_RETURN_NOT_OK(
        VisitFolder("data", [&](const io::ObjectInfo& object, const std::string& name) {
          FindDataFile(object, name);
        }));
    ARROW_RETURN_NOT_OK(
        VisitFolder("_deletions", [&](const io::ObjectInfo& object, const std::string& name) {
          if (!name.ends_with(".arrow") && !name.ends_with(".bin")) return;
          Judge(object, CleanupFileKind::kDeletion, object.path);
        }));
    return FindIndexFiles();
  }

  // Large values lie in a folder of their data file's name. Whatever else lies there is somebody
  // else's.
  void FindDataFile(const io::ObjectInfo& object, const std::string& name) {
    const size_t slash = name.find('/');
    if (slash != std::string::npos && name.ends_with(".blob")) {
      Judge(object, CleanupFileKind::kData, own_.Path("data/" + name.substr(0, slash) + ".lance"));
    } else if (name.ends_with(".lance")) {
      Judge(object, CleanupFileKind::kData, object.path);
    } else if (name.starts_with(".tmp") && MayGoUnverified(object)) {
      plan_.files.push_back({object.path, CleanupFileKind::kData, true, object.size_bytes});
    }
  }

  arrow::Status FindIndexFiles() {
    std::map<std::string, uint64_t> left;  // files of each index that stay
    ARROW_RETURN_NOT_OK(
        VisitFolder("_indices", [&](const io::ObjectInfo& object, const std::string& name) {
          const std::string uuid = name.substr(0, name.find('/'));
          const size_t before = plan_.files.size();
          Judge(object, CleanupFileKind::kIndex, own_.Path("_indices/" + uuid));
          left[uuid] += plan_.files.size() == before ? 1 : 0;
        }));
    for (const auto& [uuid, count] : left) {
      if (count == 0) plan_.index_folders.push_back(own_.Path("_indices/" + uuid));
    }
    return arrow::Status::OK();
  }

  const Dataset& dataset_;
  const table::TableLocation own_;
  const table::TableLocation main_;
  const uint64_t keep_from_;
  const CleanupOptions& options_;
  const CleanupScope scope_;
  std::set<uint64_t> tagged_;
  std::set<uint64_t> branched_off_;
  uint64_t first_tagged_ = 0;  // of those that would go
  Inspection found_;
  CleanupPlan plan_;
};

}  // namespace

arrow::Result<CleanupPlan> PlanCleanup(const Dataset& dataset, uint64_t keep_from,
                                       const CleanupOptions& options, CleanupScope scope) {
  return Planner(dataset, keep_from, options, scope).Run();
}

}  // namespace glaive::dataset
