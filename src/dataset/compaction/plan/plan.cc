#include "dataset/compaction/plan/plan.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "dataset/compaction/plan/memory.h"
#include "dataset/compaction/plan/options.h"
#include "dataset/compaction/plan/small_pages.h"
#include "dataset/compaction/plan/source_fragment.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/storage_version.h"
#include "glaive/compaction.h"
#include "read/snapshot.h"
#include "table/manifest/fragment_metadata.h"
#include "table/manifest/overlays.h"
#include "table/operation/index_coverage.h"

namespace glaive {
namespace {

using dataset::SourceFragment;

// Which indices cover a fragment, and which of them would its rows, were they in another one.
arrow::Status DescribeCoverage(const table::Manifest& manifest, const table::IndexList& indices,
                               const wire::DataFragment& fragment, SourceFragment* source) {
  if (indices.indices().empty()) return arrow::Status::OK();
  std::map<int32_t, uint64_t> overlaid;
  ARROW_RETURN_NOT_OK(table::CollectOverlaid(fragment, {manifest.path}, &overlaid));
  for (const table::Index& index : indices.indices()) {
    if (wire::IsSystem(index.entry) || !index.covered) continue;
    const bool is_covered = index.covered->Contains(fragment.id);
    source->coverage.push_back(is_covered);
    source->followed.push_back(is_covered && manifest.has_stable_row_ids() &&
                               !wire::StoresRowAddresses(index.entry) &&
                               !table::IsOverlaid(index, overlaid, manifest.schema));
  }
  return arrow::Status::OK();
}

// All fragments of the version, in order.
arrow::Result<std::vector<SourceFragment>> Survey(const Dataset& dataset,
                                                  const CompactionOptions& options) {
  const read::Snapshot snapshot = dataset::SnapshotOf(dataset);
  const std::set<uint64_t> excluded(options.excluded_fragment_ids.begin(),
                                    options.excluded_fragment_ids.end());
  ARROW_ASSIGN_OR_RAISE(const auto indices, table::IndicesOf(*snapshot.manifest));
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
    ARROW_RETURN_NOT_OK(DescribeCoverage(*snapshot.manifest, indices, fragment, &source));
    if (*options.rewrite_small_pages) {
      ARROW_ASSIGN_OR_RAISE(source.has_small_pages,
                            dataset::HasSmallPages(dataset, fragment, limits));
      if (options.version.progress) ARROW_RETURN_NOT_OK(options.version.progress({}));
    }
    if (options.target_bytes_per_fragment) {
      return dataset::RequireSizes(fragment, fields, "target_bytes_per_fragment");
    }
    return arrow::Status::OK();
  }));
  return sources;
}

}  // namespace

namespace dataset {

arrow::Result<std::vector<CompactionTask>> MakeTasks(const Dataset& dataset,
                                                     const std::vector<TaskMembers>& tasks,
                                                     const CompactionOptions& options) {
  const table::Manifest& manifest = *StateOf(dataset)->manifest;
  const LiveFields fields(manifest.schema);
  CompactionOptions of_task = options;
  of_task.version.progress = nullptr;
  std::vector<CompactionTask> made;
  for (const TaskMembers& members : tasks) {
    CompactionTask& task = made.emplace_back();
    task.read_version = dataset.version();
    task.options = of_task;
    for (const size_t member : members) {
      ARROW_ASSIGN_OR_RAISE(auto fragment, manifest.fragments.At(member).Parse());
      if (options.max_source_bytes) {
        ARROW_RETURN_NOT_OK(RequireSizes(fragment, fields, "max_source_bytes"));
      }
      task.fragments.push_back(table::MakeFragmentMetadata(std::move(fragment)));
    }
  }
  return made;
}

arrow::Result<SurveyedPlan> SurveyAndPlan(const Dataset& dataset,
                                          const CompactionOptions& options) {
  SurveyedPlan surveyed;
  CompactionPlan& plan = surveyed.plan;
  plan.read_version = dataset.version();
  ARROW_ASSIGN_OR_RAISE(plan.options, ResolveOptions(options, dataset.config()));
  if (!plan.options.data_storage_version) {
    plan.options.data_storage_version = dataset.data_storage_version();
  }
  ARROW_ASSIGN_OR_RAISE(surveyed.fragments, Survey(dataset, plan.options));
  surveyed.tasks = PlanTasks(surveyed.fragments, plan.options);
  if (!surveyed.tasks.empty()) {
    ARROW_RETURN_NOT_OK(WritableVersion(*plan.options.data_storage_version).status());
    ARROW_RETURN_NOT_OK(CheckCanRewrite(*StateOf(dataset)->manifest));
    ARROW_RETURN_NOT_OK(CheckCanDefer(*StateOf(dataset)->manifest, plan.options));
  }
  ARROW_ASSIGN_OR_RAISE(plan.tasks, MakeTasks(dataset, surveyed.tasks, plan.options));
  return surveyed;
}

}  // namespace dataset

arrow::Result<CompactionPlan> PlanCompaction(const Dataset& dataset,
                                             const CompactionOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto surveyed, dataset::SurveyAndPlan(dataset, options));
  return std::move(surveyed.plan);
}

}  // namespace glaive
