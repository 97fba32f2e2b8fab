#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "encoding/codec/words.h"
#include "encoding/structural/full_zip/values.h"
#include "encoding/structural/leaf/builder.h"
#include "encoding/structural/page/levels.h"

namespace glaive::encoding {

// How the entries of a full-zip page are made. A control word is (repetition << bits_definition) |
// definition, of as few of 0, 1, 2 or 4 bytes as hold its bits. A fixed-width value follows unless
// the entry has no slot; a string, as length and bytes, only if it is not null.
struct ZipLayout {
  PageLevels levels;
  unsigned bits_repetition = 0;
  unsigned bits_definition = 0;
  std::variant<ZippedRows, ZippedStrings> values;

  unsigned word_bytes() const {
    const unsigned bits = bits_repetition + bits_definition;
    return bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
  }
};

// Decodes runs of entries into a leaf, in batches so small that what is between stays in the cache.
class ZipReader {
 public:
  explicit ZipReader(const ZipLayout& layout) : layout_(layout) {}  // borrows it

  // Entries of `num_rows` whole rows, to the last byte.
  arrow::Status Append(Bytes entries, uint64_t num_rows, LeafBuilder::State& leaf, Location where);

 private:
  struct Entry;

  Entry NextEntry(const std::byte* at);
  arrow::Status AppendRows(const ZippedRows& rows, Bytes entries, LeafBuilder::State& leaf,
                           Location where);
  arrow::Status AppendStrings(const ZippedStrings& strings, Bytes entries, LeafBuilder::State& leaf,
                              Location where);
  arrow::Status FlushLevels(LeafBuilder::State& leaf, Location where);

  const ZipLayout& layout_;
  std::vector<uint16_t> repetition_;
  std::vector<uint16_t> definition_;
  std::vector<std::byte> rows_;
  ScratchBytes scratch_;
};

}  // namespace glaive::encoding
