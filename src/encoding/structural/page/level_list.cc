#include "encoding/structural/page/level_list.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace glaive::encoding {
namespace {

constexpr uint64_t kStride = 1024;
constexpr uint64_t kBatch = 4096;

// Calls visit(level, its number) for levels from `begin` on, until it returns false.
template <typename Visit>
void VisitFrom(const LevelList& levels, uint64_t begin, const Visit& visit) {
  std::array<uint16_t, kBatch> batch;
  while (begin < levels.size()) {
    const uint64_t size = std::min(kBatch, levels.size() - begin);
    levels.Copy(begin, std::span(batch).first(size));
    for (uint64_t i = 0; i < size; ++i) {
      if (!visit(batch[i], begin + i)) return;
    }
    begin += size;
  }
}

}  // namespace

void LevelList::AddRun(uint16_t level, uint64_t length) {
  size_ += length;
  if (!runs_.empty() && runs_.back().level == level) {
    runs_.back().end = size_;
  } else {
    runs_.push_back({size_, level});
  }
}

LevelList LevelList::Of(std::span<const uint16_t> levels) {
  uint64_t num_runs = levels.empty() ? 0 : 1;
  uint16_t largest = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    largest = std::max(largest, levels[i]);
    if (i > 0) num_runs += levels[i] != levels[i - 1] ? 1 : 0;
  }
  LevelList list;
  if (num_runs * sizeof(Run) <= levels.size()) {
    list.runs_.reserve(num_runs);
    for (size_t begin = 0; begin < levels.size();) {
      size_t end = begin + 1;
      while (end < levels.size() && levels[end] == levels[begin]) ++end;
      list.AddRun(levels[begin], end - begin);
      begin = end;
    }
    return list;
  }
  list.size_ = levels.size();
  if (largest <= std::numeric_limits<uint8_t>::max()) {
    list.narrow_.resize(levels.size());
    std::transform(levels.begin(), levels.end(), list.narrow_.begin(),
                   [](uint16_t level) { return static_cast<uint8_t>(level); });
  } else {
    list.wide_.assign(levels.begin(), levels.end());
  }
  return list;
}

arrow::Result<LevelList> LevelList::Decode(const FixedBlockDescription& block, Bytes payload,
                                           uint64_t num_levels, Location where) {
  LevelList list;
  ARROW_ASSIGN_OR_RAISE(
      const bool are_runs,
      block.VisitRuns(payload, num_levels, where, [&list](uint64_t value, uint64_t length) {
        list.AddRun(static_cast<uint16_t>(value), length);
      }));
  if (are_runs) {
    list.runs_.shrink_to_fit();
    return list;
  }
  ARROW_ASSIGN_OR_RAISE(const auto bytes, block.Decode(payload, num_levels, where));
  std::vector<uint16_t> levels(num_levels);
  if (num_levels > 0) std::memcpy(levels.data(), bytes.data(), bytes.size());
  return Of(levels);
}

uint64_t LevelList::memory_bytes() const {
  return runs_.size() * sizeof(Run) + narrow_.size() + wide_.size() * sizeof(uint16_t);
}

void LevelList::Copy(uint64_t begin, std::span<uint16_t> out) const noexcept {
  if (!narrow_.empty()) {
    std::copy_n(narrow_.begin() + static_cast<ptrdiff_t>(begin), out.size(), out.begin());
    return;
  }
  if (!wide_.empty()) {
    std::copy_n(wide_.begin() + static_cast<ptrdiff_t>(begin), out.size(), out.begin());
    return;
  }
  auto run = std::upper_bound(runs_.begin(), runs_.end(), begin,
                              [](uint64_t at, const Run& other) { return at < other.end; });
  for (size_t done = 0; done < out.size(); ++run) {
    const size_t size = std::min<uint64_t>(run->end - begin - done, out.size() - done);
    std::fill_n(out.begin() + static_cast<ptrdiff_t>(done), size, run->level);
    done += size;
  }
}

arrow::Result<LevelRows> LevelRows::Find(const LevelList& repetition, uint16_t new_row,
                                         uint64_t num_rows, Location where) {
  LevelRows rows;
  rows.new_row_ = new_row;
  rows.num_rows_ = num_rows;
  uint64_t found = 0;
  uint16_t first = new_row;
  VisitFrom(repetition, 0, [&](uint16_t level, uint64_t at) {
    if (at == 0) first = level;
    if (level != new_row) return true;
    if (found % kStride == 0) rows.marks_.push_back(at);
    ++found;
    return true;
  });
  if (found != num_rows || first != new_row) {
    return Corrupt(where, "{} rows in the levels of a page of {}", found, num_rows);
  }
  if (found == repetition.size()) rows.marks_ = {};
  return rows;
}

uint64_t LevelRows::Start(const LevelList& repetition, uint64_t row) const noexcept {
  if (marks_.empty()) return row;
  if (row == num_rows_) return repetition.size();
  uint64_t left = row % kStride;
  uint64_t start = 0;
  VisitFrom(repetition, marks_[row / kStride], [&](uint16_t level, uint64_t at) {
    if (level != new_row_) return true;
    start = at;
    return left-- > 0;
  });
  return start;
}

}  // namespace glaive::encoding
