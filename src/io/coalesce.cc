#include "io/coalesce.h"

#include <algorithm>
#include <numeric>

namespace glaive::io {
namespace {

bool Joins(const ByteRange& read, const ByteRange& next, CoalescePolicy policy) {
  if (next.end() <= read.end()) return true;
  if (next.offset > read.end() && next.offset - read.end() > policy.max_gap) return false;
  return next.end() - read.offset <= policy.max_size;
}

}  // namespace

CoalescedRanges CoalesceRanges(std::span<const ByteRange> ranges, CoalescePolicy policy) {
  CoalescedRanges result;
  result.read_of.resize(ranges.size());
  std::vector<size_t> order(ranges.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto by_offset = [&](size_t a, size_t b) { return ranges[a].offset < ranges[b].offset; };
  if (!std::is_sorted(order.begin(), order.end(), by_offset)) {
    std::stable_sort(order.begin(), order.end(), by_offset);
  }
  for (const size_t index : order) {
    const ByteRange& range = ranges[index];
    if (result.reads.empty() || !Joins(result.reads.back(), range, policy)) {
      result.reads.push_back(range);
    } else {
      ByteRange& read = result.reads.back();
      read.size = std::max(read.end(), range.end()) - read.offset;
    }
    result.read_of[index] = result.reads.size() - 1;
  }
  return result;
}

std::vector<std::shared_ptr<arrow::Buffer>> SliceReads(
    std::span<const ByteRange> ranges, const CoalescedRanges& coalesced,
    std::span<const std::shared_ptr<arrow::Buffer>> buffers) {
  std::vector<std::shared_ptr<arrow::Buffer>> slices;
  slices.reserve(ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    const size_t read = coalesced.read_of[i];
    const ByteRange& whole = coalesced.reads[read];
    slices.push_back(whole == ranges[i]
                         ? buffers[read]
                         : arrow::SliceBuffer(buffers[read],
                                              static_cast<int64_t>(ranges[i].offset - whole.offset),
                                              static_cast<int64_t>(ranges[i].size)));
  }
  return slices;
}

}  // namespace glaive::io
