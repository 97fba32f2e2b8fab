#include <algorithm>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>

#include "core/error.h"
#include "dataset/carried_lineage.h"
#include "dataset/compaction_memory.h"
#include "dataset/compaction_options.h"
#include "dataset/dataset_state.h"
#include "dataset/fragment_state.h"
#include "dataset/fragment_writer.h"
#include "dataset/page_copy.h"
#include "dataset/planned_files.h"
#include "dataset/source_fragment.h"
#include "dataset/write_session.h"
#include "glaive/compaction.h"
#include "glaive/scan.h"
#include "read/snapshot.h"

namespace glaive {
namespace {

constexpr uint64_t kDefaultBatchRows = 8192;  // of a scan that is not told

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

arrow::Result<dataset::WrittenFragments> WriteRows(const Dataset& source, const ScanOptions& scan,
                                                   dataset::FragmentWriterOptions options) {
  ARROW_ASSIGN_OR_RAISE(auto writer, dataset::FragmentWriter::Make(source.state()->location,
                                                                   source.state()->manifest->schema,
                                                                   std::move(options)));
  ARROW_ASSIGN_OR_RAISE(const auto rows, Scan(source, scan));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, rows->Next());
    if (batch == nullptr) break;
    ARROW_RETURN_NOT_OK(writer.Write(*batch));
  }
  return std::move(writer).Finish();
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
  const dataset::LiveFields fields(manifest.schema);
  std::vector<dataset::SourceFragment> described;
  for (const wire::DataFragment& fragment : sources) {
    ARROW_RETURN_NOT_OK(lineage.Add(snapshot, fragment));
    ARROW_ASSIGN_OR_RAISE(described.emplace_back(),
                          dataset::DescribeSource(snapshot, fragment, fields));
    num_rows += described.back().live_rows;
    scan.fragment_ids->push_back(fragment.id);
  }
  scan.batch_size = DecodeRows(resolved, sources);
  scan.read_ahead_bytes = dataset::ReadAheadBytes(resolved);
  FileLimits limits = dataset::LimitsOf(resolved);
  // Files of known size were cut by bytes as they lie in files; rows as they come may take far
  // more.
  if (dataset::HaveSizes(described)) limits.max_bytes_per_file = UINT64_MAX;

  std::vector<uint64_t> planned_rows;
  for (const auto& file : dataset::PlanFiles(described, resolved)) {
    planned_rows.push_back(file.rows);
  }
  ARROW_ASSIGN_OR_RAISE(auto copied, dataset::CopyPages({.source = source,
                                                         .fragments = sources,
                                                         .limits = limits,
                                                         .version = version,
                                                         .planned_rows = planned_rows,
                                                         .mode = *resolved.mode,
                                                         .scan = scan,
                                                         .progress = resolved.progress}));
  ARROW_ASSIGN_OR_RAISE(auto written, copied ? arrow::Result(std::move(*copied))
                                             : WriteRows(source, scan,
                                                         {.limits = limits,
                                                          .version = version,
                                                          .planned_rows = planned_rows,
                                                          .keep_slices = true,
                                                          .total_rows = num_rows,
                                                          .progress = resolved.progress}));
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
