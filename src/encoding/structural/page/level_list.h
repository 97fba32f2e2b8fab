#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "encoding/codec/block.h"
#include "encoding/codec/words.h"

namespace glaive::encoding {

// The levels of one stream of a page, kept as short as they will go: by runs where they repeat,
// else a byte each where that is enough. Any of them are at hand without the ones before.
// Immutable.
class LevelList {
 public:
  LevelList() = default;

  // Levels as they are, two bytes each.
  static LevelList Of(std::span<const uint16_t> levels);
  // Corrupt unless the payload holds so many. Runs are not spelled out on the way, so that what a
  // few bytes say costs what they take.
  static arrow::Result<LevelList> Decode(const FixedBlockDescription& block, Bytes payload,
                                         uint64_t num_levels, Location where);

  uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  uint64_t memory_bytes() const;

  // Levels [begin, begin + out.size()). REQUIRES: they are there
  void Copy(uint64_t begin, std::span<uint16_t> out) const noexcept;

 private:
  struct Run {
    uint64_t end;  // where it ends among the levels
    uint16_t level;
  };

  void AddRun(uint16_t level, uint64_t length);

  uint64_t size_ = 0;
  std::vector<Run> runs_;  // or
  std::vector<uint8_t> narrow_;
  std::vector<uint16_t> wide_;
};

// Where the rows of a page begin among its levels: told by the levels that start a row, of which
// one in so many is remembered; nothing is where every level starts one.
class LevelRows {
 public:
  LevelRows() = default;

  // Corrupt unless `num_rows` of the levels are `new_row`, the first among them.
  static arrow::Result<LevelRows> Find(const LevelList& repetition, uint16_t new_row,
                                       uint64_t num_rows, Location where);

  // The level that a row starts with; the number of levels behind the last. REQUIRES: the list that
  // these were found in, and a row of it or the end
  uint64_t Start(const LevelList& repetition, uint64_t row) const noexcept;

  uint64_t memory_bytes() const { return marks_.size() * sizeof(uint64_t); }

 private:
  uint16_t new_row_ = 0;
  uint64_t num_rows_ = 0;
  std::vector<uint64_t> marks_;  // of rows 0, kStride, 2 kStride ...
};

}  // namespace glaive::encoding
