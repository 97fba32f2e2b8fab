#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "encoding/levels/level_survey.h"
#include "encoding/levels/value_ranges.h"
#include "encoding/structural/full_zip/encoder.h"
#include "encoding/structural/mini_block/value_chunks.h"
#include "encoding/structural/page/rows.h"
#include "wire/encodings_v2_1.h"

namespace glaive::encoding {

// How a page says values one by one: in chunks, or each behind its levels.
struct ValuePlan {
  enum class Kind : uint8_t {
    kFlatChunks,
    kPackedChunks,
    kRunChunks,
    kStringChunks,
    kZippedFixed,
    kZippedStrings,
    kZippedCompressed,
  };
  Kind kind = Kind::kFlatChunks;
  size_t value_bytes = 0;      // of fixed-width ones
  bool may_be_packed = false;  // these are numbers of 1, 2, 4 or 8 bytes
  bool large_offsets = false;
  StringOffsets offsets = {};               // of strings in chunks
  wire::EncodingPtr description = nullptr;  // of plain fixed-width ones
  std::vector<uint8_t> widths = {};         // of packed blocks, where they are known
  wire::CompressionScheme scheme = wire::CompressionScheme::kZstd;

  bool is_zipped() const { return kind >= Kind::kZippedFixed; }
  bool is_variable() const {
    return kind == Kind::kStringChunks || kind == Kind::kZippedStrings ||
           kind == Kind::kZippedCompressed;
  }
};

// How a page of rows says its values; nothing where it does not say them one by one: because all
// are equal or null, or by a dictionary. REQUIRES: chunks can be made of the rows' levels
arrow::Result<std::optional<ValuePlan>> PlanValues(const PageRows& rows,
                                                   const arrow::DataType& type);

// Stored slots in order, as the plan's kind of values. Borrows the survey.
struct ValueRanges {
  ValueRanges() = default;
  ValueRanges(const LevelSurvey& survey, const ValuePlan& plan);

  std::vector<FixedRange> fixed;
  std::vector<VariableRange<int32_t>> strings;
  std::vector<VariableRange<int64_t>> large_strings;
};

// Borrow the ranges. REQUIRES: a plan that is zipped, or is not
std::unique_ptr<ZippedValues> MakeZipped(const ValuePlan& plan, const ValueRanges& ranges);
std::unique_ptr<ValueChunks> MakeChunks(const ValuePlan& plan, const ValueRanges& ranges,
                                        uint64_t num_values);

// Whether a plan made for other values is right for these too: they can be written so, and would
// not be much smaller in another way.
bool Suits(const ValuePlan& plan, const ValueRanges& ranges, uint64_t num_values);

// Values from this length on are worth a place of their own in the page.
inline constexpr uint64_t kMinFullZipBytes = 256;

template <typename Offset>
uint64_t LongestOf(std::span<const VariableRange<Offset>> ranges) {
  Offset longest = 0;
  for (const VariableRange<Offset>& range : ranges) {
    for (int64_t i = 0; i < range.length; ++i) {
      const Offset length = range.offsets[i + 1] - range.offsets[i];
      if (length > longest && !(range.hidden_bytes && IsNull(*range.nulls, i))) longest = length;
    }
  }
  return static_cast<uint64_t>(longest);
}

}  // namespace glaive::encoding
