#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "dataset/compaction_options.h"
#include "dataset/dataset_state.h"
#include "dataset/fragment_state.h"
#include "glaive/compaction.h"
#include "read/snapshot.h"
#include "table/index_coverage.h"

namespace glaive {
namespace {

enum class Candidacy : uint8_t { kNone, kWithNeighbours, kAlone };

struct Candidate {
  wire::DataFragment fragment;
  uint64_t live_rows = 0;
  Candidacy candidacy = Candidacy::kNone;
  std::vector<bool> covering;  // of the table's indices, whether it covers the fragment
};
using Bin = std::vector<Candidate>;  // adjacent fragments, covered by the same indices

std::vector<bool> CoveringIndices(const table::IndexList& indices, uint64_t fragment_id) {
  std::vector<bool> covering;
  for (const table::Index& index : indices.indices()) {
    const bool of_columns = !index.entry.is_system() && index.covered;
    covering.push_back(of_columns && index.covered->Contains(fragment_id));
  }
  return covering;
}

// The choice of pylance 14, so that the tasks of both are the same: deleted rows are reason enough
// by themselves, a small fragment only beside another that is rewritten.
Candidacy CandidacyOf(uint64_t physical_rows, uint64_t live_rows,
                      const CompactionOptions& options) {
  const auto deleted = static_cast<float>(physical_rows - live_rows);  // floats, as pylance's are
  const auto threshold = static_cast<float>(*options.materialize_deletions_threshold);
  const bool materialize = *options.materialize_deletions && threshold < 1.0f;
  if (materialize && physical_rows > 0 && deleted / static_cast<float>(physical_rows) > threshold) {
    return Candidacy::kAlone;
  }
  return physical_rows < *options.target_rows_per_fragment ? Candidacy::kWithNeighbours
                                                           : Candidacy::kNone;
}

// Runs of adjacent candidates. What is no candidate, or excluded, stands between two runs; so does
// the border of what an index covers, that it may follow the rows whole.
arrow::Result<std::vector<Bin>> FindBins(const read::Snapshot& snapshot,
                                         const CompactionOptions& options) {
  const std::set<uint64_t> excluded(options.excluded_fragment_ids.begin(),
                                    options.excluded_fragment_ids.end());
  ARROW_ASSIGN_OR_RAISE(const auto indices, table::IndicesOf(*snapshot.manifest));
  std::vector<Bin> bins(1);
  ARROW_RETURN_NOT_OK(snapshot.manifest->fragments.Visit([&](const table::Fragment& view) {
    Candidate candidate;
    if (!excluded.contains(view.id())) {
      ARROW_ASSIGN_OR_RAISE(candidate.fragment, view.Parse());
      ARROW_ASSIGN_OR_RAISE(const uint64_t physical_rows,
                            read::PhysicalRows(snapshot, candidate.fragment));
      ARROW_ASSIGN_OR_RAISE(candidate.live_rows, read::LiveRows(snapshot, candidate.fragment));
      candidate.candidacy = CandidacyOf(physical_rows, candidate.live_rows, options);
      candidate.covering = CoveringIndices(indices, view.id());
    }
    if (candidate.candidacy != Candidacy::kNone) {
      if (!bins.back().empty() && bins.back().back().covering != candidate.covering) {
        bins.emplace_back();
      }
      bins.back().push_back(std::move(candidate));
    } else if (!bins.back().empty()) {
      bins.emplace_back();
    }
    return arrow::Status::OK();
  }));
  std::erase_if(bins, [](const Bin& bin) {
    return bin.empty() || (bin.size() == 1 && bin[0].candidacy == Candidacy::kWithNeighbours);
  });
  return bins;
}

// Cuts a bin wherever enough rows for a fragment lie on either side.
std::vector<Bin> Split(Bin bin, uint64_t target_rows) {
  uint64_t rows_after = 0;
  for (const Candidate& candidate : bin) rows_after += candidate.live_rows;
  uint64_t rows = 0;
  std::vector<Bin> parts(1);
  for (Candidate& candidate : bin) {
    rows += candidate.live_rows;
    rows_after -= candidate.live_rows;
    parts.back().push_back(std::move(candidate));
    if (rows >= target_rows && rows_after >= target_rows && rows_after > 0) {
      parts.emplace_back();
      rows = 0;
    }
  }
  return parts;
}

// Bytes of the files that a task reads: those with a column of the schema.
arrow::Result<uint64_t> SourceBytes(const Bin& bin, const std::set<int32_t>& field_ids) {
  uint64_t bytes = 0;
  for (const Candidate& candidate : bin) {
    for (const wire::DataFile& file : candidate.fragment.files) {
      const bool is_read = std::ranges::any_of(
          file.fields, [&](int32_t field) { return field_ids.contains(field); });
      if (!is_read) continue;
      if (file.file_size_bytes == 0) {
        return InvalidInput("max_source_bytes is set, but the size of '{}' is not recorded",
                            file.path);
      }
      bytes += file.file_size_bytes;
    }
  }
  return bytes;
}

void CollectIds(const std::vector<wire::Field>& fields, std::set<int32_t>& ids) {
  for (const wire::Field& field : fields) {
    ids.insert(field.id);
    CollectIds(field.children, ids);
  }
}

// The tasks from the first on that stay within the limits on one run.
arrow::Status LimitSources(const CompactionOptions& options, const wire::Schema& schema,
                           std::vector<Bin>& bins) {
  std::set<int32_t> field_ids;
  CollectIds(schema.fields, field_ids);
  uint64_t fragments = 0;
  uint64_t rows = 0;
  uint64_t bytes = 0;
  for (size_t i = 0; i < bins.size(); ++i) {
    fragments += bins[i].size();
    for (const Candidate& candidate : bins[i]) rows += candidate.live_rows;
    if (options.max_source_bytes) {
      ARROW_ASSIGN_OR_RAISE(const uint64_t added, SourceBytes(bins[i], field_ids));
      bytes += added;
    }
    if (fragments > options.max_source_fragments.value_or(UINT64_MAX) ||
        rows > options.max_source_rows.value_or(UINT64_MAX) ||
        bytes > options.max_source_bytes.value_or(UINT64_MAX)) {
      bins.resize(i);
      break;
    }
  }
  return arrow::Status::OK();
}

// With a limit on bytes the outputs may be as many as the inputs; such a task would change nothing,
// today and each time it is planned.
bool ChangesNothing(const Bin& bin, const CompactionOptions& options) {
  if (!options.max_bytes_per_file) return false;
  uint64_t bytes = 0;
  for (const Candidate& candidate : bin) {
    if (candidate.fragment.deletion_file || !candidate.fragment.overlays.empty()) return false;
    for (const wire::DataFile& file : candidate.fragment.files) bytes += file.file_size_bytes;
  }
  return bytes / std::max<uint64_t>(*options.max_bytes_per_file, 1) >= bin.size();
}

}  // namespace

arrow::Result<CompactionPlan> PlanCompaction(const Dataset& dataset,
                                             const CompactionOptions& options) {
  const read::Snapshot snapshot = dataset::SnapshotOf(dataset);
  CompactionPlan plan = {.read_version = dataset.version()};
  ARROW_ASSIGN_OR_RAISE(plan.options, dataset::ResolveOptions(options, dataset.config()));
  if (!plan.options.data_storage_version) {
    plan.options.data_storage_version = dataset.data_storage_version();
  }
  ARROW_ASSIGN_OR_RAISE(std::vector<Bin> bins, FindBins(snapshot, plan.options));
  std::vector<Bin> tasks;
  for (Bin& bin : bins) {
    for (Bin& part : Split(std::move(bin), *plan.options.target_rows_per_fragment)) {
      if (!ChangesNothing(part, plan.options)) tasks.push_back(std::move(part));
    }
  }
  ARROW_RETURN_NOT_OK(LimitSources(plan.options, snapshot.manifest->schema, tasks));
  if (!tasks.empty()) ARROW_RETURN_NOT_OK(dataset::CheckCanRewrite(*snapshot.manifest));

  CompactionOptions of_task = plan.options;
  of_task.progress = nullptr;
  for (Bin& bin : tasks) {
    CompactionTask& task = plan.tasks.emplace_back();
    task.read_version = plan.read_version;
    task.options = of_task;
    for (Candidate& candidate : bin) {
      task.fragments.push_back(dataset::MakeFragmentMetadata(std::move(candidate.fragment)));
    }
  }
  return plan;
}

}  // namespace glaive
