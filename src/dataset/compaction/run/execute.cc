#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>

#include "core/error.h"
#include "dataset/compaction/plan/memory.h"
#include "dataset/compaction/plan/options.h"
#include "dataset/compaction/plan/planned_files.h"
#include "dataset/compaction/plan/source_fragment.h"
#include "dataset/compaction/run/carried_lineage.h"
#include "dataset/compaction/run/page_copy.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/durability.h"
#include "dataset/handle/session_state.h"
#include "dataset/handle/storage_version.h"
#include "dataset/write/fragment_writer.h"
#include "glaive/compaction.h"
#include "glaive/scan.h"
#include "read/snapshot.h"
#include "table/manifest/fragment_metadata.h"

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
    sources.push_back(StateOf(*found)->fragment);
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
  ARROW_ASSIGN_OR_RAISE(auto writer, dataset::FragmentWriter::Make(
                                         StateOf(source)->location,
                                         StateOf(source)->manifest->schema, std::move(options)));
  ARROW_ASSIGN_OR_RAISE(const auto rows, Scan(source, scan));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, rows->Next());
    if (batch == nullptr) break;
    ARROW_RETURN_NOT_OK(writer.Write(*batch));
  }
  return std::move(writer).Finish();
}

// The rows of a task, read and written as its options say.
class TaskWriter {
 public:
  // Of `sources`, which are described by `described`.
  TaskWriter(const Dataset& source, const std::vector<wire::DataFragment>& sources,
             std::vector<dataset::SourceFragment> described, const CompactionOptions& options,
             FileVersion version)
      : source_(source),
        sources_(sources),
        described_(std::move(described)),
        options_(options),
        version_(version) {
    scan_.fragment_ids.emplace();
    for (const wire::DataFragment& fragment : sources) scan_.fragment_ids->push_back(fragment.id);
    scan_.batch_size = DecodeRows(options, sources);
    scan_.read_ahead_bytes = dataset::ReadAheadBytes(options);
    for (const dataset::SourceFragment& fragment : described_) num_rows_ += fragment.live_rows;
  }

  // Files are planned by the bytes that the sources have, which may say little: a page of one row
  // has far more of them than the row needs among others. So where a file came out too small, all
  // are written again, by the bytes that the rows have taken.
  arrow::Result<dataset::WrittenFragments> Write() const {
    std::vector<dataset::Amount> planned = dataset::PlanFiles(described_, options_);
    FileLimits limits = dataset::LimitsOf(options_);
    // Files of known size are cut by bytes as they lie in files; rows as they come may take far
    // more.
    if (dataset::HaveSizes(described_)) limits.max_bytes_per_file = UINT64_MAX;
    while (true) {
      ARROW_ASSIGN_OR_RAISE(auto written, WriteAs(planned, limits));
      std::vector<dataset::SourceFragment> measured;
      for (const wire::DataFragment& fragment : written.fragments) {
        ARROW_ASSIGN_OR_RAISE(measured.emplace_back(),
                              dataset::DescribeSource(snapshot_, fragment, fields_));
      }
      planned = dataset::ReplanFiles(measured, options_);
      if (planned.size() == measured.size()) return written;
      limits.max_bytes_per_file = UINT64_MAX;
    }
  }

 private:
  arrow::Result<dataset::WrittenFragments> WriteAs(const std::vector<dataset::Amount>& planned,
                                                   const FileLimits& limits) const {
    std::vector<uint64_t> planned_rows;
    for (const dataset::Amount& file : planned) planned_rows.push_back(file.rows);
    ARROW_ASSIGN_OR_RAISE(auto copied, dataset::CopyPages({.source = source_,
                                                           .fragments = sources_,
                                                           .limits = limits,
                                                           .version = version_,
                                                           .planned_rows = planned_rows,
                                                           .mode = *options_.mode,
                                                           .scan = scan_,
                                                           .progress = options_.version.progress}));
    ARROW_ASSIGN_OR_RAISE(auto written, copied
                                            ? arrow::Result(std::move(*copied))
                                            : WriteRows(source_, scan_,
                                                        {.limits = limits,
                                                         .version = version_,
                                                         .planned_rows = planned_rows,
                                                         .keep_slices = true,
                                                         .total_rows = num_rows_,
                                                         .progress = options_.version.progress}));
    if (written.summary.rows != num_rows_) {
      return Internal("{} rows of {} were rewritten", written.summary.rows, num_rows_);
    }
    return written;
  }

  const Dataset& source_;
  const std::vector<wire::DataFragment>& sources_;
  const std::vector<dataset::SourceFragment> described_;
  const CompactionOptions& options_;
  const FileVersion version_;
  const read::Snapshot snapshot_ = dataset::SnapshotOf(source_);
  const dataset::LiveFields fields_{StateOf(source_)->manifest->schema};
  ScanOptions scan_;
  uint64_t num_rows_ = 0;
};

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
    metadata.push_back(table::MakeFragmentMetadata(std::move(fragment)));
  }
  return metadata;
}

}  // namespace

arrow::Result<RewriteResult> ExecuteCompaction(const Dataset& dataset, const CompactionTask& task,
                                               const CompactionOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const Dataset checked_out, dataset.Checkout(task.read_version));
  ARROW_ASSIGN_OR_RAISE(
      const Dataset source,
      dataset::MakeDataset(StateOf(checked_out)->location, StateOf(checked_out)->manifest,
                           dataset::PassingSession(SessionOf(dataset))));
  const auto& manifest = *StateOf(source)->manifest;
  ARROW_RETURN_NOT_OK(dataset::CheckCanRewrite(manifest));
  ARROW_ASSIGN_OR_RAISE(const auto resolved, dataset::ResolveOptions(options, source.config()));
  ARROW_RETURN_NOT_OK(dataset::CheckCanDefer(manifest, resolved));
  ARROW_RETURN_NOT_OK(dataset::Resolve(resolved.version.durability).status());  // before any work
  FileVersion version = manifest.data_file_version;
  if (resolved.data_storage_version) {
    ARROW_ASSIGN_OR_RAISE(version, dataset::WritableVersion(*resolved.data_storage_version));
  }

  ARROW_ASSIGN_OR_RAISE(auto sources, SourcesOf(source, task));
  const read::Snapshot snapshot = dataset::SnapshotOf(source);
  dataset::CarriedLineage lineage;
  const dataset::LiveFields fields(manifest.schema);
  std::vector<dataset::SourceFragment> described;
  for (const wire::DataFragment& fragment : sources) {
    ARROW_RETURN_NOT_OK(lineage.Add(snapshot, fragment));
    ARROW_ASSIGN_OR_RAISE(described.emplace_back(),
                          dataset::DescribeSource(snapshot, fragment, fields));
  }
  const TaskWriter writer(source, sources, std::move(described), resolved, version);
  ARROW_ASSIGN_OR_RAISE(auto written, writer.Write());
  ARROW_RETURN_NOT_OK(lineage.GiveTo(written.fragments));
  ARROW_RETURN_NOT_OK(dataset::HandOver(*StateOf(source)->location.store, written.files,
                                        resolved.version.durability));

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
