#include <utility>
#include <vector>

#include "core/error.h"
#include "dataset/commit/verb.h"
#include "dataset/compaction/commit/commit.h"
#include "dataset/compaction/commit/rewrite.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/write/summary.h"
#include "glaive/compaction.h"
#include "table/commit/commit.h"

namespace glaive {
namespace {

void Add(const CompactionMetrics& added, CompactionMetrics& metrics) {
  metrics.fragments_removed += added.fragments_removed;
  metrics.fragments_added += added.fragments_added;
  metrics.files_removed += added.files_removed;
  metrics.files_added += added.files_added;
}

std::vector<uint64_t> IdsOf(const std::vector<FragmentMetadata>& fragments) {
  std::vector<uint64_t> ids;
  for (const FragmentMetadata& fragment : fragments) ids.push_back(fragment.id());
  return ids;
}

// What became of each task by the last attempt.
void AddTasks(std::span<const RewriteResult> results, const dataset::RewriteCommit& rewrite,
              CompactionResult& result) {
  for (size_t i = 0; i < results.size(); ++i) {
    const arrow::Status& verdict = rewrite.VerdictOf(i);
    if (!verdict.ok()) {
      result.left.push_back({IdsOf(results[i].original_fragments), verdict});
      continue;
    }
    Add(results[i].metrics, result.metrics);
    result.summary += results[i].summary;
  }
}

// The commit reports the bytes that the tasks wrote as its progress.
table::CommitOptions DetailsOf(const ProgressCallback& progress,
                               std::span<const RewriteResult> results) {
  table::CommitOptions commit;
  if (!progress) return commit;
  WriteSummary written;
  for (const RewriteResult& result : results) written += result.summary;
  commit.poll = [&progress, written, num_tasks = results.size()] {
    return progress({.rows = written.rows,
                     .total_rows = written.rows,
                     .bytes = written.bytes,
                     .tasks = num_tasks,
                     .total_tasks = num_tasks});
  };
  return commit;
}

}  // namespace

arrow::Result<CompactionResult> CommitCompaction(const Dataset& dataset,
                                                 std::span<const RewriteResult> results,
                                                 const CompactionOptions& options) {
  return dataset::CommitCompaction(dataset, results, options, dataset::ResultsOf::kAnyone);
}

arrow::Result<CompactionResult> dataset::CommitCompaction(const Dataset& dataset,
                                                          std::span<const RewriteResult> results,
                                                          const CompactionOptions& options,
                                                          ResultsOf whose) {
  CompactionResult result = {.dataset = dataset};
  if (results.empty()) return result;
  ARROW_ASSIGN_OR_RAISE(auto rewrite, dataset::RewriteCommit::Make(dataset, results));
  table::MakeChange make = [&](const table::ManifestPtr& latest) {
    return rewrite.MakeChange(latest);
  };
  auto made = dataset::CommitVerb(dataset::PlaceOf(dataset), std::move(make), options.version,
                                  nullptr, DetailsOf(options.version.progress, results));
  if (rewrite.leaves_all()) {
    if (whose == ResultsOf::kThisCall) rewrite.RemoveUseless();
    if (!options.partial) return made.status();
    AddTasks(results, rewrite, result);
    return result;
  }
  if (!made.ok()) {
    if (KindOf(made.status()) == ErrorKind::kCommitUnknown) rewrite.KeepFiles();
    return made.status();
  }
  rewrite.KeepFiles();
  if (whose == ResultsOf::kThisCall) rewrite.RemoveUseless();
  AddTasks(results, rewrite, result);
  result.dataset = *std::move(made);
  return result;
}

}  // namespace glaive
