#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "dataset/commit/verb.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/edited_fragment.h"
#include "dataset/handle/table_identity.h"
#include "dataset/refs/tombstones.h"
#include "dataset/staging/binding.h"
#include "dataset/staging/state.h"
#include "dataset/staging/target.h"
#include "glaive/commit.h"
#include "glaive/staged_columns.h"
#include "table/sets/roaring.h"
#include "table/versions/witness.h"

namespace glaive {
namespace {

using dataset::ColumnWrite;

// The transaction that made the version. Nothing where it is gone.
arrow::Result<std::optional<std::string>> MakerOf(const Dataset& dataset, uint64_t version) {
  const dataset::DatasetState& state = *StateOf(dataset);
  const auto identity = version == dataset.version()
                            ? dataset::IdentityOf(state.location, *state.manifest)
                            : dataset::IdentityOf(state.location, version);
  if (identity.ok()) return identity->transaction;
  if (KindOf(identity.status()) == ErrorKind::kNotFound) return std::nullopt;
  return identity.status();
}

// Looks for the files before each attempt of their commit. A discard may set them aside at any
// time. So the newest version is pinned first, for the number that the attempt is to publish: a
// discard that set the files aside before the pin is found by the look, and a later one finds the
// pin, or the version.
arrow::Status HoldFiles(const table::TableLocation& table, std::span<const StagedColumns> staged,
                        const table::Manifest& latest, dataset::Pins& pins) {
  ARROW_RETURN_NOT_OK(
      pins.Put({.version = latest.version, .path = latest.path}, latest.version + 1));
  for (const StagedColumns& columns : staged) {
    const dataset::StagedColumnsState& state = *StateOf(columns);
    ARROW_ASSIGN_OR_RAISE(const auto file,
                          table.store->Head(table.Path("data/" + state.file.path)));
    if (file && file->size_bytes == state.file.file_size_bytes) continue;
    return InvalidInput("what was staged for fragment {} is not in the table: {} is {}",
                        state.fragment_id, state.file.path, file ? "of another size" : "not there");
  }
  return arrow::Status::OK();
}

// Staged columns of one table.
arrow::Status CheckStaged(const Dataset& dataset, std::span<const StagedColumns> staged) {
  std::map<uint64_t, std::optional<std::string>> makers;  // of versions that were read
  for (const StagedColumns& columns : staged) {
    const dataset::StagedColumnsState& state = *StateOf(columns);
    const auto [maker, is_new] = makers.try_emplace(state.read_version);
    if (is_new) {
      ARROW_ASSIGN_OR_RAISE(maker->second, MakerOf(dataset, state.read_version));
    }
    // Of a version that is gone the rest tells: its fragment's files are there.
    if (maker->second && *maker->second != state.snapshot) {
      return InvalidInput(
          "what was staged for fragment {} is of another table: version {} of this one was made by "
          "another commit",
          state.fragment_id, state.read_version);
    }
  }
  return arrow::Status::OK();
}

// What is behind the fields of a fragment in the version that was read.
class Snapshots {
 public:
  explicit Snapshots(const Dataset& dataset) : dataset_(dataset) {}

  arrow::Result<dataset::Witnesses> Find(const dataset::StagedColumnsState& staged,
                                         const std::set<int32_t>& fields) {
    ARROW_ASSIGN_OR_RAISE(const Dataset snapshot, Open(staged.read_version, staged.fragment_id));
    ARROW_ASSIGN_OR_RAISE(const auto fragment, dataset::FragmentOf(snapshot, staged.fragment_id));
    return dataset::WitnessesOf(fragment, fields, {StateOf(snapshot)->manifest->path});
  }

  // Some of its rows.
  arrow::Result<dataset::RowRead> Look(uint64_t version, uint64_t fragment_id,
                                       const std::set<int32_t>& fields,
                                       std::optional<std::vector<RowRange>> rows) {
    ARROW_ASSIGN_OR_RAISE(const Dataset opened, Open(version, fragment_id));
    ARROW_ASSIGN_OR_RAISE(const auto fragment, dataset::FragmentOf(opened, fragment_id));
    const read::Snapshot snapshot = dataset::SnapshotOf(opened);
    ARROW_ASSIGN_OR_RAISE(auto from, dataset::Watch(snapshot, fragment, {}, fields));
    if (rows && !rows->empty() && rows->back().end > from.physical_rows) {
      return InvalidInput("row {} is said to have been read of fragment {}, which has {} rows",
                          rows->back().end - 1, fragment_id, from.physical_rows);
    }
    dataset::RowRead read{.from = std::move(from), .rows = std::move(rows)};
    ARROW_ASSIGN_OR_RAISE(
        read.from.read,
        dataset::WitnessesOf(fragment, fields, {snapshot.manifest->path}, read.restricted()));
    return read;
  }

 private:
  arrow::Result<Dataset> Open(uint64_t version, uint64_t fragment_id) {
    if (dataset_.version() == version) return dataset_;
    const auto found = open_.find(version);
    if (found != open_.end()) return found->second;
    auto opened = dataset_.Checkout(version);
    if (!opened.ok() && KindOf(opened.status()) == ErrorKind::kNotFound) {
      return dataset::WriteConflict(
          dataset_.version(), fragment_id, "",
          "the version that was read is gone, and with it what the values were computed from; it "
          "is kept where it is named when the columns are staged");
    }
    ARROW_RETURN_NOT_OK(opened.status());
    return open_.emplace(version, *std::move(opened)).first->second;
  }

  const Dataset& dataset_;
  std::map<uint64_t, Dataset> open_;
};

arrow::Result<std::set<int32_t>> FieldIdsAt(const Dataset& dataset,
                                            const std::vector<std::string>& paths) {
  std::set<int32_t> fields;
  for (const std::string& path : paths) {
    ARROW_ASSIGN_OR_RAISE(const auto ids,
                          dataset::FieldIdsAt(StateOf(dataset)->manifest->schema, path));
    fields.insert(ids.begin(), ids.end());
  }
  return fields;
}

arrow::Result<std::vector<ColumnWrite>> WritesOf(const Dataset& dataset,
                                                 std::span<const StagedColumns> staged,
                                                 const std::vector<std::string>& reads,
                                                 Snapshots& snapshots) {
  ARROW_ASSIGN_OR_RAISE(const auto fields, FieldIdsAt(dataset, reads));
  std::vector<ColumnWrite> writes;
  for (const StagedColumns& columns : staged) {
    const dataset::StagedColumnsState& state = *StateOf(columns);
    ColumnWrite& write = writes.emplace_back(ColumnWrite{&state, state.read_fields, state.read});
    std::set<int32_t> unsaid;
    for (const int32_t id : fields) {
      if (write.read_fields.insert(id).second) unsaid.insert(id);
    }
    if (unsaid.empty()) continue;
    ARROW_ASSIGN_OR_RAISE(auto read, snapshots.Find(state, unsaid));
    write.read.merge(read);
  }
  return writes;
}

// What was read was read when the fragment was staged; of one that was not, when the first of the
// others was.
uint64_t VersionOfRead(std::span<const StagedColumns> staged, uint64_t fragment_id) {
  std::optional<uint64_t> own;
  uint64_t first = staged.front().read_version();
  for (const StagedColumns& columns : staged) {
    const uint64_t version = columns.read_version();
    first = std::min(first, version);
    if (columns.fragment_id() == fragment_id) own = std::min(own.value_or(version), version);
  }
  return own.value_or(first);
}

arrow::Result<std::vector<dataset::RowRead>> ReadsOf(const Dataset& dataset,
                                                     std::span<const StagedColumns> staged,
                                                     const std::vector<RowsRead>& reads,
                                                     Snapshots& snapshots) {
  std::vector<dataset::RowRead> found;
  for (const RowsRead& read : reads) {
    ARROW_ASSIGN_OR_RAISE(const auto fields, FieldIdsAt(dataset, read.columns));
    std::optional<std::vector<RowRange>> rows;
    if (read.rows) {
      const std::set<uint32_t> offsets(read.rows->begin(), read.rows->end());
      rows = table::RangesOf(std::vector(offsets.begin(), offsets.end()));
    }
    ARROW_ASSIGN_OR_RAISE(
        found.emplace_back(),
        snapshots.Look(VersionOfRead(staged, read.fragment_id), read.fragment_id, fields, rows));
  }
  return found;
}

}  // namespace

arrow::Result<Dataset> CommitColumns(const Dataset& dataset, std::span<const StagedColumns> staged,
                                     const CommitColumnsOptions& options) {
  if (staged.empty()) return InvalidInput("there are no staged columns to commit");
  ARROW_RETURN_NOT_OK(CheckStaged(dataset, staged));
  Snapshots snapshots(dataset);
  ARROW_ASSIGN_OR_RAISE(const auto writes, WritesOf(dataset, staged, options.reads, snapshots));
  ARROW_ASSIGN_OR_RAISE(const auto reads, ReadsOf(dataset, staged, options.row_reads, snapshots));
  const dataset::DatasetState& state = *StateOf(dataset);
  std::set<uint64_t> fragments;
  for (const StagedColumns& columns : staged) fragments.insert(columns.fragment_id());
  for (const RowsRead& read : options.row_reads) fragments.insert(read.fragment_id);
  dataset::RowMoves moves(state.location, std::move(fragments));
  dataset::Pins pins(state.location);
  table::MakeChange make = [&](const table::ManifestPtr& latest) -> arrow::Result<table::Change> {
    ARROW_RETURN_NOT_OK(HoldFiles(state.location, staged, *latest, pins));
    return dataset::MakeColumnCommit(writes, reads, *latest, moves);
  };
  auto committed = dataset::CommitVerb(dataset::PlaceOf(dataset), std::move(make), options.version);
  if (!committed.ok() && KindOf(committed.status()) == ErrorKind::kCommitUnknown) pins.Leave();
  return committed;
}

}  // namespace glaive
