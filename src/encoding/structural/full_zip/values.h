#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "core/file_version.h"
#include "encoding/codec/general.h"
#include "encoding/codec/words.h"
#include "encoding/structural/leaf/string_codec.h"
#include "encoding/structural/leaf/values.h"
#include "wire/encodings_v2_1.h"

namespace glaive::encoding {

// Values of a full-zip page that are all as wide: [bitmaps of items][value]. There is a bitmap, of
// whole bytes, for each fixed-size list whose items may be null, outermost first; no value if all
// items of the page are null. A boolean takes a byte.
class ZippedRows {
 public:
  static arrow::Result<ZippedRows> Validate(const wire::CompressiveEncoding& encoding,
                                            uint64_t bits_per_value, const LeafShape& shape,
                                            Location where);

  uint64_t row_bytes() const { return row_bytes_; }

  // Appends rows that lie back to back.
  arrow::Status Append(const std::byte* rows, uint64_t num_rows, LeafValues& leaf) const;

 private:
  arrow::Status AppendItems(const std::byte* row, LeafValues& leaf) const;

  std::vector<bool> has_validity_;  // outermost first; empty if no level has any
  bool has_values_ = true;
  uint64_t row_bytes_ = 0;
};

// Values that come with their length; each may be fsst codes, compressed, or both.
class ZippedStrings {
 public:
  static arrow::Result<ZippedStrings> Validate(const wire::CompressiveEncoding& encoding,
                                               uint64_t bits_per_length, Location where);

  uint64_t length_bytes() const { return length_bytes_; }

  // About how many bytes of strings come of a stored one.
  uint64_t text_factor() const;

  // Whether strings are stored as they are, so that a page never makes more bytes than it has.
  bool plain() const { return !general_ && !fsst_; }

  // REQUIRES: plain() and reserved, or room for offsets
  arrow::Status Append(Bytes stored, LeafValues& leaf, ScratchBytes& scratch, Location where) const;

 private:
  uint64_t length_bytes_ = 0;
  std::optional<GeneralDescription> general_;
  std::optional<FsstTable> fsst_;
};

}  // namespace glaive::encoding
