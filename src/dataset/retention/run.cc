#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "core/clock.h"
#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/retention/plan.h"

namespace glaive::dataset {
namespace {

void Count(const CleanupCandidate& file, RemovalStats* stats) {
  stats->bytes_removed += file.size_bytes;
  switch (file.kind) {
    case CleanupFileKind::kManifest: ++stats->old_versions; break;
    case CleanupFileKind::kData: ++stats->data_files_removed; break;
    case CleanupFileKind::kTransaction: ++stats->transaction_files_removed; break;
    case CleanupFileKind::kIndex: ++stats->index_files_removed; break;
    case CleanupFileKind::kDeletion: ++stats->deletion_files_removed; break;
    case CleanupFileKind::kTemporaryManifest: break;
  }
}

// Deletes files no faster than a rate allows.
class Remover {
 public:
  Remover(io::ObjectStore& store, const CleanupOptions& options)
      : store_(store), options_(options) {}

  // Before each request that deletes.
  arrow::Status WaitForTurn() {
    if (options_.progress) {
      ARROW_RETURN_NOT_OK(options_.progress({.bytes = stats_.bytes_removed}));
    }
    if (!options_.delete_rate_limit) return arrow::Status::OK();
    SleepUntil(next_);
    next_ = std::max(next_, SteadyNow()) +
            std::chrono::nanoseconds(1'000'000'000 / *options_.delete_rate_limit);
    return arrow::Status::OK();
  }

  void Remove(const CleanupCandidate& file) { Note(store_.Delete(file.path).ok(), file); }

  void Note(bool is_removed, const CleanupCandidate& file) {
    if (is_removed) {
      Count(file, &stats_);
    } else {
      ++stats_.failed_deletes;
    }
  }

  const RemovalStats& stats() const { return stats_; }

 private:
  io::ObjectStore& store_;
  const CleanupOptions& options_;
  SteadyTime next_ = SteadyNow();
  RemovalStats stats_;
};

// A version goes in steps, and each of them can be the last one that this process makes: the next
// clean-up goes on from there.
//
//   1. It is given another name, a tombstone, and loses its own. Whoever made something of it since
//      the plan looks, after that was published, whether the name is still there: it was, and then
//      what they made is seen in step 2; or it was not, and they take back what they made.
//   2. Tags, branches and versions are looked at anew.
//   3. It is said, once and for all, which of the versions go for good. Others are put back.
//   4. Files that only those refer to are deleted, and then their tombstones.
class CleanupSteps {
 public:
  CleanupSteps(const Dataset& dataset, const CleanupPlan& plan, const CleanupOptions& options,
               std::chrono::nanoseconds look_every)
      : table_(StateOf(dataset)->location),
        plan_(plan),
        look_(*plan.look),
        look_every_(look_every),
        run_(NewRunName()),
        remover_(*table_.store, options) {}

  arrow::Status Run() {
    ARROW_RETURN_NOT_OK(RemoveLeftMarks());
    ARROW_RETURN_NOT_OK(RemoveStrays());
    ARROW_RETURN_NOT_OK(BuryVersions());
    if (!buried_.empty()) {
      ARROW_RETURN_NOT_OK(look_.LookAtRefsAndClones());
      ARROW_RETURN_NOT_OK(look_.LookAtVersions(Paths()));
      ARROW_RETURN_NOT_OK(Settle());
      ARROW_RETURN_NOT_OK(look_.LookAtVersions(Paths()));
      next_look_ = SteadyNow() + look_every_;
    } else if (!plan_.files.empty()) {
      // The look that comes before the first file may be at a listing older than the plan's.
      ARROW_RETURN_NOT_OK(MakeAChange(table_, run_));
    }
    for (const CleanupCandidate& file : plan_.files) ARROW_RETURN_NOT_OK(RemoveFile(file));
    RemoveFolders();
    // Only after all else: without what names them, files that are left could be a writer's.
    return remover_.stats().failed_deletes == 0 ? RemoveTombstones() : arrow::Status::OK();
  }

  const RemovalStats& stats() const { return remover_.stats(); }

 private:
  // Pins of restores that can no longer publish under the number they were to have, and what was
  // said of runs of which nothing else is left.
  arrow::Status RemoveLeftMarks() {
    const VersionMarks& marks = look_.marks();
    const uint64_t newest = marks.attached.empty() ? 0 : *marks.attached.rbegin();
    for (const Pin& pin : marks.pins) {
      if (pin.published_as <= newest) ARROW_RETURN_NOT_OK(table_.store->Delete(pin.path));
    }
    std::set<std::string> left = marks.decided;
    for (const Tombstone& tombstone : marks.tombstones) {
      const bool is_attached = marks.attached.contains(tombstone.version.version);
      if (is_attached && marks.decided.contains(tombstone.run)) {
        ARROW_ASSIGN_OR_RAISE(const bool is_removed, RemoveSpare(table_, tombstone));
        if (is_removed) spares_.insert(tombstone.path);
      } else {
        left.erase(tombstone.run);
      }
    }
    for (const std::string& run : left) ARROW_RETURN_NOT_OK(ForgetFate(table_, run));
    return arrow::Status::OK();
  }

  // Whether its version is one that the plan takes.
  bool Goes(const Tombstone& tombstone) const {
    return std::ranges::any_of(plan_.versions, [&](const table::VersionEntry& version) {
      return version.version == tombstone.version.version;
    });
  }

  arrow::Status RemoveStrays() {
    for (const table::VersionEntry& name : plan_.lost_names) {
      ARROW_RETURN_NOT_OK(
          table_.store->DeleteIf({name.path, name.size_bytes, name.modified_ns, name.file_id})
              .status());
    }
    for (const table::VersionEntry& stray : plan_.strays) {
      ARROW_RETURN_NOT_OK(remover_.WaitForTurn());
      const auto removed =
          table_.store->DeleteIf({stray.path, stray.size_bytes, stray.modified_ns, stray.file_id});
      if (removed.ok() && !*removed) continue;
      remover_.Note(removed.ok(), {stray.path, CleanupFileKind::kManifest, true, stray.size_bytes});
    }
    return arrow::Status::OK();
  }

  arrow::Status BuryVersions() {
    buried_ = plan_.tombstones;
    // Of a clean-up that died before it took the version's own name.
    for (const Tombstone& tombstone : look_.marks().tombstones) {
      const bool is_attached = look_.marks().attached.contains(tombstone.version.version);
      if (is_attached && Goes(tombstone) && !spares_.contains(tombstone.path)) {
        buried_.push_back(tombstone);
      }
    }
    for (const table::VersionEntry& version : plan_.versions) {
      ARROW_RETURN_NOT_OK(remover_.WaitForTurn());
      auto buried = Bury(table_, version, run_);
      if (!buried.ok()) {  // it stays; the look that follows sees it
        remover_.Note(false, {});
      } else if (*buried) {
        buried_.push_back(**std::move(buried));
      }
    }
    return arrow::Status::OK();
  }

  std::set<std::string> Paths() const {
    std::set<std::string> paths;
    for (const Tombstone& tombstone : buried_) paths.insert(tombstone.path);
    return paths;
  }

  // Of each run, since what another one said of its own is what counts. Leaves in `buried_` what
  // goes for good.
  arrow::Status Settle() {
    std::map<std::string, Fate> fates;
    for (const Tombstone& tombstone : buried_) {
      const uint64_t version = tombstone.version.version;
      Fate& fate = fates[tombstone.run];
      const bool is_attached = look_.marks().attached.contains(version);
      // Whose owner may be about to take its name; this one is past that.
      if (is_attached && tombstone.run != run_) continue;
      const bool stays = is_attached || look_.IsNeeded(version);
      (stays ? fate.back : fate.gone).insert(version);
    }
    for (auto& [run, fate] : fates) {
      ARROW_ASSIGN_OR_RAISE(fate, DecideFate(table_, run, fate));
    }
    // What has no tombstone any more was put back, or finished with, by another one, who followed
    // what was said before; and what has its own name again was put back.
    ARROW_ASSIGN_OR_RAISE(const VersionMarks marks, ListMarks(table_));
    const std::set<std::string> mine = Paths();
    std::set<std::string> doomed;
    for (const Tombstone& tombstone : marks.tombstones) {
      const auto fate = fates.find(tombstone.run);
      if (fate == fates.end()) continue;
      const uint64_t version = tombstone.version.version;
      const bool is_attached = marks.attached.contains(version);
      if (fate->second.gone.contains(version)) {
        if (!is_attached && mine.contains(tombstone.path)) doomed.insert(tombstone.path);
      } else if (!is_attached) {
        ARROW_RETURN_NOT_OK(PutBack(table_, tombstone));
      } else if (tombstone.run == run_) {
        ARROW_RETURN_NOT_OK(table_.store->Delete(tombstone.path));
      }
    }
    for (const Tombstone& tombstone : buried_) {
      const uint64_t version = tombstone.version.version;
      if (fates[tombstone.run].gone.contains(version)) continue;
      ARROW_ASSIGN_OR_RAISE(const bool is_there, look_.KeepWhereverItLies(tombstone));
      if (!is_there) {
        return CommitConflict(Retry::kYes, version,
                              "it is to stay, and another clean-up has it in its hands");
      }
    }
    for (const auto& fate : fates) runs_.insert(fate.first);
    std::erase_if(buried_, [&](const Tombstone& each) { return !doomed.contains(each.path); });
    return arrow::Status::OK();
  }

  arrow::Status RemoveFile(const CleanupCandidate& file) {
    ARROW_RETURN_NOT_OK(remover_.WaitForTurn());
    const auto now = SteadyNow();
    if (now >= next_look_) {
      ARROW_RETURN_NOT_OK(look_.LookAtRefs());
      ARROW_RETURN_NOT_OK(look_.LookAtVersions(Paths()));
      const auto end = SteadyNow();
      next_look_ = end + std::max<SteadyTime::duration>(look_every_, 10 * (end - now));
    }
    if (!IsNeeded(file.path)) remover_.Remove(file);
    return arrow::Status::OK();
  }

  bool IsNeeded(const std::string& path) const {
    const std::string name = WholeOf(table_, path);
    return look_.Needs(table_.Path(name), name);
  }

  void RemoveFolders() {
    for (const std::string& folder : plan_.index_folders) {
      if (!IsNeeded(folder)) static_cast<void>(table_.store->DeleteFolder(folder));
    }
  }

  arrow::Status RemoveTombstones() {
    for (const Tombstone& tombstone : buried_) {
      ARROW_RETURN_NOT_OK(remover_.WaitForTurn());
      remover_.Remove(
          {tombstone.path, CleanupFileKind::kManifest, false, tombstone.version.size_bytes});
    }
    // What could not be forgotten is, by the next one.
    for (const std::string& run : runs_) static_cast<void>(ForgetFate(table_, run));
    return arrow::Status::OK();
  }

  const table::TableLocation& table_;
  const CleanupPlan& plan_;
  CleanupLook& look_;
  const std::chrono::nanoseconds look_every_;
  const std::string run_;
  Remover remover_;
  std::vector<Tombstone> buried_;
  std::set<std::string> spares_;  // tombstones that were removed, of versions that were put back
  std::set<std::string> runs_;    // whose fate is known
  SteadyTime next_look_;
};

}  // namespace

RemovalStats SumOf(const CleanupPlan& plan) {
  RemovalStats stats;
  for (const CleanupCandidate& file : plan.files) Count(file, &stats);
  for (const CleanupCandidate& file : plan.manifests) Count(file, &stats);
  return stats;
}

CleanupRun RunCleanup(const Dataset& dataset, const CleanupPlan& plan,
                      const CleanupOptions& options, std::chrono::nanoseconds look_every) {
  CleanupSteps steps(dataset, plan, options, look_every);
  const arrow::Status status = steps.Run();
  return {steps.stats(), status};
}

}  // namespace glaive::dataset
