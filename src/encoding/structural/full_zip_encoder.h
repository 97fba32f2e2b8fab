#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <arrow/result.h>

#include "encoding/levels/value_ranges.h"
#include "encoding/structural/page_encoder.h"
#include "encoding/structural/page_rows.h"

namespace glaive::encoding {

// The values of a full-zip page, each with its bytes behind the entry's control word.
class ZippedValues {
 public:
  virtual ~ZippedValues() = default;

  // Bytes of the next visible slot, which Write then writes; a null one is passed over by Skip.
  virtual uint64_t NextSize() = 0;
  virtual void Write(std::byte* out) = 0;
  virtual void Skip() = 0;
  // The values as they lie in Arrow's buffers, where that is what is stored; else nothing.
  virtual std::vector<std::shared_ptr<arrow::Buffer>> Shared() const { return {}; }

  virtual wire::EncodingPtr Describe() const = 0;
  // 0: all values have the same width.
  virtual uint32_t bits_per_offset() const = 0;
  virtual uint32_t bits_per_value() const = 0;
};

// The ranges are borrowed by what these make.
std::unique_ptr<ZippedValues> MakeZippedFixed(std::span<const FixedRange> ranges,
                                              size_t value_bytes, wire::EncodingPtr description);
template <typename Offset>
std::unique_ptr<ZippedValues> MakeZippedVariable(std::span<const VariableRange<Offset>> ranges);
// Each value compressed for itself. REQUIRES: `scheme` is what ChooseCompression gave
template <typename Offset>
std::unique_ptr<ZippedValues> MakeZippedCompressed(std::span<const VariableRange<Offset>> ranges,
                                                   wire::CompressionScheme scheme);
std::unique_ptr<ZippedValues> MakeZippedBooleans(const LevelSurvey& survey);

inline constexpr uint64_t kMaxFullZipEntries = UINT32_MAX;

// A page of entries, one after the other: control word (both levels, if there are any), then the
// value, which of a null is absent if values have lengths of their own.
//
//   buffer 0   entries
//   buffer 1   where values have lengths or there are lists: where each row starts, and the end;
//              1, 2, 4 or 8 bytes each
//
// REQUIRES: there are values, and at most kMaxFullZipEntries entries
arrow::Result<EncodedPage> EncodeFullZipPage(const PageRows& rows, ZippedValues& values);

}  // namespace glaive::encoding
