#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/error.h"
#include "dataset/compaction_run.h"
#include "dataset/dataset_state.h"
#include "dataset/fragment_state.h"
#include "dataset/new_files.h"
#include "glaive/compaction.h"

namespace glaive {
namespace dataset {
namespace {

// A plan foresees how many files there will be, but for sources whose size nobody recorded: then a
// limit on bytes may leave as many fragments as before. Nothing is gained by a version that says
// so.
bool ChangedNothing(const RewriteResult& result) {
  if (result.new_fragments.size() < result.original_fragments.size()) return false;
  return std::ranges::none_of(result.original_fragments, [](const FragmentMetadata& fragment) {
    const wire::DataFragment& source = fragment.state()->fragment;
    const bool has_sizes = std::ranges::all_of(
        source.files, [](const wire::DataFile& file) { return file.file_size_bytes > 0; });
    return has_sizes || source.deletion_file || !source.overlays.empty();
  });
}

NewFiles FilesOf(const std::vector<RewriteResult>& results, const table::TableLocation& table) {
  NewFiles files(table.store);
  for (const RewriteResult& result : results) {
    for (const FragmentMetadata& fragment : result.new_fragments) {
      for (const wire::DataFile& file : fragment.state()->fragment.files) {
        files.Add(table.Path("data/" + file.path));
      }
    }
  }
  return files;
}

void DropUnchanged(const table::TableLocation& table, std::vector<RewriteResult>* results) {
  const auto idle = std::stable_partition(
      results->begin(), results->end(), [](const auto& result) { return !ChangedNothing(result); });
  const NewFiles unused = FilesOf({idle, results->end()}, table);
  results->erase(idle, results->end());
}

}  // namespace

arrow::Result<CompactionResult> CommitResults(const Dataset& dataset,
                                              std::vector<RewriteResult> results,
                                              const CompactionOptions& options,
                                              const CheckResults& check) {
  const table::TableLocation& table = dataset.state()->location;
  DropUnchanged(table, &results);
  NewFiles files = FilesOf(results, table);
  if (check) ARROW_RETURN_NOT_OK(check(results));
  auto committed = CommitCompaction(dataset, results, options);
  // Unless it is certain that no version refers to the files, they stay.
  if (committed.ok() || KindOf(committed.status()) == ErrorKind::kCommitUnknown) files.Keep();
  return committed;
}

arrow::Result<CompactionResult> CompactFiles(const Dataset& dataset,
                                             const CompactionOptions& options,
                                             const CheckResults& check) {
  ARROW_ASSIGN_OR_RAISE(const CompactionPlan plan, PlanCompaction(dataset, options));
  if (plan.tasks.empty()) return CompactionResult{.dataset = dataset};
  CompactionRun run = RunTasks(dataset, plan, options.progress);
  if (!run.status.ok()) {
    const NewFiles unused = FilesOf(run.results, dataset.state()->location);
    return run.status;
  }
  ARROW_ASSIGN_OR_RAISE(auto result,
                        CommitResults(dataset, std::move(run.results), plan.options, check));
  std::ranges::move(run.left, std::back_inserter(result.left));
  return result;
}

}  // namespace dataset

arrow::Result<CompactionResult> CompactFiles(const Dataset& dataset,
                                             const CompactionOptions& options) {
  return dataset::CompactFiles(dataset, options, {});
}

}  // namespace glaive
