#include <utility>

#include "core/error.h"
#include "dataset/compaction_run.h"
#include "dataset/dataset_state.h"
#include "glaive/compaction.h"

namespace glaive {

arrow::Result<CompactionResult> CompactFiles(const Dataset& dataset,
                                             const CompactionOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const CompactionPlan plan, PlanCompaction(dataset, options));
  if (plan.tasks.empty()) return CompactionResult{.dataset = dataset};
  const table::TableLocation& table = dataset.state()->location;
  dataset::CompactionRun run = dataset::RunTasks(dataset, plan, options.progress);
  dataset::NewFiles files = dataset::FilesOf(run.results, table);
  ARROW_RETURN_NOT_OK(run.status);
  dataset::DropUnchanged(table, &run.results);
  auto committed = CommitCompaction(dataset, run.results, plan.options);
  // Unless it is certain that no version refers to the files, they stay.
  if (committed.ok() || KindOf(committed.status()) == ErrorKind::kCommitUnknown) files.Keep();
  return committed;
}

}  // namespace glaive
