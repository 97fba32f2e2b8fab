#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <arrow/result.h>

#include "encoding/structural/page_encoder.h"
#include "encoding/structural/page_rows.h"
#include "encoding/structural/value_chunks.h"

namespace glaive::encoding {

// The values that a mini-block page's indices stand for.
struct EncodedDictionary {
  std::shared_ptr<arrow::Buffer> payload;
  wire::EncodingPtr description;
  uint64_t num_items = 0;
};

// The most entries of a chunk.
uint64_t MaxMiniBlockLevels(const PageRows& rows);

// The longest stretch of entries without a value among them with which every mini-block page can be
// cut into chunks of at least two values.
uint64_t MaxMiniBlockGap(const PageRows& rows);

// A page of small chunks, each with levels and values of its own:
//
//   buffer 0   per chunk one word: (size / 8 - 1) << 4 | log2 of the number of values
//   buffer 1   chunks, back to back: header, repetition levels, definition levels, value buffers,
//              each padded to 8 bytes
//   then       the dictionary, if there is one
//   then       the repetition index, if there are lists: per chunk the rows that end in it, and the
//              entries behind the last of them
//
// REQUIRES: there are values; survey.max_gap is at most MaxMiniBlockGap, or survey.num_entries at
// most MaxMiniBlockLevels
arrow::Result<EncodedPage> EncodeMiniBlockPage(const PageRows& rows, ValueChunks& values,
                                               std::optional<EncodedDictionary> dictionary);

}  // namespace glaive::encoding
