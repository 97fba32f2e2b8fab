#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include <arrow/result.h>

#include "glaive/compaction.h"
#include "glaive/dataset.h"
#include "glaive/retention.h"
#include "glaive/version_options.h"
#include "glaive/write.h"

// Example:
//
//     ARROW_ASSIGN_OR_RAISE(const MaintenanceReport report,
//                           Maintain(dataset, {.retain_versions = 20, .dry_run = true}));
//     std::cout << report.compaction.done.fragments << " fragments would be joined\n";
namespace glaive {

/// Rows that are equal before and after a compaction.
struct CanaryReport {
  uint64_t rows = 0;           ///< compared, value by value
  uint64_t old_fragments = 0;  ///< whose rows these are
  uint64_t new_fragments = 0;
};

/// Commits the results of tasks to a detached version, which no reader of the table sees, and
/// compares it with the version that the tasks read: the schema, the rows in order, stable row ids
/// and row versions, and the other fragments. Reads everything from the store, not from a cache.
/// Removes the detached version in any case; the files of the results stay.
///
/// Errors: Corrupt for the first row that differs, with the new file and both values; Unsupported
/// for a table whose manifests have names of the older scheme, which has no detached versions.
arrow::Result<CanaryReport> CheckRewrites(const Dataset& dataset,
                                          std::span<const RewriteResult> results,
                                          const ProgressCallback& progress = {});

struct CheckedCompaction {
  CompactionResult compaction;
  CanaryReport canary;
};

/// CompactFiles with CheckRewrites before the commit. If the check fails, the call makes no version
/// and leaves no file.
arrow::Result<CheckedCompaction> CompactWithCanary(const Dataset& dataset,
                                                   const CompactionOptions& options = {});

struct MaintenanceOptions {
  bool compact = true;
  bool clean_up = true;  ///< old versions, and the files that only they refer to
  bool sweep = true;     ///< files that no version refers to

  /// Its limits of sources apply to the whole run. Of its `version` only the durability counts, and
  /// only if `version` of the run has the default.
  CompactionOptions compaction;
  bool canary = false;  ///< CheckRewrites before each commit
  /// No task and no removal of files begins later than this after the start of the call. Tasks that
  /// have begun are completed.
  std::optional<uint64_t> time_limit_ns;
  /// After this time the run commits the finished tasks and plans the rest again.
  uint64_t commit_interval_ns = uint64_t{60} * 1'000'000'000;

  /// The versions to remove, as in CleanupOptions; tagged versions stay. If neither is given, the
  /// table's config `lance.auto_cleanup.*` counts, else versions older than 14 days go. With
  /// `retain_versions` alone, that many versions stay, and of the others those that are younger
  /// than the age in the config, or than 14 days.
  std::optional<uint64_t> older_than_ns;
  std::optional<uint64_t> retain_versions;
  std::optional<uint64_t> delete_rate_limit;  ///< files a second
  /// The age at which unverified files go. Younger files may belong to a writer that has not
  /// committed yet: choose less than the seven days of the format only if no writer is active.
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

/// The input of compaction tasks.
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

/// Maintains a table, or the branch of the handle: compacts the newest version, then removes old
/// versions, then unverified files. Safe beside readers and writers. Finished steps stay done. A
/// conflict leaves its tasks to the next run; an interruption or a failure ends the run. The report
/// has the outcome of each step.
///
/// Errors: InvalidInput for invalid options; errors of opening the newest version. Later errors are
/// in the report.
arrow::Result<MaintenanceReport> Maintain(const Dataset& dataset,
                                          const MaintenanceOptions& options = {});

/// The first interruption or failure of a step; OK if there was none.
arrow::Status StatusOf(const MaintenanceReport& report);

}  // namespace glaive
