#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "core/error.h"
#include "core/file_version.h"
#include "core/ranges.h"
#include "table/manifest/fragment_run.h"
#include "wire/fragment.h"

namespace glaive::table {

// Sums over all fragments of a table: what feature flags, row counts and id allocation need.
// Computed once when a manifest is opened, then kept by what each change adds and takes away.
struct FragmentTotals {
  uint64_t num_fragments = 0;
  uint64_t physical_rows = 0;
  uint64_t deleted_rows = 0;
  uint64_t unknown_row_counts = 0;  // fragments that do not say how many rows they or their
                                    // deletion files hold, as old writers left them
  uint64_t deletion_files = 0;
  uint64_t overlays = 0;
  uint64_t spilled_lineages = 0;
  uint64_t without_row_ids = 0;
  std::array<uint64_t, kNumFileVersions> files_by_version = {};
  uint64_t files_of_unknown_version = 0;
  uint64_t data_file_bytes = 0;  // of the files that say how large they are
  int32_t max_field_id = -1;     // a high-water mark: a maximum cannot be taken away from

  uint64_t num_data_files() const;
  // Rows that a scan returns; nothing when some fragment does not say.
  std::optional<uint64_t> live_rows() const;

  void Add(const wire::FragmentFacts& facts) { Add(facts, 1); }
  // Of `count` fragments that say the same, and whose rows and bytes are added up.
  void Add(const wire::FragmentFacts& facts, uint64_t count);
  void Subtract(const wire::FragmentFacts& facts);

  bool operator==(const FragmentTotals&) const = default;
};

// The fragments of one version of a table, ascending by id. A persistent value: copies are cheap,
// a change returns a new table that shares all the bytes it did not touch, and fragments that are
// not touched are neither decoded nor re-encoded, so that what a newer writer put into them stays.
//
//   runs     [ the manifest as it was read: 100,000 entries ][ 512 ][ 64 ][ 1 ]   ascending ids
//   changes  { 17 -> new bytes, 4711 -> removed, 99870 -> new bytes }             few, sorted
//
// Appends add a run, and runs of like size are merged, so there are O(log n) of them and an append
// costs O(its own size) amortised. Any other change goes into `changes`, which is folded into one
// run when it passes about the square root of the table.
class FragmentTable {
 public:
  class Opener;

  FragmentTable();

  // Indexes a Manifest message by one walk over tags and lengths. The list may be unsorted, as old
  // writers left it; ids must be unique and below 2^32.
  static arrow::Result<FragmentTable> Open(std::shared_ptr<arrow::Buffer> manifest, Location where);

  // All of these take time by what they find, and O(log n).
  std::optional<Fragment> Find(uint64_t id) const;
  // By position in order of the ids. REQUIRES: position < totals().num_fragments
  Fragment At(uint64_t position) const;
  // Fragments with lower ids, and their live rows.
  uint64_t PositionOf(uint64_t id) const;
  uint64_t RowsBefore(uint64_t id) const;
  struct RowPlace {
    Fragment fragment;
    uint64_t row;  // among the live rows of that fragment
  };
  // REQUIRES: every fragment tells how many rows it has, and row < totals().live_rows()
  RowPlace FindRow(uint64_t row) const;
  std::vector<uint64_t> Ids() const { return IdsBeside({}); }
  // The ids that lie in none of the ranges, which ascend.
  std::vector<uint64_t> IdsBeside(std::span<const RowRange> ranges) const;

  // Ids that are not there yet, in any order: above all others after an append, in between when a
  // compaction uses ids that it reserved.
  arrow::Result<FragmentTable> Insert(std::span<const wire::DataFragment> fragments) const;
  // Ids that are there.
  arrow::Result<FragmentTable> Replace(std::span<const wire::DataFragment> fragments) const;
  arrow::Result<FragmentTable> Remove(std::span<const uint64_t> ids) const;

  // In ascending order of id, until `visit` fails.
  arrow::Status Visit(const std::function<arrow::Status(const Fragment&)>& visit) const;

  // The fragment part of this table's manifest, as slices of the buffers it shares: bytes that lie
  // side by side are one slice, so an untouched run costs one.
  std::vector<std::shared_ptr<arrow::Buffer>> Splice() const;

  const FragmentTotals& totals() const { return totals_; }

 private:
  struct Change {
    uint32_t id;
    std::shared_ptr<const FragmentRun> run;  // null: removed
    size_t index;                            // in `run`
  };
  using Changes = std::vector<Change>;
  struct Rank;
  struct Ranks;
  // A place among the fragments of the runs, as if there were no changes.
  struct InRuns {
    uint64_t position;
    uint64_t row;
    std::vector<std::shared_ptr<const FragmentRun>>::const_iterator run;
    size_t index;
  };

  InRuns LowerBound(uint64_t id) const;
  const std::vector<Rank>& RanksOfChanges() const;
  template <typename Key>
  const Rank* LastRank(uint64_t value, Key key) const;
  const Rank* RankBefore(uint64_t id) const;
  Fragment OfRank(const Rank& rank) const;
  bool IsAboveAll(uint64_t id) const;
  void SetChanges(Changes changes);
  // Calls `emit(run, first, last)` for the fragments with ids in [begin, end), in order: parts of
  // the runs, with the changes let in.
  template <typename Emit>
  void ForEachPart(uint64_t begin, uint64_t end, Emit&& emit) const;
  arrow::Status AppendRun(std::shared_ptr<const FragmentRun> run);
  arrow::Status ApplyChanges(Changes changes);
  arrow::Result<std::shared_ptr<const FragmentRun>> Fold() const;

  std::vector<std::shared_ptr<const FragmentRun>> runs_;
  std::shared_ptr<const Changes> changes_;
  std::shared_ptr<Ranks> ranks_;  // of the changes among the runs; computed when first asked for
  FragmentTotals totals_;
};

// Open, for a message whose bytes are still arriving.
class FragmentTable::Opener {
 public:
  // The path of `where` must outlive this.
  Opener(std::shared_ptr<arrow::Buffer> manifest, Location where);

  // Indexes what lies in the first `arrived` bytes, which are there from now on.
  arrow::Status Advance(size_t arrived);
  // REQUIRES: all bytes have arrived
  arrow::Result<FragmentTable> Finish() &&;

 private:
  Location where_;
  size_t size_;
  wire::FragmentScanner scanner_;
  FragmentRun::Builder builder_;
  FragmentTotals totals_;
};

}  // namespace glaive::table
