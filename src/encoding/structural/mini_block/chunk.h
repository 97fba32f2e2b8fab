#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "core/ranges.h"
#include "encoding/codec/block.h"
#include "encoding/codec/words.h"
#include "encoding/structural/leaf/builder.h"
#include "encoding/structural/mini_block/chunk_decoder.h"
#include "encoding/structural/page/dictionary.h"
#include "encoding/structural/page/levels.h"

namespace glaive::encoding {

// What all chunks of a mini-block page have in common.
struct ChunkLayout {
  std::optional<FixedBlockDescription> repetition;
  std::optional<FixedBlockDescription> definition;
  PageLevels levels;
  ChunkDecoder values;
  bool large_chunks = false;  // sizes of value buffers in 32 bits
};

// What says how a chunk is taken apart.
struct ChunkFormat {
  bool has_repetition = false;
  bool has_definition = false;
  size_t num_value_buffers = 1;
  bool large_chunks = false;  // sizes of value buffers in 32 bits
};

struct ChunkParts {
  static constexpr size_t kMaxValueBuffers = 16;

  uint16_t num_levels = 0;
  Bytes repetition;
  Bytes definition;
  std::array<Bytes, kMaxValueBuffers> values;
};

arrow::Result<ChunkParts> SplitChunk(const ChunkFormat& format, Bytes chunk, Location where);

// One chunk, and what the page says about it.
struct Chunk {
  Bytes bytes;
  uint64_t num_values = 0;  // those that have a slot
  RowRange rows;            // that have something in it
  RowRange rows_begun;      // that begin in it
  Location where;
};

// Decodes rows of chunks into a leaf, keeping its room from one to the next.
class ChunkReader {
 public:
  // Borrows both; `dictionary` may be null.
  ChunkReader(const ChunkLayout& layout, const PageDictionary* dictionary)
      : layout_(layout), dictionary_(dictionary) {}

  // Appends what the chunk has of `rows`, which count from the page's first row.
  arrow::Status Append(const Chunk& chunk, std::span<const RowRange> rows,
                       LeafBuilder::State& leaf);

 private:
  arrow::Result<LevelSpan> DecodeLevels(const ChunkParts& parts, const Chunk& chunk);
  arrow::Status SelectEntries(const LevelSpan& levels, const Chunk& chunk,
                              std::span<const RowRange> rows);
  LevelSpan SelectValues(const LevelSpan& levels);
  arrow::Status AppendValues(const ChunkParts& parts, const Chunk& chunk, LeafBuilder::State& leaf);

  const ChunkLayout& layout_;
  const PageDictionary* dictionary_;
  DecodeScratch scratch_;
  std::vector<uint16_t> repetition_;
  std::vector<uint16_t> definition_;
  std::vector<uint64_t> row_starts_;
  std::vector<ValueRange> entries_;  // of the chunk that are wanted
  std::vector<ValueRange> values_;   // likewise
};

}  // namespace glaive::encoding
