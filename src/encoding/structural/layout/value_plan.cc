#include "encoding/structural/layout/value_plan.h"

#include <algorithm>
#include <utility>

#include "encoding/codec/lz4_encoder.h"
#include "encoding/plan/fixed_codec.h"
#include "encoding/plan/variable_codec.h"

namespace glaive::encoding {
namespace {

using Kind = ValuePlan::Kind;

// A codec that takes that much more than another would is not gone on with.
constexpr uint64_t kTolerance = 4;          // a quarter
constexpr uint64_t kFewValues = 16 * 1024;  // say little

bool SuitsFixed(const ValuePlan& plan, const ValueRanges& ranges, uint64_t num_values) {
  if (!plan.may_be_packed || num_values < kFewValues) return true;
  const FixedSizes sizes = EstimateFixed(ranges.fixed, num_values, plan.value_bytes);
  const uint64_t size = plan.kind == Kind::kPackedChunks ? sizes.packed
                        : plan.kind == Kind::kRunChunks  ? sizes.runs
                                                         : sizes.flat;
  const uint64_t least = std::min({sizes.flat, sizes.packed, sizes.runs});
  return size <= least + least / kTolerance;
}

template <typename Offset>
bool SuitsVariable(const ValuePlan& plan, std::span<const VariableRange<Offset>> ranges) {
  if (plan.kind == Kind::kZippedStrings) return true;
  const uint64_t longest = LongestOf<Offset>(ranges);
  if (plan.kind == Kind::kStringChunks) return longest < kMinFullZipBytes;
  return plan.scheme != wire::CompressionScheme::kLz4 ||
         (longest <= Lz4Encoder::kMaxInputBytes && !HasEmptyValues(ranges));
}

template <typename Offset>
std::unique_ptr<ZippedValues> MakeZippedStrings(const ValuePlan& plan,
                                                const std::vector<VariableRange<Offset>>& ranges) {
  const std::span<const VariableRange<Offset>> all(ranges);
  return plan.kind == Kind::kZippedCompressed ? MakeZippedCompressed<Offset>(all, plan.scheme)
                                              : MakeZippedVariable<Offset>(all);
}

}  // namespace

ValueRanges::ValueRanges(const LevelSurvey& survey, const ValuePlan& plan) {
  if (!plan.is_variable()) {
    fixed = FixedRangesOf(survey, static_cast<int64_t>(plan.value_bytes));
  } else if (plan.large_offsets) {
    large_strings = VariableRangesOf<int64_t>(survey);
  } else {
    strings = VariableRangesOf<int32_t>(survey);
  }
}

std::unique_ptr<ZippedValues> MakeZipped(const ValuePlan& plan, const ValueRanges& ranges) {
  if (!plan.is_variable()) {
    return MakeZippedFixed(ranges.fixed, plan.value_bytes, plan.description);
  }
  return plan.large_offsets ? MakeZippedStrings(plan, ranges.large_strings)
                            : MakeZippedStrings(plan, ranges.strings);
}

std::unique_ptr<ValueChunks> MakeChunks(const ValuePlan& plan, const ValueRanges& ranges,
                                        uint64_t num_values) {
  switch (plan.kind) {
    case Kind::kPackedChunks:
      return MakeBitpackedChunks(ranges.fixed, num_values, plan.value_bytes, plan.widths);
    case Kind::kRunChunks: return MakeRunChunks(ranges.fixed, num_values, plan.value_bytes);
    case Kind::kStringChunks:
      return plan.large_offsets
                 ? MakeVariableChunks<int64_t>(ranges.large_strings, num_values, plan.offsets)
                 : MakeVariableChunks<int32_t>(ranges.strings, num_values, plan.offsets);
    default: return MakeFlatChunks(ranges.fixed, num_values, plan.value_bytes, plan.description);
  }
}

bool Suits(const ValuePlan& plan, const ValueRanges& ranges, uint64_t num_values) {
  if (!plan.is_variable()) return SuitsFixed(plan, ranges, num_values);
  return plan.large_offsets ? SuitsVariable<int64_t>(plan, ranges.large_strings)
                            : SuitsVariable<int32_t>(plan, ranges.strings);
}

}  // namespace glaive::encoding
