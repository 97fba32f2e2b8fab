#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "encoding/levels/value_ranges.h"
#include "encoding/structural/page/buffer_parts.h"
#include "encoding/structural/page/encoded_page.h"
#include "encoding/structural/page/rows.h"

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

// The same for rows that come piece by piece.
class FullZipWriter {
 public:
  // For values such as these. Borrows the scheme.
  FullZipWriter(const LevelScheme& scheme, const ZippedValues& values, FileVersion version);

  // REQUIRES: the scheme knows all levels of the rows
  arrow::Status Write(const PageRows& rows, ZippedValues& values);

  // Buffer 0 as far as it goes, to be written before what comes later.
  arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> TakeEntries();

  // The page, with what is left of buffer 0.
  arrow::Result<EncodedPage> Finish(const ZippedValues& values) &&;

  uint64_t num_entries() const { return num_entries_; }

 private:
  arrow::Status WriteValues(const PageRows& rows, ZippedValues& values);
  arrow::Status WriteEntries(const PageRows& rows, ZippedValues& values);
  arrow::Status WriteEntry(uint32_t word, bool stored, ZippedValues& values);
  std::shared_ptr<arrow::Buffer> PackedRowStarts();
  uint64_t size_bytes() const { return taken_bytes_ + zipped_.size_bytes(); }

  const LevelScheme& scheme_;
  FileVersion version_;
  uint32_t bits_rep_;
  uint32_t bits_def_;
  bool variable_;
  bool indexed_;
  uint16_t max_stored_def_;  // an entry up to it has a value
  size_t word_bytes_ = 0;
  uint64_t num_rows_ = 0;
  uint64_t num_entries_ = 0;
  uint64_t num_visible_ = 0;
  uint64_t taken_bytes_ = 0;
  std::vector<uint64_t> row_starts_;
  BufferParts zipped_;
};

}  // namespace glaive::encoding
