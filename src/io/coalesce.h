#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/buffer.h>

#include "core/ranges.h"

namespace glaive::io {

// When one request for neighbouring ranges is cheaper than one for each.
struct CoalescePolicy {
  uint64_t max_gap = 0;   // bytes between two ranges that are worth reading along
  uint64_t max_size = 0;  // of what is put together; a longer range stays alone
};

// Locally a request costs about what copying this gap costs. The size is small on purpose: one
// slice that is kept keeps all that was read with it.
inline constexpr CoalescePolicy kLocalCoalescing = {.max_gap = 4 << 10, .max_size = 1 << 20};

struct CoalescedRanges {
  std::vector<ByteRange> reads;  // by offset
  std::vector<size_t> read_of;   // for each range that was given, the read that covers it
};

// Ranges come in any order and may overlap. REQUIRES: no range ends beyond 2^64.
CoalescedRanges CoalesceRanges(std::span<const ByteRange> ranges, CoalescePolicy policy);

// The buffers of `ranges`, cut out of one buffer for each read.
std::vector<std::shared_ptr<arrow::Buffer>> SliceReads(
    std::span<const ByteRange> ranges, const CoalescedRanges& coalesced,
    std::span<const std::shared_ptr<arrow::Buffer>> buffers);

}  // namespace glaive::io
