#include <algorithm>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>

#include "core/error.h"
#include "dataset/carried_lineage.h"
#include "dataset/compaction_options.h"
#include "dataset/dataset_state.h"
#include "dataset/fragment_state.h"
#include "dataset/fragment_writer.h"
#include "dataset/write_session.h"
#include "glaive/compaction.h"
#include "glaive/scan.h"
#include "read/snapshot.h"

namespace glaive {
namespace {

constexpr uint64_t kDefaultBatchRows = 8192;  // of a scan that is not told
constexpr uint64_t kMaxReadAheadBytes = uint64_t{8} << 20;

// The fragments as this version has them; what a task carries may have come a long way.
arrow::Result<std::vector<wire::DataFragment>> SourcesOf(const Dataset& dataset,
                                                         const CompactionTask& task) {
  std::vector<wire::DataFragment> sources;
  for (const FragmentMetadata& fragment : task.fragments) {
    ARROW_ASSIGN_OR_RAISE(const auto found, dataset.GetFragment(fragment.id()));
    if (!found) {
      return InvalidInput("fragment {} of the task is not in version {}", fragment.id(),
                          dataset.version());
    }
    sources.push_back(found->state()->fragment);
  }
  return sources;
}

// Equal files of the target's size or above, as pylance makes them.
std::vector<uint64_t> PlanFiles(uint64_t num_rows, uint64_t target_rows) {
  const uint64_t num_files = std::max<uint64_t>(1, target_rows == 0 ? 1 : num_rows / target_rows);
  std::vector<uint64_t> rows(num_rows == 0 ? 0 : num_files, num_rows / num_files);
  for (uint64_t i = 0; i < num_rows % num_files; ++i) ++rows[i];
  return rows;
}

FileLimits LimitsOf(const CompactionOptions& options) {
  FileLimits limits;
  limits.max_rows_per_file = UINT64_MAX;  // files are planned; a limit on bytes may add to them
  limits.max_bytes_per_file = options.max_bytes_per_file.value_or(limits.max_bytes_per_file);
  limits.max_page_bytes = options.max_page_bytes.value_or(limits.max_page_bytes);
  limits.data_cache_bytes = options.data_cache_bytes.value_or(limits.data_cache_bytes);
  limits.max_rows_per_group = options.max_rows_per_group;
  return limits;
}

// A batch size bounds what is decoded at a time, within a fragment. Where fragments are smaller it
// would only have batches put together, to be taken apart again by the writer.
std::optional<uint64_t> DecodeRows(const CompactionOptions& options,
                                   const std::vector<wire::DataFragment>& sources) {
  uint64_t largest = 0;
  for (const auto& fragment : sources) largest = std::max(largest, fragment.physical_rows);
  if (!options.batch_size || *options.batch_size >= std::min(largest, kDefaultBatchRows)) {
    return std::nullopt;
  }
  return options.batch_size;
}

uint64_t CountFiles(const std::vector<wire::DataFragment>& fragments) {
  uint64_t files = 0;
  for (const auto& fragment : fragments) {
    files += fragment.files.size() + (fragment.deletion_file ? 1 : 0);
  }
  return files;
}

std::vector<FragmentMetadata> Metadata(std::vector<wire::DataFragment> fragments) {
  std::vector<FragmentMetadata> metadata;
  for (auto& fragment : fragments) {
    metadata.push_back(dataset::MakeFragmentMetadata(std::move(fragment)));
  }
  return metadata;
}

}  // namespace

arrow::Result<RewriteResult> ExecuteCompaction(const Dataset& dataset, const CompactionTask& task,
                                               const CompactionOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const Dataset source, dataset.Checkout(task.read_version));
  const auto& manifest = *source.state()->manifest;
  ARROW_RETURN_NOT_OK(dataset::CheckCanRewrite(manifest));
  ARROW_ASSIGN_OR_RAISE(const auto resolved, dataset::ResolveOptions(options, source.config()));
  ARROW_ASSIGN_OR_RAISE(const auto durability, dataset::Resolve(resolved.durability));
  FileVersion version = manifest.data_file_version;
  if (resolved.data_storage_version) {
    ARROW_ASSIGN_OR_RAISE(version, dataset::WritableVersion(*resolved.data_storage_version));
  }

  ARROW_ASSIGN_OR_RAISE(auto sources, SourcesOf(source, task));
  const read::Snapshot snapshot = dataset::SnapshotOf(source);
  uint64_t num_rows = 0;
  ScanOptions scan;
  scan.fragment_ids.emplace();
  dataset::CarriedLineage lineage;
  for (const wire::DataFragment& fragment : sources) {
    ARROW_RETURN_NOT_OK(lineage.Add(snapshot, fragment));
    ARROW_ASSIGN_OR_RAISE(const uint64_t live_rows, read::LiveRows(snapshot, fragment));
    num_rows += live_rows;
    scan.fragment_ids->push_back(fragment.id);
  }
  scan.batch_size = DecodeRows(resolved, sources);
  const FileLimits limits = LimitsOf(resolved);
  scan.read_ahead_bytes = std::min(kMaxReadAheadBytes, limits.data_cache_bytes / 8);

  ARROW_ASSIGN_OR_RAISE(
      auto writer, dataset::FragmentWriter::Make(
                       source.state()->location, manifest.schema,
                       {.limits = limits,
                        .version = version,
                        .planned_rows = PlanFiles(num_rows, *resolved.target_rows_per_fragment),
                        .keep_slices = true,
                        .total_rows = num_rows,
                        .progress = resolved.progress}));
  ARROW_ASSIGN_OR_RAISE(const auto rows, Scan(source, scan));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, rows->Next());
    if (batch == nullptr) break;
    ARROW_RETURN_NOT_OK(writer.Write(*batch));
  }
  ARROW_ASSIGN_OR_RAISE(auto written, std::move(writer).Finish());
  if (written.summary.rows != num_rows) {
    return Internal("{} rows of {} were rewritten", written.summary.rows, num_rows);
  }
  ARROW_RETURN_NOT_OK(lineage.GiveTo(written.fragments));
  if (durability == table::Durability::kCommit && !written.files.paths().empty()) {
    ARROW_RETURN_NOT_OK(source.state()->location.store->Sync(written.files.paths()));
  }
  written.files.Keep();

  RewriteResult result = {.read_version = source.version(), .summary = written.summary};
  result.metrics = {.fragments_removed = sources.size(),
                    .fragments_added = written.fragments.size(),
                    .files_removed = CountFiles(sources),
                    .files_added = CountFiles(written.fragments)};
  result.original_fragments = Metadata(std::move(sources));
  result.new_fragments = Metadata(std::move(written.fragments));
  return result;
}

}  // namespace glaive
