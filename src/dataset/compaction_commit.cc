#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "dataset/commit_version.h"
#include "dataset/compaction_options.h"
#include "dataset/dataset_state.h"
#include "dataset/fragment_state.h"
#include "dataset/write_session.h"
#include "glaive/compaction.h"
#include "table/commit.h"

namespace glaive {
namespace {

void Add(const CompactionMetrics& added, CompactionMetrics& metrics) {
  metrics.fragments_removed += added.fragments_removed;
  metrics.fragments_added += added.fragments_added;
  metrics.files_removed += added.files_removed;
  metrics.files_added += added.files_added;
}

void Add(const WriteSummary& added, WriteSummary& summary) {
  summary.rows += added.rows;
  summary.files += added.files;
  summary.bytes += added.bytes;
  summary.pages.total += added.pages.total;
  summary.pages.by_page_bytes += added.pages.by_page_bytes;
  summary.pages.by_cache_bytes += added.pages.by_cache_bytes;
  summary.pages.by_row_limit += added.pages.by_row_limit;
  summary.pages.by_file_end += added.pages.by_file_end;
  summary.pages.by_format_limit += added.pages.by_format_limit;
}

// The groups of a Rewrite, with ids from `first_id` on for the new fragments.
table::Rewrite RewriteOf(std::span<const RewriteResult> results, uint64_t first_id) {
  table::Rewrite rewrite;
  for (const RewriteResult& result : results) {
    table::Rewrite::Group& group = rewrite.groups.emplace_back();
    for (const FragmentMetadata& fragment : result.original_fragments) {
      group.old_fragments.push_back(fragment.state()->fragment);
    }
    for (const FragmentMetadata& fragment : result.new_fragments) {
      group.new_fragments.push_back(fragment.state()->fragment);
      group.new_fragments.back().id = first_id++;
    }
  }
  return rewrite;
}

std::vector<std::string> NewFilePaths(std::span<const RewriteResult> results,
                                      const table::TableLocation& table) {
  std::vector<std::string> paths;
  for (const RewriteResult& result : results) {
    for (const FragmentMetadata& fragment : result.new_fragments) {
      for (const wire::DataFile& file : fragment.state()->fragment.files) {
        paths.push_back(table.Path("data/" + file.path));
      }
    }
  }
  return paths;
}

}  // namespace

// Ids are reserved by a version of their own first, as pylance does it, so that the new fragments
// have theirs while the old ones are still there.
arrow::Result<CompactionResult> CommitCompaction(const Dataset& dataset,
                                                 std::span<const RewriteResult> results,
                                                 const CompactionOptions& options) {
  CompactionResult result = {.dataset = dataset};
  if (results.empty()) return result;
  const Dataset::State& state = *dataset.state();
  ARROW_RETURN_NOT_OK(dataset::CheckCanRewrite(*state.manifest));
  uint64_t read_version = UINT64_MAX;
  uint64_t num_new = 0;
  for (const RewriteResult& task : results) {
    read_version = std::min(read_version, task.read_version);
    num_new += task.new_fragments.size();
    Add(task.metrics, result.metrics);
    Add(task.summary, result.summary);
  }
  ARROW_ASSIGN_OR_RAISE(const Dataset base, dataset.Checkout(read_version));

  table::CommitOptions commit;
  ARROW_ASSIGN_OR_RAISE(commit.durability, dataset::Resolve(options.durability));
  if (options.progress) {
    commit.poll = [&] {
      return options.progress({.rows = result.summary.rows,
                               .total_rows = result.summary.rows,
                               .bytes = result.summary.bytes,
                               .tasks = results.size(),
                               .total_tasks = results.size()});
    };
  }
  uint64_t first_id = 0;
  if (num_new > 0) {
    ARROW_ASSIGN_OR_RAISE(
        const auto reserved,
        dataset::CommitVersion(
            state.location, state.manifest,
            table::ReserveFragments{.num_fragments = static_cast<uint32_t>(num_new)}, commit));
    first_id = reserved->max_fragment_id.value_or(0) + 1 - num_new;
  }
  commit.files_to_sync = NewFilePaths(results, state.location);
  ARROW_ASSIGN_OR_RAISE(auto manifest,
                        dataset::CommitVersion(state.location, base.state()->manifest,
                                               RewriteOf(results, first_id), commit));
  ARROW_ASSIGN_OR_RAISE(result.dataset,
                        dataset::MakeDataset(state.location, std::move(manifest), state.session));
  return result;
}

}  // namespace glaive
