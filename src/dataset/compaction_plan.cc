#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "dataset/compaction_memory.h"
#include "dataset/compaction_options.h"
#include "dataset/compaction_tasks.h"
#include "dataset/dataset_state.h"
#include "dataset/fragment_state.h"
#include "dataset/small_pages.h"
#include "dataset/source_fragment.h"
#include "glaive/compaction.h"
#include "read/snapshot.h"
#include "table/index_coverage.h"

namespace glaive {
namespace {

using dataset::SourceFragment;
using dataset::TaskRange;

// Numbers the sets of indices that cover fragments.
class Coverages {
 public:
  explicit Coverages(const table::IndexList& indices) : indices_(indices) {}

  uint32_t NumberOf(uint64_t fragment_id) {
    std::vector<bool> covering;
    for (const table::Index& index : indices_.indices()) {
      const bool of_columns = !index.entry.is_system() && index.covered;
      covering.push_back(of_columns && index.covered->Contains(fragment_id));
    }
    return numbers_.try_emplace(covering, static_cast<uint32_t>(numbers_.size())).first->second;
  }

 private:
  const table::IndexList& indices_;
  std::map<std::vector<bool>, uint32_t> numbers_;
};

// All fragments of the version, in order.
arrow::Result<std::vector<SourceFragment>> Survey(const Dataset& dataset,
                                                  const CompactionOptions& options) {
  const read::Snapshot snapshot = dataset::SnapshotOf(dataset);
  const std::set<uint64_t> excluded(options.excluded_fragment_ids.begin(),
                                    options.excluded_fragment_ids.end());
  ARROW_ASSIGN_OR_RAISE(const auto indices, table::IndicesOf(*snapshot.manifest));
  Coverages coverages(indices);
  const FileLimits limits =
      dataset::LimitsOf(dataset::ShareOf(options, options.num_threads.value_or(1)));
  const dataset::LiveFields fields(snapshot.manifest->schema);
  std::vector<SourceFragment> sources;
  ARROW_RETURN_NOT_OK(snapshot.manifest->fragments.Visit([&](const table::Fragment& view) {
    SourceFragment& source = sources.emplace_back();
    if (excluded.contains(view.id())) {
      source.excluded = true;
      return arrow::Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(const wire::DataFragment fragment, view.Parse());
    ARROW_ASSIGN_OR_RAISE(source, dataset::DescribeSource(snapshot, fragment, fields));
    source.coverage = coverages.NumberOf(view.id());
    if (*options.rewrite_small_pages) {
      ARROW_ASSIGN_OR_RAISE(source.has_small_pages,
                            dataset::HasSmallPages(dataset, fragment, limits));
      if (options.progress) ARROW_RETURN_NOT_OK(options.progress({}));
    }
    if (options.target_bytes_per_fragment) {
      return dataset::RequireSizes(fragment, fields, "target_bytes_per_fragment");
    }
    return arrow::Status::OK();
  }));
  return sources;
}

arrow::Result<std::vector<wire::DataFragment>> ParseTask(const table::Manifest& manifest,
                                                         const TaskRange& range) {
  std::vector<wire::DataFragment> fragments;
  for (size_t i = range.begin; i < range.end; ++i) {
    ARROW_ASSIGN_OR_RAISE(auto fragment, manifest.fragments.At(i).Parse());
    fragments.push_back(std::move(fragment));
  }
  return fragments;
}

}  // namespace

arrow::Result<CompactionPlan> PlanCompaction(const Dataset& dataset,
                                             const CompactionOptions& options) {
  const table::Manifest& manifest = *dataset.state()->manifest;
  CompactionPlan plan = {.read_version = dataset.version()};
  ARROW_ASSIGN_OR_RAISE(plan.options, dataset::ResolveOptions(options, dataset.config()));
  if (!plan.options.data_storage_version) {
    plan.options.data_storage_version = dataset.data_storage_version();
  }
  ARROW_ASSIGN_OR_RAISE(const std::vector<SourceFragment> sources, Survey(dataset, plan.options));
  std::vector<TaskRange> tasks = dataset::ChooseTasks(sources, plan.options);
  if (plan.options.max_source_bytes) {
    const dataset::LiveFields fields(manifest.schema);
    for (const TaskRange& task : tasks) {
      ARROW_ASSIGN_OR_RAISE(const auto fragments, ParseTask(manifest, task));
      for (const wire::DataFragment& fragment : fragments) {
        ARROW_RETURN_NOT_OK(dataset::RequireSizes(fragment, fields, "max_source_bytes"));
      }
    }
  }
  tasks = dataset::LimitTasks(sources, tasks, plan.options);
  if (!tasks.empty()) ARROW_RETURN_NOT_OK(dataset::CheckCanRewrite(manifest));

  CompactionOptions of_task = plan.options;
  of_task.progress = nullptr;
  for (const TaskRange& range : tasks) {
    CompactionTask& task = plan.tasks.emplace_back();
    task.read_version = plan.read_version;
    task.options = of_task;
    ARROW_ASSIGN_OR_RAISE(auto fragments, ParseTask(manifest, range));
    for (wire::DataFragment& fragment : fragments) {
      task.fragments.push_back(dataset::MakeFragmentMetadata(std::move(fragment)));
    }
  }
  return plan;
}

}  // namespace glaive
