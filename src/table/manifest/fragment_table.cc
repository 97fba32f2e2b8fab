#include "table/manifest/fragment_table.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <ranges>
#include <utility>

#include "core/write_once.h"

namespace glaive::table {
namespace {

constexpr uint64_t kMaxManifestSize = std::numeric_limits<uint32_t>::max();  // its length is a u32
constexpr uint64_t kEndOfIds = uint64_t{1} << 32;

// Changes are copied on every further change; this many may wait before they are folded.
uint64_t MaxChanges(uint64_t num_fragments) {
  uint64_t root = 64;
  while (root * root < num_fragments) root *= 2;
  return root;
}

arrow::Status CheckId(uint64_t id, Location where) {
  if (id <= std::numeric_limits<uint32_t>::max()) return arrow::Status::OK();
  return Corrupt(where, "fragment id {} does not fit 32 bits", id);
}

uint64_t LastId(const std::shared_ptr<const FragmentRun>& run) { return run->id(run->size() - 1); }

// The first of the fragments [first, last) whose id is not below `end`. By steps that double, since
// it may be the next one or the last.
size_t SkipBelow(const FragmentRun& run, uint64_t end, size_t first, size_t last) {
  size_t step = 1;
  while (step < last - first && run.id(first + step) < end) step *= 2;
  const auto candidates = std::views::iota(first + step / 2, std::min(first + step, last));
  const auto id_of = [&](size_t index) { return run.id(index); };
  return static_cast<size_t>(std::ranges::lower_bound(candidates, end, {}, id_of) -
                             candidates.begin()) +
         first + step / 2;
}

// What `count` fragments say alike, and their numbers together. Unsigned arithmetic wraps, so the
// same sums with `sign` -1 take away what +1 added.
void Accumulate(FragmentTotals& totals, const wire::FragmentFacts& facts, uint64_t count,
                uint64_t sign) {
  const bool unknown =
      facts.physical_rows == 0 || (facts.has_deletion_file && facts.deleted_rows == 0);
  totals.physical_rows += sign * facts.physical_rows;
  totals.deleted_rows += sign * facts.deleted_rows;
  totals.data_file_bytes += sign * facts.data_file_bytes;
  sign *= count;
  totals.num_fragments += sign;
  totals.unknown_row_counts += sign * uint64_t{unknown};
  totals.deletion_files += sign * uint64_t{facts.has_deletion_file};
  totals.overlays += sign * facts.num_overlays;
  totals.spilled_lineages += sign * uint64_t{facts.has_spilled_lineage};
  totals.without_row_ids += sign * uint64_t{!facts.has_row_ids};
  for (size_t version = 0; version < facts.files_by_version.size(); ++version) {
    totals.files_by_version[version] += sign * facts.files_by_version[version];
  }
  totals.files_of_unknown_version += sign * facts.files_of_unknown_version;
}

}  // namespace

uint64_t FragmentTotals::num_data_files() const {
  return std::accumulate(files_by_version.begin(), files_by_version.end(),
                         files_of_unknown_version);
}

std::optional<uint64_t> FragmentTotals::live_rows() const {
  if (unknown_row_counts > 0) return std::nullopt;
  return physical_rows - deleted_rows;
}

void FragmentTotals::Add(const wire::FragmentFacts& facts, uint64_t count) {
  Accumulate(*this, facts, count, 1);
  max_field_id = std::max(max_field_id, facts.max_field_id);
}

void FragmentTotals::Subtract(const wire::FragmentFacts& facts) {
  Accumulate(*this, facts, 1, ~uint64_t{0});
}

// Where a change stands among the fragments, and where the runs go on behind it.
struct FragmentTable::Rank {
  uint64_t position;  // of the change's fragment, or of the one that follows what it removed
  uint64_t position_end;
  uint64_t row;  // live rows before it
  uint64_t row_end;
  uint64_t run_position;  // likewise, among the fragments of the runs alone
  uint64_t run_row;
};

struct FragmentTable::Ranks {
  WriteOnce<std::vector<Rank>> of_changes;
};

FragmentTable::FragmentTable()
    : changes_(std::make_shared<const Changes>()), ranks_(std::make_shared<Ranks>()) {}

FragmentTable::Opener::Opener(std::shared_ptr<arrow::Buffer> manifest, Location where)
    : where_(where),
      size_(static_cast<size_t>(manifest->size())),
      scanner_({reinterpret_cast<const std::byte*>(manifest->data()), size_}, where),
      builder_(std::move(manifest), where) {}

arrow::Status FragmentTable::Opener::Advance(size_t arrived) {
  if (size_ > kMaxManifestSize) {
    return Corrupt(where_, "a manifest of {} bytes; its length is a 32-bit number", size_);
  }
  while (scanner_.Next(arrived)) {
    const wire::FragmentBatch batch = scanner_.batch();
    for (const wire::FoundFragment& found : batch.fragments) {
      // A place is only made for an error: doing it a million times is seen.
      if (found.id >= kEndOfIds) return CheckId(found.id, where_.Plus(found.record.offset));
    }
    totals_.Add(batch.facts, batch.fragments.size());
    builder_.Add(batch.fragments);
  }
  return scanner_.status();
}

arrow::Result<FragmentTable> FragmentTable::Opener::Finish() && {
  ARROW_RETURN_NOT_OK(Advance(size_));
  FragmentTable table;
  table.totals_ = totals_;
  ARROW_ASSIGN_OR_RAISE(auto run, std::move(builder_).Finish());
  if (run->size() > 0) table.runs_.push_back(std::move(run));
  return table;
}

arrow::Result<FragmentTable> FragmentTable::Open(std::shared_ptr<arrow::Buffer> manifest,
                                                 Location where) {
  return Opener(std::move(manifest), where).Finish();
}

std::optional<Fragment> FragmentTable::Find(uint64_t id) const {
  const auto change = std::ranges::lower_bound(*changes_, id, {}, &Change::id);
  if (change != changes_->end() && change->id == id) {
    if (change->run == nullptr) return std::nullopt;
    return Fragment(change->run, change->index);
  }
  const auto run = std::ranges::lower_bound(runs_, id, {}, LastId);
  if (run == runs_.end()) return std::nullopt;
  const size_t index = (*run)->LowerBound(id);
  if ((*run)->id(index) != id) return std::nullopt;
  return Fragment(*run, index);
}

FragmentTable::InRuns FragmentTable::LowerBound(uint64_t id) const {
  InRuns found = {.position = 0, .row = 0, .run = runs_.begin(), .index = 0};
  for (; found.run != runs_.end() && LastId(*found.run) < id; ++found.run) {
    found.position += (*found.run)->size();
    found.row += (*found.run)->num_rows();
  }
  if (found.run == runs_.end()) return found;
  found.index = (*found.run)->LowerBound(id);
  found.position += found.index;
  found.row += (*found.run)->RowsBefore(found.index);
  return found;
}

const std::vector<FragmentTable::Rank>& FragmentTable::RanksOfChanges() const {
  if (const std::vector<Rank>* made = ranks_->of_changes.Get()) return *made;
  std::vector<Rank> ranks;
  uint64_t position = 0;  // of the next fragment
  uint64_t row = 0;
  uint64_t run_position = 0;  // that it would have if there were the runs alone
  uint64_t run_row = 0;
  for (const Change& change : *changes_) {
    const InRuns at = LowerBound(change.id);
    position += at.position - run_position;
    row += at.row - run_row;
    const bool replaces = at.run != runs_.end() && (*at.run)->id(at.index) == change.id;
    run_position = at.position + (replaces ? 1 : 0);
    run_row = at.row + (replaces ? (*at.run)->RowsOf(at.index) : 0);
    Rank rank = {position, position, row, row, run_position, run_row};
    if (change.run != nullptr) {
      ++rank.position_end;
      rank.row_end += change.run->RowsOf(change.index);
    }
    position = rank.position_end;
    row = rank.row_end;
    ranks.push_back(rank);
  }
  return ranks_->of_changes.Put(std::move(ranks));
}

// The change that is last among those for which `key` of their rank is not above `value`; null if
// there is none.
template <typename Key>
const FragmentTable::Rank* FragmentTable::LastRank(uint64_t value, Key key) const {
  const std::vector<Rank>& ranks = RanksOfChanges();
  const auto behind = std::ranges::upper_bound(ranks, value, {}, key);
  return behind == ranks.begin() ? nullptr : &*std::prev(behind);
}

Fragment FragmentTable::OfRank(const Rank& rank) const {
  const Change& change = (*changes_)[static_cast<size_t>(&rank - RanksOfChanges().data())];
  return Fragment(change.run, change.index);
}

Fragment FragmentTable::At(uint64_t position) const {
  if (const Rank* rank = LastRank(position, &Rank::position)) {
    if (position < rank->position_end) return OfRank(*rank);
    position = rank->run_position + (position - rank->position_end);
  }
  auto run = runs_.begin();
  for (; position >= (*run)->size(); ++run) position -= (*run)->size();
  return Fragment(*run, position);
}

FragmentTable::RowPlace FragmentTable::FindRow(uint64_t row) const {
  if (const Rank* rank = LastRank(row, &Rank::row)) {
    if (row < rank->row_end) return {OfRank(*rank), row - rank->row};
    row = rank->run_row + (row - rank->row_end);
  }
  auto run = runs_.begin();
  for (; row >= (*run)->num_rows(); ++run) row -= (*run)->num_rows();
  const FragmentRun::RowPlace place = (*run)->FindRow(row);
  return {Fragment(*run, place.index), place.row};
}

// The rank of the last change before the id; null if there is none.
const FragmentTable::Rank* FragmentTable::RankBefore(uint64_t id) const {
  const auto at = std::ranges::lower_bound(*changes_, id, {}, &Change::id) - changes_->begin();
  return at == 0 ? nullptr : &RanksOfChanges()[static_cast<size_t>(at) - 1];
}

uint64_t FragmentTable::PositionOf(uint64_t id) const {
  const uint64_t in_runs = LowerBound(id).position;
  const Rank* rank = RankBefore(id);
  return rank == nullptr ? in_runs : rank->position_end + (in_runs - rank->run_position);
}

uint64_t FragmentTable::RowsBefore(uint64_t id) const {
  const uint64_t in_runs = LowerBound(id).row;
  const Rank* rank = RankBefore(id);
  return rank == nullptr ? in_runs : rank->row_end + (in_runs - rank->run_row);
}

arrow::Result<FragmentTable> FragmentTable::Insert(
    std::span<const wire::DataFragment> fragments) const {
  std::vector<const wire::DataFragment*> sorted;
  for (const wire::DataFragment& fragment : fragments) sorted.push_back(&fragment);
  std::ranges::sort(sorted, {}, &wire::DataFragment::id);
  const auto twice = std::ranges::adjacent_find(sorted, {}, &wire::DataFragment::id);
  if (twice != sorted.end()) return InvalidInput("fragment id {} is given twice", (*twice)->id);

  FragmentRun::Builder builder;
  for (const wire::DataFragment* fragment : sorted) {
    ARROW_RETURN_NOT_OK(CheckId(fragment->id, {"(fragments in memory)"}));
    builder.Append(*fragment);
    ARROW_RETURN_NOT_OK(builder.CheckSize());
  }
  ARROW_ASSIGN_OR_RAISE(const auto run, std::move(builder).Finish());

  FragmentTable next = *this;
  Changes changes;
  for (size_t i = 0; i < run->size(); ++i) {
    if (Find(run->id(i))) return InvalidInput("fragment {} is already in the table", run->id(i));
    ARROW_ASSIGN_OR_RAISE(const auto facts, Fragment(run, i).Scan());
    next.totals_.Add(facts);
    changes.push_back({static_cast<uint32_t>(run->id(i)), run, i});
  }
  if (run->size() == 0) return next;
  if (IsAboveAll(run->id(0))) {
    ARROW_RETURN_NOT_OK(next.AppendRun(run));
  } else {
    ARROW_RETURN_NOT_OK(next.ApplyChanges(std::move(changes)));
  }
  return next;
}

// Above what was removed as well: a change hides what the runs have of its id.
bool FragmentTable::IsAboveAll(uint64_t id) const {
  return (runs_.empty() || id > LastId(runs_.back())) &&
         (changes_->empty() || id > changes_->back().id);
}

arrow::Result<FragmentTable> FragmentTable::Replace(
    std::span<const wire::DataFragment> fragments) const {
  std::vector<uint64_t> ids;
  for (const wire::DataFragment& fragment : fragments) ids.push_back(fragment.id);
  // The removals wait in `changes` and are overwritten there by the insertions.
  ARROW_ASSIGN_OR_RAISE(const FragmentTable without, Remove(ids));
  return without.Insert(fragments);
}

arrow::Result<FragmentTable> FragmentTable::Remove(std::span<const uint64_t> ids) const {
  FragmentTable next = *this;
  Changes changes;
  for (const uint64_t id : ids) {
    const std::optional<Fragment> fragment = Find(id);
    if (!fragment) return InvalidInput("fragment {} is not in the table", id);
    ARROW_ASSIGN_OR_RAISE(const auto facts, fragment->Scan());
    next.totals_.Subtract(facts);
    changes.push_back({static_cast<uint32_t>(id), nullptr, 0});
  }
  std::ranges::sort(changes, {}, &Change::id);
  const auto twice = std::ranges::adjacent_find(changes, {}, &Change::id);
  if (twice != changes.end()) return InvalidInput("fragment id {} is given twice", twice->id);
  ARROW_RETURN_NOT_OK(next.ApplyChanges(std::move(changes)));
  return next;
}

// Runs of like size are merged, as in a binary counter: each record is copied O(log n) times.
arrow::Status FragmentTable::AppendRun(std::shared_ptr<const FragmentRun> run) {
  while (!runs_.empty() && runs_.back()->size() <= run->size()) {
    FragmentRun::Builder builder;
    builder.Append(*runs_.back(), 0, runs_.back()->size());
    builder.Append(*run, 0, run->size());
    if (!builder.CheckSize().ok()) break;  // two runs will do as well
    ARROW_ASSIGN_OR_RAISE(run, std::move(builder).Finish());
    runs_.pop_back();
  }
  runs_.push_back(std::move(run));
  return arrow::Status::OK();
}

// `changes` is sorted, and wins over what was changed before.
arrow::Status FragmentTable::ApplyChanges(Changes changes) {
  Changes merged;
  merged.reserve(changes_->size() + changes.size());
  std::ranges::set_union(changes, *changes_, std::back_inserter(merged), {}, &Change::id,
                         &Change::id);
  SetChanges(std::move(merged));
  if (changes_->size() <= MaxChanges(totals_.num_fragments)) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(auto folded, Fold());
  runs_.clear();
  if (folded->size() > 0) runs_.push_back(std::move(folded));
  SetChanges({});
  return arrow::Status::OK();
}

void FragmentTable::SetChanges(Changes changes) {
  changes_ = std::make_shared<const Changes>(std::move(changes));
  ranks_ = std::make_shared<Ranks>();
}

arrow::Result<std::shared_ptr<const FragmentRun>> FragmentTable::Fold() const {
  FragmentRun::Builder builder;
  uint64_t num_bytes = 0;
  for (const auto& slice : Splice()) num_bytes += static_cast<uint64_t>(slice->size());
  builder.Reserve(totals_.num_fragments, num_bytes);
  ForEachPart(0, kEndOfIds, [&](const auto& run, size_t first, size_t last) {
    builder.Append(*run, first, last);
  });
  ARROW_RETURN_NOT_OK(builder.CheckSize());
  return std::move(builder).Finish();
}

template <typename Emit>
void FragmentTable::ForEachPart(uint64_t begin, uint64_t end, Emit&& emit) const {
  auto change = std::ranges::lower_bound(*changes_, begin, {}, &Change::id);
  const auto changes_end = std::ranges::lower_bound(*changes_, end, {}, &Change::id);
  const auto emit_change = [&] {
    if (change->run != nullptr) emit(change->run, change->index, change->index + 1);
    ++change;
  };
  for (auto run = std::ranges::lower_bound(runs_, begin, {}, LastId);
       run != runs_.end() && (*run)->id(0) < end; ++run) {
    size_t first = (*run)->LowerBound(begin);
    const size_t last = (*run)->LowerBound(end);
    for (; change != changes_end && change->id <= LastId(*run); emit_change()) {
      const size_t at = (*run)->LowerBound(change->id);
      if (first < at) emit(*run, first, at);
      first = (*run)->id(at) == change->id ? at + 1 : at;
    }
    if (first < last) emit(*run, first, last);
  }
  while (change != changes_end) emit_change();
}

arrow::Status FragmentTable::Visit(
    const std::function<arrow::Status(const Fragment&)>& visit) const {
  arrow::Status status;
  ForEachPart(0, kEndOfIds, [&](const auto& run, size_t first, size_t last) {
    for (size_t i = first; i < last && status.ok(); ++i) status = visit(Fragment(run, i));
  });
  return status;
}

std::vector<uint64_t> FragmentTable::IdsBeside(std::span<const RowRange> ranges) const {
  std::vector<uint64_t> ids;
  auto range = ranges.begin();
  ForEachPart(0, kEndOfIds, [&](const auto& run, size_t first, size_t last) {
    while (first < last) {
      const uint64_t id = run->id(first);
      while (range != ranges.end() && range->end <= id) ++range;
      if (range != ranges.end() && range->begin <= id) {
        first = SkipBelow(*run, range->end, first, last);
      } else {
        ids.push_back(id);
        ++first;
      }
    }
  });
  return ids;
}

std::vector<std::shared_ptr<arrow::Buffer>> FragmentTable::Splice() const {
  std::vector<std::shared_ptr<arrow::Buffer>> slices;
  const FragmentRun* open = nullptr;  // the run of which a slice is being grown
  size_t begin = 0;
  size_t end = 0;
  const auto close = [&] {
    if (open != nullptr) slices.push_back(open->Slice(begin, end));
  };
  ForEachPart(0, kEndOfIds, [&](const auto& run, size_t first, size_t last) {
    if (run.get() != open || first != end) {
      close();
      open = run.get();
      begin = first;
    }
    end = last;
  });
  close();
  return slices;
}

}  // namespace glaive::table
