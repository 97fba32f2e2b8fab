#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "dataset/compaction/commit/commit.h"
#include "dataset/compaction/plan/plan.h"
#include "dataset/compaction/plan/source_fragment.h"
#include "dataset/compaction/run/run.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/new_files.h"
#include "glaive/compaction.h"
#include "read/snapshot.h"
#include "table/manifest/fragment_metadata.h"

namespace glaive {
namespace dataset {
namespace {

// A plan foresees how many files there will be, but for sources whose size nobody recorded: then a
// limit on bytes may leave as many fragments as before. Nothing is gained by a version that says
// so.
bool ChangedNothing(const RewriteResult& result) {
  if (result.new_fragments.size() < result.original_fragments.size()) return false;
  return std::ranges::none_of(result.original_fragments, [](const FragmentMetadata& fragment) {
    const wire::DataFragment& source = StateOf(fragment)->fragment;
    const bool has_sizes = std::ranges::all_of(
        source.files, [](const wire::DataFile& file) { return file.file_size_bytes > 0; });
    return has_sizes || source.deletion_file || !source.overlays.empty();
  });
}

NewFiles NewFilesOf(const std::vector<RewriteResult>& results, const table::TableLocation& table) {
  NewFiles files(table.store);
  for (const RewriteResult& result : results) {
    for (const FragmentMetadata& fragment : result.new_fragments) {
      for (const wire::DataFile& file : StateOf(fragment)->fragment.files) {
        files.Add(table.Path("data/" + file.path));
      }
    }
  }
  return files;
}

void DropUnchanged(const table::TableLocation& table, std::vector<RewriteResult>* results) {
  const auto idle = std::stable_partition(
      results->begin(), results->end(), [](const auto& result) { return !ChangedNothing(result); });
  const NewFiles unused = NewFilesOf({idle, results->end()}, table);
  results->erase(idle, results->end());
}

}  // namespace

arrow::Result<CompactionResult> CommitResults(const Dataset& dataset,
                                              std::vector<RewriteResult> results,
                                              const CompactionOptions& options,
                                              const CheckResults& check) {
  const table::TableLocation& table = StateOf(dataset)->location;
  DropUnchanged(table, &results);
  NewFiles files = NewFilesOf(results, table);
  if (check) ARROW_RETURN_NOT_OK(check(results));
  auto committed = dataset::CommitCompaction(dataset, results, options, ResultsOf::kThisCall);
  // Unless it is certain that no version refers to the files, they stay.
  if (committed.ok() || KindOf(committed.status()) == ErrorKind::kCommitUnknown) files.Keep();
  return committed;
}

namespace {

arrow::Result<std::vector<SourceFragment>> Describe(const Dataset& dataset,
                                                    const RewriteResult& result) {
  const read::Snapshot snapshot = SnapshotOf(dataset);
  const LiveFields fields(snapshot.manifest->schema);
  std::vector<SourceFragment> described;
  for (const FragmentMetadata& fragment : result.new_fragments) {
    ARROW_ASSIGN_OR_RAISE(described.emplace_back(),
                          DescribeSource(snapshot, StateOf(fragment)->fragment, fields));
  }
  return described;
}

// Whether the plan took guesses at what is written.
bool GoesByBytes(const CompactionOptions& options) {
  return options.target_bytes_per_fragment || options.max_bytes_per_file || options.memory_limit;
}

bool HasLimits(const CompactionOptions& options) {
  return options.max_source_fragments || options.max_source_rows || options.max_source_bytes;
}

// A plan's tasks, until what they have written lasts.
class SettledRun {
 public:
  SettledRun(const Dataset& dataset, SurveyedPlan surveyed)
      : dataset_(dataset), surveyed_(std::move(surveyed)) {}

  CompactionRun Run() && {
    const CompactionOptions& options = surveyed_.plan.options;
    run_ = RunTasks(dataset_, surveyed_.plan, options.version.progress);
    const bool is_whole = run_.status.ok() && run_.left.empty();
    if (is_whole && options.look_ahead && GoesByBytes(options) && !HasLimits(options)) {
      run_.status = Settle();
    }
    return std::move(run_);
  }

 private:
  arrow::Status Settle() {
    while (true) {
      std::vector<std::vector<SourceFragment>> written;
      for (const RewriteResult& result : run_.results) {
        ARROW_ASSIGN_OR_RAISE(written.emplace_back(), Describe(dataset_, result));
      }
      auto joined = LookBack(surveyed_.fragments, surveyed_.tasks, written, surveyed_.plan.options);
      if (joined == surveyed_.tasks) return arrow::Status::OK();
      ARROW_ASSIGN_OR_RAISE(const bool is_done, RunJoined(std::move(joined)));
      if (!is_done) return arrow::Status::OK();
    }
  }

  // Those tasks that are new among `joined`. What they were joined of goes, unless one fails.
  arrow::Result<bool> RunJoined(std::vector<TaskMembers> joined) {
    const std::set<TaskMembers> ended(surveyed_.tasks.begin(), surveyed_.tasks.end());
    std::vector<TaskMembers> added;
    std::ranges::copy_if(joined, std::back_inserter(added),
                         [&](const TaskMembers& task) { return !ended.contains(task); });
    CompactionPlan plan = {.read_version = surveyed_.plan.read_version,
                           .options = surveyed_.plan.options};
    ARROW_ASSIGN_OR_RAISE(plan.tasks, MakeTasks(dataset_, added, plan.options));
    CompactionRun run = RunTasks(dataset_, plan, plan.options.version.progress);
    if (!run.status.ok() || !run.left.empty()) {
      const NewFiles unused = NewFilesOf(run.results, StateOf(dataset_)->location);
      ARROW_RETURN_NOT_OK(run.status);
      return false;
    }
    std::map<TaskMembers, RewriteResult> results;
    for (size_t i = 0; i < added.size(); ++i) results.emplace(added[i], std::move(run.results[i]));
    for (size_t i = 0; i < surveyed_.tasks.size(); ++i) {
      results.emplace(surveyed_.tasks[i], std::move(run_.results[i]));
    }
    run_.results.clear();
    for (const TaskMembers& task : joined) {
      run_.results.push_back(std::move(results.extract(task).mapped()));
    }
    std::vector<RewriteResult> replaced;
    for (auto& [task, result] : results) replaced.push_back(std::move(result));
    const NewFiles unused = NewFilesOf(replaced, StateOf(dataset_)->location);
    surveyed_.tasks = std::move(joined);
    return true;
  }

  const Dataset& dataset_;
  SurveyedPlan surveyed_;
  CompactionRun run_;
};

}  // namespace

arrow::Result<CompactionResult> CompactFiles(const Dataset& dataset,
                                             const CompactionOptions& options,
                                             const CheckResults& check) {
  ARROW_ASSIGN_OR_RAISE(SurveyedPlan surveyed, SurveyAndPlan(dataset, options));
  if (surveyed.plan.tasks.empty()) return CompactionResult{.dataset = dataset};
  const CompactionOptions resolved = surveyed.plan.options;
  CompactionRun run = SettledRun(dataset, std::move(surveyed)).Run();
  if (!run.status.ok()) {
    const NewFiles unused = NewFilesOf(run.results, StateOf(dataset)->location);
    return run.status;
  }
  ARROW_ASSIGN_OR_RAISE(auto result,
                        CommitResults(dataset, std::move(run.results), resolved, check));
  std::ranges::move(run.left, std::back_inserter(result.left));
  return result;
}

}  // namespace dataset

arrow::Result<CompactionResult> CompactFiles(const Dataset& dataset,
                                             const CompactionOptions& options) {
  return dataset::CompactFiles(dataset, options, {});
}

}  // namespace glaive
