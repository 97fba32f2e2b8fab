#include "encoding/structural/mini_block/index.h"

#include <algorithm>

#include "core/byte_reader.h"

namespace glaive::encoding {

arrow::Result<MiniBlockIndex> MiniBlockIndex::Parse(Bytes words,
                                                    std::optional<Bytes> repetition_index,
                                                    const MiniBlockSizes& sizes, Location words_at,
                                                    Location repetition_index_at) {
  const size_t width = sizes.large_chunks ? sizeof(uint32_t) : sizeof(uint16_t);
  if (words.size() % width != 0) {
    return Corrupt(words_at, "{} bytes of {}-byte chunk words", words.size(), width);
  }
  MiniBlockIndex index;
  const size_t num_chunks = words.size() / width;
  index.offsets_.reserve(num_chunks + 1);
  index.value_logs_.reserve(num_chunks);
  uint64_t values = 0;
  uint64_t bytes = 0;
  for (size_t i = 0; i < num_chunks; ++i) {
    const uint32_t word = sizes.large_chunks ? LoadLittleEndian<uint32_t>(words.data() + i * width)
                                             : LoadLittleEndian<uint16_t>(words.data() + i * width);
    const auto log = static_cast<uint8_t>(word & 15);
    if (i + 1 < num_chunks) values += uint64_t{1} << log;
    bytes += (uint64_t{word >> 4} + 1) * 8;
    index.offsets_.push_back(bytes);
    index.value_logs_.push_back(log);
    if (!repetition_index) index.rows_begun_.push_back(values);
  }
  if (values > sizes.num_values || (num_chunks == 0 && sizes.num_values > 0)) {
    return Corrupt(words_at, "{} chunks of at least {} values; {} expected", num_chunks, values,
                   sizes.num_values);
  }
  if (bytes != sizes.data_bytes) {
    return Corrupt(words_at, "{} chunks take {} bytes of {}", num_chunks, bytes, sizes.data_bytes);
  }
  index.last_values_ = sizes.num_values - values;
  if (repetition_index) {
    ARROW_RETURN_NOT_OK(index.AddRows(*repetition_index, sizes.num_rows, repetition_index_at));
    return index;
  }
  if (sizes.num_values != sizes.num_rows) {
    return Corrupt(words_at, "{} values in {} rows", sizes.num_values, sizes.num_rows);
  }
  index.rows_begun_.back() = sizes.num_rows;
  index.rows_ended_ = index.rows_begun_;
  return index;
}

arrow::Status MiniBlockIndex::AddRows(Bytes repetition_index, uint64_t num_rows, Location where) {
  constexpr size_t kEntryBytes = 2 * sizeof(uint64_t);
  if (repetition_index.size() != num_chunks() * kEntryBytes) {
    return Corrupt(where, "a repetition index of {} bytes for {} chunks", repetition_index.size(),
                   num_chunks());
  }
  rows_begun_.reserve(num_chunks() + 1);
  rows_ended_.reserve(num_chunks() + 1);
  for (uint64_t i = 0; i < num_chunks(); ++i) {
    const std::byte* const entry = repetition_index.data() + i * kEntryBytes;
    const auto ended = LoadLittleEndian<uint64_t>(entry);
    const bool unfinished = LoadLittleEndian<uint64_t>(entry + sizeof(uint64_t)) != 0;
    // Compared with what is left of the page, so that no sum can wrap.
    if (ended > num_rows - rows_ended_.back() ||
        (unfinished && ended == num_rows - rows_ended_.back())) {
      return Corrupt(where.Plus(i * kEntryBytes), "chunk {} ends {} rows, after {} of {}", i, ended,
                     rows_ended_.back(), num_rows);
    }
    rows_ended_.push_back(rows_ended_.back() + ended);
    const uint64_t begun = rows_ended_.back() + (unfinished ? 1 : 0);
    if (begun < rows_begun_.back()) {
      return Corrupt(where.Plus(i * kEntryBytes), "a row of chunk {} neither ends nor goes on", i);
    }
    rows_begun_.push_back(begun);
  }
  if (rows_ended_.back() != num_rows) {
    return Corrupt(where, "{} rows end in {} chunks; {} expected", rows_ended_.back(), num_chunks(),
                   num_rows);
  }
  return arrow::Status::OK();
}

std::vector<ChunkRange> MiniBlockIndex::ChunksOf(std::span<const RowRange> rows) const {
  // The last chunk before whose end row `row` begins, or ends.
  const auto find = [](const std::vector<uint64_t>& rows_before, uint64_t row) {
    const auto after = std::upper_bound(rows_before.begin(), rows_before.end(), row);
    return static_cast<uint64_t>(after - rows_before.begin()) - 1;
  };
  std::vector<ChunkRange> ranges;
  for (const RowRange& range : rows) {
    if (range.begin == range.end) continue;
    const ChunkRange chunks = {find(rows_begun_, range.begin),
                               find(rows_ended_, range.end - 1) + 1};
    if (!ranges.empty() && chunks.begin <= ranges.back().end) {
      ranges.back().end = std::max(ranges.back().end, chunks.end);
    } else {
      ranges.push_back(chunks);
    }
  }
  return ranges;
}

uint64_t MiniBlockIndex::memory_bytes() const {
  return (offsets_.size() + rows_begun_.size() + rows_ended_.size()) * sizeof(uint64_t) +
         value_logs_.size();
}

}  // namespace glaive::encoding
