#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "encoding/codec/level_codec.h"
#include "encoding/levels/level_stream.h"
#include "encoding/structural/mini_block/chunk_cursor.h"
#include "encoding/structural/mini_block/value_chunks.h"
#include "encoding/structural/page/buffer_parts.h"
#include "encoding/structural/page/encoded_page.h"
#include "encoding/structural/page/rows.h"

namespace glaive::encoding {

// The values that a mini-block page's indices stand for.
struct EncodedDictionary {
  std::shared_ptr<arrow::Buffer> payload;
  wire::EncodingPtr description;
  uint64_t num_items = 0;
};

// What a page says of its values.
struct MiniBlockValues {
  wire::EncodingPtr description;
  uint64_t num_buffers = 1;
  uint64_t num_values = 0;
  std::optional<EncodedDictionary> dictionary = std::nullopt;
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

// The same for rows that come piece by piece.
class MiniBlockWriter {
 public:
  // Levels are stored as is best for `rows`. Borrows the scheme.
  explicit MiniBlockWriter(const PageRows& rows);

  // Makes chunks of the next values until at most so many are left; those come again, first, the
  // next time. The levels of all of them are taken now, from nests that follow those before.
  // `values_to_keep`: 0 for the last of the page, else at least twice what a chunk may hold.
  // `all_visible`: each entry has a value, also those kept from before.
  arrow::Status Write(std::span<const Nest> nests, bool all_visible, uint64_t values_to_keep,
                      ValueChunks& values);

  // Buffer 1 as far as it goes, to be written before what comes later.
  arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> TakeChunks();

  // The page, with what is left of buffer 1.
  arrow::Result<EncodedPage> Finish(const MiniBlockValues& values, uint64_t num_rows) &&;

 private:
  arrow::Status WriteChunk(ValueChunks& values, bool is_last);
  void FillChunk(ChunkCursor chunk, size_t num_levels, const std::vector<size_t>& sizes,
                 ValueChunks& values);
  void PutWord(size_t chunk_bytes, unsigned log);
  size_t CountLevels(uint64_t num_values, bool takes_all);
  void IndexRows(size_t num_levels, bool last);

  const LevelScheme& scheme_;
  FileVersion version_;
  bool large_;
  LevelCodec rep_codec_;
  LevelCodec def_codec_;
  uint64_t max_levels_;
  LevelStream* stream_ = nullptr;  // of the rows at hand
  bool all_visible_ = false;
  Levels levels_;        // made and not yet in a chunk
  bool in_row_ = false;  // the last chunk ended within a row
  std::vector<uint16_t> small_words_;
  std::vector<uint32_t> large_words_;
  std::vector<uint64_t> repetition_index_;
  std::vector<std::byte*> value_buffers_;
  BufferParts chunks_;
};

}  // namespace glaive::encoding
