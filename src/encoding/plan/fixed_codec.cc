#include "encoding/plan/fixed_codec.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "encoding/codec/bitpacking.h"
#include "encoding/codec/rle.h"

namespace glaive::encoding {
namespace {

constexpr uint64_t kSampledBlocks = 32;
constexpr uint64_t kMaxRun = 255;

template <typename T>
class FixedStatistics {
 public:
  FixedStatistics(std::span<const FixedRange> ranges, uint64_t num_values)
      : ranges_(ranges), num_values_(num_values) {}

  FixedPlan Plan() {
    const uint64_t raw = num_values_ * sizeof(T);
    const uint64_t num_blocks = (num_values_ + kBitpackBlock - 1) / kBitpackBlock;
    if (num_blocks > 4 * kSampledBlocks) {
      Look(num_blocks / kSampledBlocks);
      const uint64_t sampled = looked_at_ * sizeof(T);
      if (packed_bytes_ >= sampled && RunBytes() >= sampled) return {FixedCodec::kFlat, raw};
      *this = FixedStatistics(ranges_, num_values_);
    }
    Look(1);
    FixedPlan plan{FixedCodec::kFlat, raw};
    if (packed_bytes_ < plan.size_bytes) plan = {FixedCodec::kBitpacked, packed_bytes_};
    if (RunBytes() < plan.size_bytes) plan = {FixedCodec::kRuns, RunBytes()};
    if (plan.codec == FixedCodec::kBitpacked) plan.widths = std::move(widths_);
    return plan;
  }

  // Of the blocks that are looked at.
  FixedSizes Estimate() {
    const uint64_t num_blocks = (num_values_ + kBitpackBlock - 1) / kBitpackBlock;
    Look(std::max<uint64_t>(1, num_blocks / kSampledBlocks));
    return {.flat = looked_at_ * sizeof(T), .packed = packed_bytes_, .runs = RunBytes()};
  }

 private:
  // Looks at every n-th block.
  void Look(uint64_t stride) {
    FixedStream stream(ranges_, sizeof(T));
    for (uint64_t at = 0; at < num_values_;) {
      const auto count = static_cast<size_t>(std::min<uint64_t>(num_values_ - at, kBitpackBlock));
      const std::span<const T> values(reinterpret_cast<const T*>(stream.Peek(count)), count);
      const unsigned width = PackedWidth<T>(values);
      packed_bytes_ += InlineBitpackedBytes<T>(width);
      widths_.push_back(static_cast<uint8_t>(width));
      runs_ += CountRuns<T>(values) + count / kMaxRun;
      looked_at_ += count;
      const uint64_t step = std::min(stride * kBitpackBlock, num_values_ - at);
      stream.Skip(static_cast<size_t>(step));
      at += step;
    }
  }

  uint64_t RunBytes() const { return runs_ * (sizeof(T) + 1); }

  std::span<const FixedRange> ranges_;
  uint64_t num_values_;
  uint64_t looked_at_ = 0;
  uint64_t packed_bytes_ = 0;
  uint64_t runs_ = 0;
  std::vector<uint8_t> widths_;  // of the blocks looked at
};

}  // namespace

FixedPlan PlanFixed(std::span<const FixedRange> ranges, uint64_t num_values, size_t value_bytes) {
  switch (value_bytes) {
    case 1: return FixedStatistics<uint8_t>(ranges, num_values).Plan();
    case 2: return FixedStatistics<uint16_t>(ranges, num_values).Plan();
    case 4: return FixedStatistics<uint32_t>(ranges, num_values).Plan();
    case 8: return FixedStatistics<uint64_t>(ranges, num_values).Plan();
    default: return {FixedCodec::kFlat, num_values * value_bytes};
  }
}

FixedSizes EstimateFixed(std::span<const FixedRange> ranges, uint64_t num_values,
                         size_t value_bytes) {
  switch (value_bytes) {
    case 1: return FixedStatistics<uint8_t>(ranges, num_values).Estimate();
    case 2: return FixedStatistics<uint16_t>(ranges, num_values).Estimate();
    case 4: return FixedStatistics<uint32_t>(ranges, num_values).Estimate();
    case 8: return FixedStatistics<uint64_t>(ranges, num_values).Estimate();
    default: return {.flat = num_values * value_bytes};
  }
}

}  // namespace glaive::encoding
