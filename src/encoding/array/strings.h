#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "encoding/array/ends.h"
#include "encoding/array/fixed_values.h"
#include "encoding/codec/fsst.h"
#include "encoding/structural/leaf/validity_builder.h"
#include "encoding/structural/leaf/values.h"

// Strings and binaries in a page of a 2.0 file. Where each ends is a u64; those that are null have
// the null adjustment, which is one more than all bytes, added to it:
//
//   ["x", "yy", null, "zzz"]    ends 1, 3, 3 + 7, 6    bytes "xyyzzz"    null adjustment 7
//
// Or they have one width (fixed_size_binary), and no ends. The bytes may be fsst codes.
namespace glaive::encoding {

class StringRead;

class StringValues {
 public:
  // Of binary, fsst or fixed_size_binary.
  static arrow::Result<StringValues> Validate(const wire::ArrayEncoding& encoding,
                                              uint64_t num_values, const ArraySource& source);

  uint64_t num_values() const { return num_values_; }
  uint64_t text_bytes() const;  // of all strings, about

  // Borrows this. REQUIRES: ascending, disjoint, within the page
  std::unique_ptr<StringRead> Read(std::span<const RowRange> values) const;

 private:
  friend class StringRead;

  StringValues(FixedValues bytes, uint64_t num_values)
      : bytes_(std::move(bytes)), num_values_(num_values) {}

  Location where() const { return {path_, metadata_offset_}; }

  std::optional<FixedValues> ends_;  // nothing: all strings have `width_` bytes
  uint64_t width_ = 0;
  uint64_t null_adjustment_ = 0;
  FixedValues bytes_;
  std::optional<FsstTable> fsst_;
  uint64_t num_values_;
  std::string path_;
  uint64_t metadata_offset_ = 0;
};

class StringRead final : public BufferRead {
 public:
  StringRead(const StringValues& values, std::span<const RowRange> ranges);

  const std::vector<ByteRange>& wanted() const override { return reads_.wanted(); }
  arrow::Status Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) override;

  arrow::Status Append(LeafValues& values, ValidityBuilder& validity);

 private:
  arrow::Status TakeEnds();
  void WantBytes();
  arrow::Status AppendRun(const Extents& run, const std::byte* bytes, LeafValues& values) const;
  arrow::Status AppendCodes(const Extents& run, const std::byte* bytes, LeafValues& values) const;

  const StringValues& values_;
  std::vector<RowRange> ranges_;
  std::optional<FixedRead> ends_;
  std::optional<FixedRead> bytes_;
  bool all_bytes_ = false;  // of the page, whatever is wanted of them
  BufferReads reads_;
  std::vector<Extents> runs_;
};

}  // namespace glaive::encoding
