#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoding/levels/value_ranges.h"

namespace glaive::encoding {

enum class FixedCodec : uint8_t { kFlat, kBitpacked, kRuns };

// How fixed-width values are smallest in chunks of a mini-block page, and in about how many bytes.
struct FixedPlan {
  FixedCodec codec = FixedCodec::kFlat;
  uint64_t size_bytes = 0;
  std::vector<uint8_t> widths = {};  // of each block of bit-packed ones
};

// Values of 1, 2, 4 or 8 bytes are looked at, all of them unless a sample says that nothing will
// help; others are always flat.
FixedPlan PlanFixed(std::span<const FixedRange> ranges, uint64_t num_values, size_t value_bytes);

// What values take in each codec, by a sample of them.
struct FixedSizes {
  uint64_t flat = 0;
  uint64_t packed = UINT64_MAX;  // where there is no such codec
  uint64_t runs = UINT64_MAX;
};
FixedSizes EstimateFixed(std::span<const FixedRange> ranges, uint64_t num_values,
                         size_t value_bytes);

}  // namespace glaive::encoding
