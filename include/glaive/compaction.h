#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "glaive/version_options.h"
#include "glaive/write.h"

// Example:
//
//     ARROW_ASSIGN_OR_RAISE(const CompactionPlan plan, PlanCompaction(dataset));
//     std::vector<RewriteResult> results;
//     for (const CompactionTask& task : plan.tasks) {  // on any machine
//       ARROW_ASSIGN_OR_RAISE(results.emplace_back(), ExecuteCompaction(dataset, task));
//     }
//     ARROW_ASSIGN_OR_RAISE(const CompactionResult done, CommitCompaction(dataset, results));
namespace glaive {

enum class CompactionMode : uint8_t { kReencode, kTryBinaryCopy, kForceBinaryCopy };

/// An absent option takes its value from the table's config, key `lance.compaction.NAME` (for the
/// mode, `lance.compaction.compaction_mode`), else the default.
struct CompactionOptions {
  std::optional<uint64_t> target_rows_per_fragment;  ///< 1024 * 1024
  /// A fragment with this many bytes is large enough even if it has few rows, and new fragments end
  /// near this size. Meant for tables with large rows. Counts the bytes of data files.
  std::optional<uint64_t> target_bytes_per_fragment;
  /// Also rewrites fragments with small pages: more than twice as many as a write would make, and
  /// below 32 MiB each. Reads footers. Default: false.
  std::optional<bool> rewrite_small_pages;
  /// Bytes that all tasks together may hold: open and encoded pages, decoded batches, batches read
  /// ahead. If data_cache_bytes and num_threads would need more, pages end earlier and fewer tasks
  /// run at once. A row that is larger than the limit is still rewritten. At least 64 MiB. Default:
  /// no limit.
  std::optional<uint64_t> memory_limit;
  std::optional<uint64_t> max_rows_per_group;
  std::optional<uint64_t> max_bytes_per_file;
  std::optional<uint64_t> max_page_bytes;     ///< as in FileLimits
  std::optional<uint64_t> data_cache_bytes;   ///< as in FileLimits; of all tasks together
  std::optional<bool> materialize_deletions;  ///< true
  std::optional<double> materialize_deletions_threshold;  ///< fraction deleted that is enough: 0.1
  std::optional<uint64_t> max_overlays_per_fragment;      ///< more are reason enough: 10
  std::optional<uint64_t> num_threads;                    ///< tasks that run at once
  std::optional<uint64_t> batch_size;  ///< rows decoded at a time; leaves no trace in the file
  std::optional<CompactionMode> mode;  ///< kReencode
  std::optional<uint64_t> max_source_fragments;
  std::optional<uint64_t> max_source_rows;
  std::optional<uint64_t> max_source_bytes;
  /// Leaves the indices to a later remap, which would need a record of the moved rows. Not built:
  /// Unsupported for a table with indices or stable row ids. Default: false.
  std::optional<bool> defer_index_remap;
  std::vector<uint64_t> excluded_fragment_ids;
  /// New fragments come after all others, where a second run would join some of them. With this
  /// option the first run joins their tasks, so that a second run finds nothing to do; such a task
  /// has fragments that are not adjacent. Without it, and without byte options, the tasks are those
  /// of pylance.
  bool look_ahead = true;
  std::optional<std::string> data_storage_version;
  /// Commits all tasks that succeed. CompactionResult::left lists the tasks that failed or met a
  /// conflict. Without this option the first failed task ends the call, and so does a plan of which
  /// no task can be committed.
  bool partial = false;
  VersionOptions version;
};

struct CompactionMetrics {
  uint64_t fragments_removed = 0;
  uint64_t fragments_added = 0;
  uint64_t files_removed = 0;
  uint64_t files_added = 0;
};

/// Fragments to rewrite together, in order. The JSON is that of pylance.
struct CompactionTask {
  uint64_t read_version = 0;
  std::vector<FragmentMetadata> fragments;
  CompactionOptions options;  ///< the plan's, so that a worker needs nothing else

  std::string ToJson() const;
  static arrow::Result<CompactionTask> FromJson(std::string_view json);
};

struct CompactionPlan {
  uint64_t read_version = 0;
  CompactionOptions options;
  std::vector<CompactionTask> tasks;

  std::string ToJson() const;
  static arrow::Result<CompactionPlan> FromJson(std::string_view json);
};

/// Memory that the tasks of a plan hold at one time, in addition to the largest row.
struct CompactionMemory {
  uint64_t tasks_at_once = 0;     ///< num_threads, as far as memory_limit has room for them
  uint64_t page_bytes = 0;        ///< of open pages, of all tasks together; in memory twice
  uint64_t read_ahead_bytes = 0;  ///< of all tasks together
  uint64_t decoded_bytes = 0;     ///< likewise, set aside for what is being decoded
  uint64_t total_bytes = 0;
};
CompactionMemory MemoryOf(const CompactionPlan& plan);

/// The result of one task, for the commit.
struct RewriteResult {
  uint64_t read_version = 0;
  CompactionMetrics metrics;
  std::vector<FragmentMetadata> original_fragments;
  std::vector<FragmentMetadata> new_fragments;
  WriteSummary summary;  ///< not part of the JSON

  std::string ToJson() const;
  static arrow::Result<RewriteResult> FromJson(std::string_view json);
};

/// A task that was not committed. Its files are removed.
struct LeftTask {
  std::vector<uint64_t> fragment_ids;  ///< that it was to replace
  arrow::Status reason;
};

struct CompactionResult {
  Dataset dataset;
  CompactionMetrics metrics;  ///< of the tasks that were committed
  WriteSummary summary;       ///< likewise
  std::vector<LeftTask> left;
};

/// Chooses the fragments to rewrite. Reads the manifest only, and footers with
/// `rewrite_small_pages`.
arrow::Result<CompactionPlan> PlanCompaction(const Dataset& dataset,
                                             const CompactionOptions& options = {});

/// Rewrites the live rows of one task, in order. Commits nothing. Removes its files if it fails.
/// `options` are usually those of the task.
arrow::Result<RewriteResult> ExecuteCompaction(const Dataset& dataset, const CompactionTask& task,
                                               const CompactionOptions& options = {});

/// Replaces the old fragments by the new ones, as one version. Rows that another writer deleted or
/// updated since the tasks read them are deleted in the new fragments too. A task is left out if
/// another writer changed values in one of its fragments or rewrote one. Errors: CommitConflict if
/// no task can be committed, which is not retryable if the results are committed already, or if an
/// Overwrite or a Restore came between; InvalidInput for results of another table.
arrow::Result<CompactionResult> CommitCompaction(const Dataset& dataset,
                                                 std::span<const RewriteResult> results,
                                                 const CompactionOptions& options = {});

/// Plans, executes and commits. Returns the dataset unchanged if there is no task.
arrow::Result<CompactionResult> CompactFiles(const Dataset& dataset,
                                             const CompactionOptions& options = {});

}  // namespace glaive
