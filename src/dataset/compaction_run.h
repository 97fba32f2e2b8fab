#pragma once

#include <functional>
#include <vector>

#include <arrow/status.h>

#include "dataset/new_files.h"
#include "glaive/compaction.h"
#include "table/commit.h"

namespace glaive::dataset {

// What became of a plan's tasks: not all of them ended where one failed, or none more was to start.
struct CompactionRun {
  std::vector<RewriteResult> results;  // of those that ended, in order of the tasks
  arrow::Status status;                // the first failure, or what the progress callback returned
};

// Asked before each task, from any thread.
using MayStart = std::function<bool()>;

// Runs the tasks of a plan on as many threads as its options say. Commits nothing.
CompactionRun RunTasks(const Dataset& dataset, const CompactionPlan& plan,
                       const ProgressCallback& progress, const MayStart& may_start = {});

// Takes out, with their files, results that a version need not be made of.
void DropUnchanged(const table::TableLocation& table, std::vector<RewriteResult>* results);

// The files that the results brought.
NewFiles FilesOf(const std::vector<RewriteResult>& results, const table::TableLocation& table);

}  // namespace glaive::dataset
