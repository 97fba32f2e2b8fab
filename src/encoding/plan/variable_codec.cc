#include "encoding/plan/variable_codec.h"

#include <algorithm>

#include "encoding/codec/lz4_encoder.h"

namespace glaive::encoding {
namespace {

constexpr uint64_t kMinBytes = 32 * 1024;  // of a page
constexpr uint64_t kSamples = 64;
constexpr uint64_t kMaxSampleBytes = 16 * 1024;
constexpr double kMaxRatio = 0.75;

}  // namespace

// An empty value or a null is no bytes where values have lengths of their own. Readers take that
// from zstd, but miss lz4's header.
template <typename Offset>
bool HasEmptyValues(std::span<const VariableRange<Offset>> ranges) {
  for (const auto& range : ranges) {
    if (range.nulls != nullptr) return true;
    for (int64_t i = 0; i < range.length; ++i) {
      if (range.offsets[i] == range.offsets[i + 1]) return true;
    }
  }
  return false;
}

template <typename Offset>
std::optional<wire::CompressionScheme> ChooseCompression(
    std::span<const VariableRange<Offset>> ranges, uint64_t longest) {
  uint64_t num_values = 0;
  uint64_t num_bytes = 0;
  for (const auto& range : ranges) {
    num_values += static_cast<uint64_t>(range.length);
    num_bytes += static_cast<uint64_t>(range.offsets[range.length] - range.offsets[0]);
  }
  if (num_bytes < kMinBytes || longest > Lz4Encoder::kMaxInputBytes) return std::nullopt;

  Lz4Encoder encoder;
  uint64_t raw_bytes = 0;
  uint64_t compressed_bytes = 0;
  uint64_t sample = 0;
  uint64_t begin_of_range = 0;
  for (const auto& range : ranges) {
    const uint64_t end_of_range = begin_of_range + static_cast<uint64_t>(range.length);
    for (; sample < kSamples; ++sample) {
      const uint64_t i = sample * num_values / kSamples;
      if (i >= end_of_range) break;
      const auto at = static_cast<int64_t>(i - begin_of_range);
      if (range.nulls != nullptr && IsNull(*range.nulls, at)) continue;
      const Offset begin = range.offsets[at];
      const auto size = static_cast<uint64_t>(range.offsets[at + 1] - begin);
      const std::span value(range.bytes + begin, std::min(size, kMaxSampleBytes));
      raw_bytes += value.size();
      compressed_bytes += encoder.Compress(value).size();
    }
    begin_of_range = end_of_range;
  }
  if (static_cast<double>(compressed_bytes) >= kMaxRatio * static_cast<double>(raw_bytes)) {
    return std::nullopt;
  }
  return HasEmptyValues(ranges) ? wire::CompressionScheme::kZstd : wire::CompressionScheme::kLz4;
}

template bool HasEmptyValues(std::span<const VariableRange<int32_t>>);
template bool HasEmptyValues(std::span<const VariableRange<int64_t>>);
template std::optional<wire::CompressionScheme> ChooseCompression(
    std::span<const VariableRange<int32_t>>, uint64_t);
template std::optional<wire::CompressionScheme> ChooseCompression(
    std::span<const VariableRange<int64_t>>, uint64_t);

}  // namespace glaive::encoding
