#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "glaive/compaction.h"

namespace glaive::dataset {

// What became of a plan's tasks: not all of them ended where one failed, or none more was to start.
struct CompactionRun {
  std::vector<RewriteResult> results;  // of those that ended, in order of the tasks
  std::vector<LeftTask> left;          // those that failed, where the others go on
  arrow::Status status;                // the first failure, or what the progress callback returned
};

// Asked before each task, from any thread.
using MayStart = std::function<bool()>;

// Runs the tasks of a plan on as many threads as its options say. Commits nothing.
CompactionRun RunTasks(const Dataset& dataset, const CompactionPlan& plan,
                       const ProgressCallback& progress, const MayStart& may_start = {});

// Looks at what is about to be committed; an error keeps it from that.
using CheckResults = std::function<arrow::Status(std::span<const RewriteResult>)>;

// Commits results, but for those that would change nothing. Files that no version refers to in the
// end are removed.
arrow::Result<CompactionResult> CommitResults(const Dataset& dataset,
                                              std::vector<RewriteResult> results,
                                              const CompactionOptions& options,
                                              const CheckResults& check = {});

// CompactFiles, with a look at the results before they are committed.
arrow::Result<CompactionResult> CompactFiles(const Dataset& dataset,
                                             const CompactionOptions& options,
                                             const CheckResults& check);

}  // namespace glaive::dataset
