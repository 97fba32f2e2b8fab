#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include <arrow/result.h>

#include "glaive/canary.h"
#include "glaive/compaction.h"
#include "glaive/dataset.h"
#include "glaive/maintenance.h"
#include "glaive/progress.h"
#include "glaive/version_options.h"
#include "glaive/write.h"

namespace glaive {

struct MaintenanceOptions {
  bool compact = true;
  bool clean_up = true;  ///< old versions, and the files that only they refer to
  bool sweep = true;     ///< files that no version refers to

  /// Its limits on sources hold for the whole run. Of its `version` the durability counts alone,
  /// where that of the run is the default.
  CompactionOptions compaction;
  bool canary = false;  ///< CheckRewrites before each commit
  /// No task, and no removal of files, begins later than this after the call began. What has begun
  /// goes on to its end.
  std::optional<uint64_t> time_limit_ns;
  /// Tasks that ended are committed, and the rest is planned anew, when so much time has passed.
  uint64_t commit_interval_ns = uint64_t{60} * 1'000'000'000;

  /// Versions go as in CleanupOptions; tagged ones are passed over. Where neither is given, as the
  /// table's config `lance.auto_cleanup.*` says; where that says nothing, when 14 days old.
  /// `retain_versions` alone is a floor: so many stay, and of the others those that are young by
  /// the config's age, or else by that of 14 days.
  std::optional<uint64_t> older_than_ns;
  std::optional<uint64_t> retain_versions;
  std::optional<uint64_t> delete_rate_limit;  ///< files a second
  /// Files that no version refers to go when they are so old. Younger ones may be a writer's who
  /// has not committed yet: with less than the format's seven days, be sure that there is none.
  uint64_t orphan_age_ns = CleanupOptions{}.unverified_age_ns;

  bool dry_run = false;  ///< nothing is written and nothing removed: the report tells what would be
  VersionOptions version;  ///< of all versions that the run makes
  /// Called as a step begins: "compaction", "cleanup" or "sweep".
  std::function<void(std::string_view step)> on_step;
};

enum class StepOutcome : uint8_t {
  kNotRun,       ///< not wanted, or the run had ended before
  kDone,         ///< nothing is left for it
  kLimited,      ///< a limit on time or sources left some of it for the next run
  kConflict,     ///< other writers changed what some tasks had read; the rest was done
  kInterrupted,  ///< the progress callback ended the run
  kFailed,
};
/// "not_run", "done", "limited", "conflict", "interrupted" or "failed".
std::string_view NameOf(StepOutcome outcome);

struct StepReport {
  StepOutcome outcome = StepOutcome::kNotRun;
  arrow::Status why;  ///< of a conflict, an interruption or a failure, what it was
  double seconds = 0;
};

/// What tasks of a compaction read.
struct CompactionLoad {
  uint64_t tasks = 0;
  uint64_t fragments = 0;
  uint64_t rows = 0;
  uint64_t bytes = 0;  ///< of data files, as far as the manifest knows their sizes
};

struct CompactionReport : StepReport {
  CompactionLoad done;  ///< in a dry run, what would be
  CompactionLoad left;  ///< what the plan without limits had beside that
  uint64_t commits = 0;
  CompactionMetrics metrics;
  WriteSummary written;
  CanaryReport canary;  ///< of those tasks that were compared
};

struct CleanupReport : StepReport {
  RemovalStats removed;
  uint64_t tagged_versions = 0;    ///< old enough, and kept
  uint64_t branched_versions = 0;  ///< old enough, and kept since branches refer to their files
};

struct SweepReport : StepReport {
  RemovalStats removed;
  uint64_t young_files = 0;  ///< left, since a writer may be about to refer to them
  uint64_t young_bytes = 0;
};

struct MaintenanceReport {
  Dataset dataset;              ///< the newest version after the run
  uint64_t version_before = 0;  ///< the newest one before
  bool dry_run = false;
  CompactionReport compaction;
  CleanupReport cleanup;
  SweepReport sweep;
  double seconds = 0;
};

/// Keeps a table, or the branch of the handle, in order: joins small fragments of the newest
/// version, then removes old versions, then files that nobody refers to. Safe beside readers and
/// writers. What has ended stays done, whatever becomes of the rest: a conflict leaves its tasks to
/// the next run; an interruption or a failure ends the run, and the report says so.
///
/// Errors: InvalidInput for options that cannot be; whatever keeps the newest version from being
/// opened. All that goes wrong later is in the report.
arrow::Result<MaintenanceReport> Maintain(const Dataset& dataset,
                                          const MaintenanceOptions& options = {});

/// The first interruption or failure of the steps; OK where there was none.
arrow::Status StatusOf(const MaintenanceReport& report);

}  // namespace glaive
