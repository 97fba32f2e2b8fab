#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "encoding/levels/level_survey.h"

namespace glaive::encoding {

// Consecutive values of one width out of one array. Borrows them.
struct FixedRange {
  const std::byte* values = nullptr;
  int64_t length = 0;
  const LeafRange* nulls = nullptr;                // set where some are null
  std::shared_ptr<arrow::Buffer> owner = nullptr;  // of the values
};

// Consecutive strings out of one array. Borrows them.
template <typename Offset>
struct VariableRange {
  const Offset* offsets = nullptr;  // length + 1
  const std::byte* bytes = nullptr;
  int64_t length = 0;
  const LeafRange* nulls = nullptr;  // set where some are null
  bool hidden_bytes = false;         // some null has bytes behind it
};

// Calls `visit(i)` for every null of values [first, first + count) of a range, more than once where
// several layers say so.
template <typename Visit>
void VisitNulls(const LeafRange& range, int64_t first, int64_t count, Visit&& visit) {
  for (const SlotMask& mask : range.nest->groups.back().masks) {
    VisitNulls(mask.bits, range.begin + first + mask.shift, count, visit);
  }
}

inline bool IsNull(const LeafRange& range, int64_t at) {
  for (const SlotMask& mask : range.nest->groups.back().masks) {
    if (!arrow::bit_util::GetBit(mask.bits, range.begin + at + mask.shift)) return true;
  }
  return false;
}

// Of fixed-width leaves; of fixed-size lists, a value is the whole list. `value_bytes` each.
std::vector<FixedRange> FixedRangesOf(const LevelSurvey& survey, int64_t value_bytes);

template <typename Offset>
std::vector<VariableRange<Offset>> VariableRangesOf(const LevelSurvey& survey);

// Reads fixed-width values front to back, whatever arrays they lie in. Nulls read as zeros.
class FixedStream {
 public:
  FixedStream(std::span<const FixedRange> ranges, size_t value_bytes)
      : ranges_(ranges), value_bytes_(value_bytes) {}

  // The next `count` values in one piece; holds until the next call. REQUIRES: there are so many
  const std::byte* Peek(size_t count);
  void Skip(size_t count);
  // Copies the next `count` values and moves on.
  void Read(size_t count, std::byte* out);

 private:
  std::span<const FixedRange> ranges_;
  size_t value_bytes_;
  size_t range_ = 0;
  int64_t in_range_ = 0;
  std::vector<std::byte> scratch_;
};

}  // namespace glaive::encoding
