#include "encoding/plan/row_segments.h"

#include <algorithm>

#include "encoding/levels/level_stream.h"

namespace glaive::encoding {
namespace {

// What matters of some rows: how many entries, and how those without a value lie.
struct Stretch {
  uint64_t entries = 0;
  uint64_t leading_gap = 0;
  uint64_t trailing_gap = 0;  // all of it if there is no value
  uint64_t max_gap = 0;

  void AddEntry(bool visible) {
    ++entries;
    trailing_gap = visible ? 0 : trailing_gap + 1;
    if (trailing_gap == entries) leading_gap = entries;
    max_gap = std::max(max_gap, trailing_gap);
  }

  void Add(const Stretch& next) {
    max_gap = std::max({max_gap, next.max_gap, trailing_gap + next.leading_gap});
    if (leading_gap == entries) leading_gap += next.leading_gap;
    trailing_gap =
        next.trailing_gap == next.entries ? trailing_gap + next.entries : next.trailing_gap;
    entries += next.entries;
  }
};

class Cutter {
 public:
  explicit Cutter(const SegmentLimits& limits) : limits_(limits) {}

  void AddRow(const Stretch& row) {
    Stretch joined = segment_;
    joined.Add(row);
    const bool fits = joined.entries <= limits_.max_entries &&
                      (joined.max_gap <= limits_.max_gap || joined.entries <= limits_.max_sparse);
    if (num_rows_ > 0 && !fits) {
      segments_.push_back(num_rows_);
      num_rows_ = 0;
      joined = row;
    }
    segment_ = joined;
    ++num_rows_;
  }

  std::vector<uint64_t> Finish() && {
    if (num_rows_ > 0) segments_.push_back(num_rows_);
    return std::move(segments_);
  }

 private:
  SegmentLimits limits_;
  Stretch segment_;
  uint64_t num_rows_ = 0;
  std::vector<uint64_t> segments_;
};

}  // namespace

std::vector<uint64_t> CutRows(std::span<const Nest> nests, const LevelScheme& scheme,
                              const SegmentLimits& limits) {
  Cutter cutter(limits);
  Stretch row;
  Levels levels;
  for (LevelStream stream(nests, scheme); stream.Next(levels); levels.Clear()) {
    for (size_t i = 0; i < levels.size(); ++i) {
      const bool starts = !scheme.has_rep() || levels.rep.data()[i] == scheme.num_lists;
      if (starts && row.entries > 0) {
        cutter.AddRow(row);
        row = {};
      }
      row.AddEntry(!scheme.has_def() || levels.def.data()[i] <= scheme.max_visible_def());
    }
  }
  if (row.entries > 0) cutter.AddRow(row);
  return std::move(cutter).Finish();
}

std::vector<Nest> SliceNests(std::span<const Nest> nests, uint64_t begin, uint64_t num_rows) {
  std::vector<Nest> slices;
  for (const Nest& nest : nests) {
    const auto rows = static_cast<uint64_t>(nest.num_rows);
    if (begin >= rows) {
      begin -= rows;
      continue;
    }
    if (num_rows == 0) break;
    const uint64_t count = std::min(num_rows, rows - begin);
    slices.push_back(nest);
    slices.back().begin += static_cast<int64_t>(begin);
    slices.back().num_rows = static_cast<int64_t>(count);
    num_rows -= count;
    begin = 0;
  }
  return slices;
}

}  // namespace glaive::encoding
