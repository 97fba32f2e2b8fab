#include "encoding/structural/mini_block/chunk.h"

#include <algorithm>
#include <cstring>

#include "core/byte_reader.h"

namespace glaive::encoding {
namespace {

constexpr uint64_t kAlignment = 8;

// What a chunk has of some rows, in place of them: ranges of its own rows that are wanted.
template <typename Visit>
void ForEachOverlap(const RowRange& chunk, std::span<const RowRange> rows, Visit&& visit) {
  auto range = std::partition_point(rows.begin(), rows.end(),
                                    [&](const RowRange& r) { return r.end <= chunk.begin; });
  for (; range != rows.end() && range->begin < chunk.end; ++range) {
    const RowRange overlap = {std::max(range->begin, chunk.begin), std::min(range->end, chunk.end)};
    if (overlap.begin < overlap.end) visit(overlap);
  }
}

}  // namespace

// A chunk is [u16 levels][u16 size of repetition levels][u16 size of definition levels][size of
// each value buffer], then what these are the sizes of, each padded to 8 bytes from the chunk's
// start. Sizes of levels that the page does not have are not there either.
arrow::Result<ChunkParts> SplitChunk(const ChunkFormat& format, Bytes chunk, Location where) {
  const size_t num_level_sizes = (format.has_repetition ? 1 : 0) + (format.has_definition ? 1 : 0);
  const size_t value_size_bytes = format.large_chunks ? sizeof(uint32_t) : sizeof(uint16_t);
  const size_t levels_end = sizeof(uint16_t) * (1 + num_level_sizes);
  uint64_t at = levels_end + value_size_bytes * format.num_value_buffers;
  if (at > chunk.size()) {
    return Corrupt(where, "a chunk of {} bytes has no room for its header", chunk.size());
  }
  const std::byte* const header = chunk.data();
  ChunkParts parts;
  parts.num_levels = LoadLittleEndian<uint16_t>(header);
  std::array<uint64_t, ChunkParts::kMaxValueBuffers + 2> sizes = {};
  for (size_t i = 0; i < num_level_sizes; ++i) {
    sizes[i] = LoadLittleEndian<uint16_t>(header + sizeof(uint16_t) * (1 + i));
  }
  for (size_t i = 0; i < format.num_value_buffers; ++i) {
    const std::byte* const size = header + levels_end + i * value_size_bytes;
    sizes[num_level_sizes + i] =
        format.large_chunks ? LoadLittleEndian<uint32_t>(size) : LoadLittleEndian<uint16_t>(size);
  }
  size_t next_size = 0;
  const auto take = [&](Bytes& part) {
    at = (at + kAlignment - 1) / kAlignment * kAlignment;
    const uint64_t size = sizes[next_size++];
    if (at > chunk.size() || size > chunk.size() - at) {
      return Corrupt(where, "part {} of a chunk of {} bytes takes {} from {} on", next_size - 1,
                     chunk.size(), size, at);
    }
    part = chunk.subspan(at, size);
    at += size;
    return arrow::Status::OK();
  };
  if (format.has_repetition) ARROW_RETURN_NOT_OK(take(parts.repetition));
  if (format.has_definition) ARROW_RETURN_NOT_OK(take(parts.definition));
  for (size_t i = 0; i < format.num_value_buffers; ++i) {
    ARROW_RETURN_NOT_OK(take(parts.values[i]));
  }
  return parts;
}

arrow::Result<LevelSpan> ChunkReader::DecodeLevels(const ChunkParts& parts, const Chunk& chunk) {
  LevelSpan levels{.size = parts.num_levels};
  const auto decode = [&](const FixedBlockDescription& block, Bytes payload,
                          std::vector<uint16_t>& out) -> arrow::Result<uint16_t*> {
    if (out.size() < levels.size) out.resize(levels.size);
    const Location at =
        chunk.where.Plus(static_cast<uint64_t>(payload.data() - chunk.bytes.data()));
    ARROW_RETURN_NOT_OK(
        block.DecodeInto(payload, levels.size, reinterpret_cast<std::byte*>(out.data()), at));
    return out.data();
  };
  if (layout_.repetition) {
    ARROW_ASSIGN_OR_RAISE(levels.repetition,
                          decode(*layout_.repetition, parts.repetition, repetition_));
  }
  if (layout_.definition) {
    ARROW_ASSIGN_OR_RAISE(levels.definition,
                          decode(*layout_.definition, parts.definition, definition_));
  }
  if (!layout_.repetition && !layout_.definition) {
    levels.size = chunk.num_values;
    return levels;
  }
  // Where every level has a slot, so has one that no layer knows: it must not hide a value.
  const size_t visible =
      layout_.levels.all_visible() ? levels.size : layout_.levels.CountVisible(levels);
  if (visible != chunk.num_values) {
    return Corrupt(chunk.where, "{} values in a chunk whose levels say {}", chunk.num_values,
                   visible);
  }
  return levels;
}

arrow::Status ChunkReader::SelectEntries(const LevelSpan& levels, const Chunk& chunk,
                                         std::span<const RowRange> rows) {
  entries_.clear();
  if (levels.repetition == nullptr) {
    ForEachOverlap(chunk.rows, rows, [&](const RowRange& overlap) {
      entries_.push_back({overlap.begin - chunk.rows.begin, overlap.end - chunk.rows.begin});
    });
    return arrow::Status::OK();
  }
  row_starts_.clear();
  const uint16_t new_row = layout_.levels.max_repetition();
  for (size_t i = 0; i < levels.size; ++i) {
    if (levels.repetition[i] == new_row) row_starts_.push_back(i);
  }
  if (row_starts_.size() != chunk.rows_begun.size()) {
    return Corrupt(chunk.where, "{} rows begin in a chunk; {} expected", row_starts_.size(),
                   chunk.rows_begun.size());
  }
  // A row that begins elsewhere has what comes first; one that ends elsewhere goes to the end.
  const auto entry_of = [&](uint64_t row) -> uint64_t {
    if (row < chunk.rows_begun.begin) return 0;
    return row == chunk.rows_begun.end ? levels.size : row_starts_[row - chunk.rows_begun.begin];
  };
  ForEachOverlap(chunk.rows, rows, [&](const RowRange& overlap) {
    entries_.push_back({entry_of(overlap.begin), entry_of(overlap.end)});
  });
  return arrow::Status::OK();
}

LevelSpan ChunkReader::SelectValues(const LevelSpan& levels) {
  values_.clear();
  if (layout_.levels.all_visible() || levels.definition == nullptr) {
    values_ = entries_;
  } else {
    uint64_t value = 0;
    uint64_t entry = 0;
    const auto visible_to = [&](uint64_t end) {
      value += layout_.levels.CountVisible(
          {.definition = levels.definition + entry, .size = static_cast<size_t>(end - entry)});
      entry = end;
      return value;
    };
    for (const ValueRange& range : entries_) {
      const uint64_t begin = visible_to(range.begin);
      values_.push_back({begin, visible_to(range.end)});
    }
  }
  // The levels that are wanted move together.
  LevelSpan selected = levels;
  selected.size = 0;
  for (const ValueRange& range : entries_) {
    for (uint16_t* stream : {levels.repetition, levels.definition}) {
      if (stream == nullptr) continue;
      std::memmove(stream + selected.size, stream + range.begin, range.size() * sizeof(uint16_t));
    }
    selected.size += range.size();
  }
  return selected;
}

arrow::Status ChunkReader::AppendValues(const ChunkParts& parts, const Chunk& chunk,
                                        LeafBuilder::State& leaf) {
  const ChunkValues values{std::span(parts.values).first(layout_.values.num_buffers()),
                           chunk.num_values, chunk.where};
  if (dictionary_ == nullptr) {
    return layout_.values.Append(values, values_, leaf.values, scratch_);
  }
  ARROW_ASSIGN_OR_RAISE(const auto indices, layout_.values.DecodeIndices(values, scratch_));
  for (const ValueRange& range : values_) {
    ARROW_RETURN_NOT_OK(
        dictionary_->Append(indices.subspan(range.begin, range.size()), leaf.values, chunk.where));
  }
  return arrow::Status::OK();
}

arrow::Status ChunkReader::Append(const Chunk& chunk, std::span<const RowRange> rows,
                                  LeafBuilder::State& leaf) {
  const ChunkFormat format = {.has_repetition = layout_.repetition.has_value(),
                              .has_definition = layout_.definition.has_value(),
                              .num_value_buffers = layout_.values.num_buffers(),
                              .large_chunks = layout_.large_chunks};
  ARROW_ASSIGN_OR_RAISE(const ChunkParts parts, SplitChunk(format, chunk.bytes, chunk.where));
  ARROW_ASSIGN_OR_RAISE(LevelSpan levels, DecodeLevels(parts, chunk));
  bool whole = false;
  ForEachOverlap(chunk.rows, rows, [&](const RowRange& overlap) { whole = overlap == chunk.rows; });
  if (whole) {
    values_.assign(1, {0, chunk.num_values});
  } else {
    ARROW_RETURN_NOT_OK(SelectEntries(levels, chunk, rows));
    levels = SelectValues(levels);
  }
  ARROW_RETURN_NOT_OK(AppendValues(parts, chunk, leaf));
  return layout_.levels.Unravel(levels, leaf, chunk.where);
}

}  // namespace glaive::encoding
