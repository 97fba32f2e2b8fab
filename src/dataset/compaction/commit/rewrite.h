#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "dataset/compaction/commit/task.h"
#include "dataset/handle/new_files.h"
#include "glaive/compaction.h"
#include "read/snapshot.h"
#include "table/commit/commit.h"
#include "table/versions/rewrite_history.h"

namespace glaive::dataset {

// The results of compaction tasks on their way into a version. What others committed since the
// tasks read their fragments is met task by task, at each attempt: rows that were deleted are
// deleted in the new fragments as well, and a task whose fragments hold other values by now, or
// were rewritten by another, is left.
class RewriteCommit {
 public:
  // Borrows `dataset` and `results`. InvalidInput for results that are none of this table's.
  static arrow::Result<RewriteCommit> Make(const Dataset& dataset,
                                           std::span<const RewriteResult> results);

  // The operation to follow `latest`, once its deletion files are written. A CommitConflict where
  // no task can be part of it, or where Overwrite or Restore took the place of all fragments.
  arrow::Result<table::Change> MakeChange(const table::ManifestPtr& latest);

  // By the last attempt: why a task is left, OK for those that are not.
  const arrow::Status& VerdictOf(size_t task) const { return tasks_[task].verdict; }
  bool leaves_all() const { return leaves_all_; }

  // The version is made: its deletion files are its own.
  void KeepFiles() { deletion_files_.Keep(); }
  // Removes the data files that the operation has no use for, as far as it is certain that no other
  // version has them. After a commit, or when all tasks are left; and only where nobody else has
  // the results, who may be about to publish a version with them.
  void RemoveUseless();

 private:
  RewriteCommit(read::Snapshot snapshot, RewriteHistory history, std::vector<RewriteTask> tasks);

  arrow::Status MeetAll();
  arrow::Status FirstVerdict() const;
  void GiveIds();
  arrow::Status WriteDeletions();
  table::Rewrite Operation() const;

  read::Snapshot snapshot_;  // of the version that the last attempt was to follow
  RewriteHistory history_;
  std::vector<RewriteTask> tasks_;
  bool leaves_all_ = false;
  NewFiles deletion_files_;  // of the last attempt
};

}  // namespace glaive::dataset
