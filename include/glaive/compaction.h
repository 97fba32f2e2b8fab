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

namespace glaive {

enum class CompactionMode : uint8_t { kReencode, kTryBinaryCopy, kForceBinaryCopy };

/// What is absent is taken from the table's config, key `lance.compaction.NAME` (of the mode,
/// `lance.compaction.compaction_mode`), then from the defaults.
struct CompactionOptions {
  std::optional<uint64_t> target_rows_per_fragment;  ///< 1024 * 1024
  /// Beside the rows: a fragment of so many bytes is large enough, and new ones are cut near this.
  /// For tables of large rows, which never reach a number of them. Bytes are those of data files.
  std::optional<uint64_t> target_bytes_per_fragment;
  /// Also rewrites fragments whose columns are cut into more than twice the pages that a write
  /// would make, where these are below 32 MiB. Reads footers. false
  std::optional<bool> rewrite_small_pages;
  /// Bytes that all tasks together may hold, on all threads: open and encoded pages, batches
  /// decoded and read ahead. Where data_cache_bytes and num_threads would take more, pages end
  /// earlier, and fewer tasks run at once. A row that is larger is still rewritten. At least
  /// 64 MiB. No limit but theirs.
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
  /// Indices are to follow later, by a record of where rows went, which is not built: Unsupported
  /// for a table with indices or stable row ids, where there is something to record. false
  std::optional<bool> defer_index_remap;
  std::vector<uint64_t> excluded_fragment_ids;
  /// New fragments lie behind all others, and there some would be joined by a second run. Their
  /// tasks are joined at once, so that a second run is empty; such a task is not of adjacent
  /// fragments. Without it, and without a byte option, tasks are pylance's.
  bool look_ahead = true;
  std::optional<std::string> data_storage_version;
  /// Commits what can be, whatever becomes of the other tasks: those that fail, or that other
  /// writers were faster than, are told in CompactionResult::left. Without it a task that fails
  /// ends the call, and so does it that no task is left to commit.
  bool partial = false;
  VersionOptions version;
};

struct CompactionMetrics {
  uint64_t fragments_removed = 0;
  uint64_t fragments_added = 0;
  uint64_t files_removed = 0;
  uint64_t files_added = 0;
};

/// Fragments to be rewritten together, in order. A value that travels as JSON, pylance's.
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

/// What the tasks of a plan hold at a time, beside what was there before and the largest row.
struct CompactionMemory {
  uint64_t tasks_at_once = 0;     ///< num_threads, as far as memory_limit has room for them
  uint64_t page_bytes = 0;        ///< of open pages, of all tasks together; in memory twice
  uint64_t read_ahead_bytes = 0;  ///< of all tasks together
  uint64_t decoded_bytes = 0;     ///< likewise, set aside for what is being decoded
  uint64_t total_bytes = 0;
};
CompactionMemory MemoryOf(const CompactionPlan& plan);

/// What one task wrote, for the commit.
struct RewriteResult {
  uint64_t read_version = 0;
  CompactionMetrics metrics;
  std::vector<FragmentMetadata> original_fragments;
  std::vector<FragmentMetadata> new_fragments;
  WriteSummary summary;  ///< not part of the JSON

  std::string ToJson() const;
  static arrow::Result<RewriteResult> FromJson(std::string_view json);
};

/// A task that did not become part of the version. Its files are removed.
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

/// Chooses what to rewrite. Pure but for the manifest of `dataset`.
arrow::Result<CompactionPlan> PlanCompaction(const Dataset& dataset,
                                             const CompactionOptions& options = {});

/// Rewrites one task's rows, in order, without its deleted ones. Commits nothing; on failure its
/// files are removed. `options` are usually the task's own.
arrow::Result<RewriteResult> ExecuteCompaction(const Dataset& dataset, const CompactionTask& task,
                                               const CompactionOptions& options = {});

/// Puts the new fragments in the place of the old, as one version. Rows that were deleted or moved
/// by an update since the tasks read them are deleted in the new fragments too. A task one of whose
/// fragments got other values, or was rewritten by another, is left. Errors: CommitConflict where
/// no task can be committed, as when the results are committed already (that one is not retryable),
/// or where Overwrite or Restore came between; InvalidInput for results of another table.
arrow::Result<CompactionResult> CommitCompaction(const Dataset& dataset,
                                                 std::span<const RewriteResult> results,
                                                 const CompactionOptions& options = {});

/// Plan, execute, commit. Without tasks the dataset is returned as it is.
arrow::Result<CompactionResult> CompactFiles(const Dataset& dataset,
                                             const CompactionOptions& options = {});

}  // namespace glaive
