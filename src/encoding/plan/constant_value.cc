#include "encoding/plan/constant_value.h"

#include <cstring>
#include <string_view>

namespace glaive::encoding {
namespace {

// Collects values until two of them differ.
class Candidate {
 public:
  // False once there is no one value.
  bool Add(std::string_view value) {
    if (!value_) value_ = value;
    return *value_ == value;
  }

  std::optional<std::string> Found() const {
    if (!value_) return std::nullopt;
    return std::string(*value_);
  }

 private:
  std::optional<std::string_view> value_;
};

}  // namespace

std::optional<std::string> FindConstant(std::span<const FixedRange> ranges, size_t value_bytes) {
  Candidate candidate;
  for (const FixedRange& range : ranges) {
    const auto* values = reinterpret_cast<const char*>(range.values);
    if (range.nulls == nullptr) {
      if (!candidate.Add({values, value_bytes})) return std::nullopt;
      const size_t rest = static_cast<size_t>(range.length - 1) * value_bytes;
      if (std::memcmp(values, values + value_bytes, rest) != 0) return std::nullopt;
      continue;
    }
    for (int64_t i = 0; i < range.length; ++i, values += value_bytes) {
      if (IsNull(*range.nulls, i)) continue;
      if (!candidate.Add({values, value_bytes})) return std::nullopt;
    }
  }
  return candidate.Found();
}

template <typename Offset>
std::optional<std::string> FindConstant(std::span<const VariableRange<Offset>> ranges) {
  Candidate candidate;
  for (const VariableRange<Offset>& range : ranges) {
    const auto* bytes = reinterpret_cast<const char*>(range.bytes);
    for (int64_t i = 0; i < range.length; ++i) {
      if (range.nulls != nullptr && IsNull(*range.nulls, i)) continue;
      const Offset begin = range.offsets[i];
      const auto length = static_cast<size_t>(range.offsets[i + 1] - begin);
      if (!candidate.Add({bytes + begin, length})) return std::nullopt;
    }
  }
  return candidate.Found();
}

template std::optional<std::string> FindConstant(std::span<const VariableRange<int32_t>>);
template std::optional<std::string> FindConstant(std::span<const VariableRange<int64_t>>);

std::optional<std::string> FindConstantBoolean(const LevelSurvey& survey) {
  static constexpr std::string_view kValues{"\0\1", 2};
  Candidate candidate;
  for (const LeafRange& range : survey.ranges) {
    const uint8_t* bits = range.nest->leaf->buffers[1]->data();
    const int64_t begin = range.begin + range.nest->leaf_shift;
    for (int64_t i = 0; i < range.length; ++i) {
      if (range.has_nulls && IsNull(range, i)) continue;
      const bool value = arrow::bit_util::GetBit(bits, begin + i);
      if (!candidate.Add(kValues.substr(value ? 1 : 0, 1))) return std::nullopt;
    }
  }
  return candidate.Found();
}

}  // namespace glaive::encoding
