#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "core/ranges.h"
#include "encoding/codec/words.h"
#include "encoding/structural/page/dictionary.h"

namespace glaive::encoding {

// Chunks [begin, end).
struct ChunkRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// What finds rows in the chunks of a mini-block page.
struct MiniBlockSizes {
  uint64_t num_rows = 0;
  uint64_t num_values = 0;
  uint64_t data_bytes = 0;
  bool large_chunks = false;  // chunk words of 32 bits
};

// Where the chunks of a mini-block page lie and which rows they hold. Immutable.
//
// A chunk word (u16, or u32 for large chunks) is (bytes / 8 - 1) << 4 | log2(values); the last
// chunk has the values that are left. The repetition index has two u64 for each chunk: rows that
// end in it, and, unless it ends with a row, the entries that it has of the next.
class MiniBlockIndex {
 public:
  // `repetition_index` is absent where a row is a value.
  static arrow::Result<MiniBlockIndex> Parse(Bytes words, std::optional<Bytes> repetition_index,
                                             const MiniBlockSizes& sizes, Location words_at,
                                             Location repetition_index_at);

  uint64_t num_chunks() const { return offsets_.size() - 1; }
  // Bytes of the chunks, in the data buffer.
  ByteRange bytes(ChunkRange chunks) const {
    return {offsets_[chunks.begin], offsets_[chunks.end] - offsets_[chunks.begin]};
  }
  uint64_t num_values(uint64_t chunk) const {
    return chunk + 1 == num_chunks() ? last_values_ : uint64_t{1} << value_logs_[chunk];
  }

  // Rows that have something in the chunk: the first may have begun, the last may end elsewhere.
  RowRange rows(uint64_t chunk) const { return {rows_ended_[chunk], rows_begun_[chunk + 1]}; }
  // Rows that begin in the chunk.
  RowRange rows_begun(uint64_t chunk) const { return {rows_begun_[chunk], rows_begun_[chunk + 1]}; }

  // Chunks that hold the rows, ascending; neighbours are one range.
  std::vector<ChunkRange> ChunksOf(std::span<const RowRange> rows) const;

  uint64_t memory_bytes() const;

 private:
  arrow::Status AddRows(Bytes repetition_index, uint64_t num_rows, Location where);

  std::vector<uint64_t> offsets_ = {0};     // of chunk i in the data buffer, and the end
  std::vector<uint64_t> rows_begun_ = {0};  // before chunk i
  std::vector<uint64_t> rows_ended_ = {0};
  std::vector<uint8_t> value_logs_;
  uint64_t last_values_ = 0;
};

}  // namespace glaive::encoding
