#include "encoding/structural/mini_block/encoder.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <utility>

#include "encoding/structural/mini_block/chunk_cursor.h"
#include "wire/encodings_v2_3.h"

namespace glaive::encoding {
namespace {

constexpr size_t kStride = 64;

uint64_t MaxLevels(const LevelScheme& scheme, FileVersion version) {
  return std::min(LevelCodec::MaxLevelsOfChunk(scheme.num_lists, version),
                  LevelCodec::MaxLevelsOfChunk(scheme.max_def, version));
}

}  // namespace

MiniBlockWriter::MiniBlockWriter(const PageRows& rows)
    : scheme_(rows.scheme),
      version_(rows.version),
      large_(rows.version >= FileVersion::k2_2),
      rep_codec_(rows.ChooseRepCodec()),
      def_codec_(rows.ChooseDefCodec()),
      max_levels_(MaxLevels(rows.scheme, rows.version)) {}

arrow::Status MiniBlockWriter::Write(std::span<const Nest> nests, bool all_visible,
                                     uint64_t values_to_keep, ValueChunks& values) {
  LevelStream stream(nests, scheme_);
  stream_ = &stream;
  all_visible_ = all_visible;
  const bool is_last = values_to_keep == 0;
  while (values.remaining() > values_to_keep) {
    ARROW_RETURN_NOT_OK(WriteChunk(values, is_last));
  }
  while (stream.Next(levels_)) {
  }
  stream_ = nullptr;
  assert(!is_last || levels_.size() == 0);
  return arrow::Status::OK();
}

arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> MiniBlockWriter::TakeChunks() {
  return std::exchange(chunks_, {}).Finish();
}

arrow::Result<EncodedPage> MiniBlockWriter::Finish(const MiniBlockValues& values,
                                                   uint64_t num_rows) && {
  wire::MiniBlockLayout layout{.value_compression = values.description,
                               .layers = scheme_.types,
                               .num_buffers = values.num_buffers,
                               .num_items = values.num_values,
                               .has_large_chunk = large_};
  if (scheme_.has_rep()) layout.rep_compression = rep_codec_.Describe();
  if (scheme_.has_def()) layout.def_compression = def_codec_.Describe();
  EncodedPage page{.num_rows = num_rows};
  page.buffers.push_back({large_ ? arrow::Buffer::FromVector(std::move(large_words_))
                                 : arrow::Buffer::FromVector(std::move(small_words_))});
  ARROW_ASSIGN_OR_RAISE(page.buffers.emplace_back(), TakeChunks());
  if (values.dictionary) {
    layout.dictionary = values.dictionary->description;
    layout.num_dictionary_items = values.dictionary->num_items;
    page.buffers.push_back({values.dictionary->payload});
  }
  if (scheme_.has_rep()) {
    layout.repetition_index_depth = 1;
    page.buffers.push_back({arrow::Buffer::FromVector(std::move(repetition_index_))});
  }
  page.layout = wire::SerializePage(std::move(layout), version_);
  return page;
}

arrow::Status MiniBlockWriter::WriteChunk(ValueChunks& values, bool is_last) {
  uint64_t num_values = values.NextCount();
  const auto takes_all = [&] { return is_last && num_values == values.remaining(); };
  size_t num_levels = 0;
  if (scheme_.has_rep() || scheme_.has_def()) {
    num_levels = CountLevels(num_values, takes_all());
    while (num_levels > max_levels_) {
      assert(num_values > 2);
      num_values = std::bit_floor(num_values - 1);
      num_levels = CountLevels(num_values, takes_all());
    }
  }
  const bool last = takes_all();
  if (scheme_.has_rep()) IndexRows(num_levels, last);
  const std::vector<size_t>& sizes = values.Prepare(num_values);

  size_t header = sizeof(uint16_t) + sizes.size() * (large_ ? 4 : 2);
  size_t body = 0;
  if (scheme_.has_rep()) {
    rep_codec_.Prepare(levels_.rep.first(num_levels));
    header += sizeof(uint16_t);
    body += ChunkCursor::Padded(rep_codec_.size_bytes());
  }
  if (scheme_.has_def()) {
    def_codec_.Prepare(levels_.def.first(num_levels));
    header += sizeof(uint16_t);
    body += ChunkCursor::Padded(def_codec_.size_bytes());
  }
  for (const size_t size : sizes) body += ChunkCursor::Padded(size);
  const size_t chunk_bytes = ChunkCursor::Padded(header) + body;
  ARROW_ASSIGN_OR_RAISE(std::byte * begin, chunks_.Append(chunk_bytes));
  FillChunk(ChunkCursor(begin), num_levels, sizes, values);
  const bool counted = !last || num_values == values.counted_last_chunk();
  PutWord(chunk_bytes, counted ? static_cast<unsigned>(std::countr_zero(num_values)) : 0);
  levels_.RemoveFront(num_levels);
  return arrow::Status::OK();
}

void MiniBlockWriter::FillChunk(ChunkCursor chunk, size_t num_levels,
                                const std::vector<size_t>& sizes, ValueChunks& values) {
  chunk.Put(static_cast<uint16_t>(num_levels));
  if (scheme_.has_rep()) chunk.Put(static_cast<uint16_t>(rep_codec_.size_bytes()));
  if (scheme_.has_def()) chunk.Put(static_cast<uint16_t>(def_codec_.size_bytes()));
  for (const size_t size : sizes) {
    if (large_) {
      chunk.Put(static_cast<uint32_t>(size));
    } else {
      chunk.Put(static_cast<uint16_t>(size));
    }
  }
  chunk.Pad();
  if (scheme_.has_rep()) rep_codec_.Write(chunk.Take(rep_codec_.size_bytes()));
  if (scheme_.has_def()) def_codec_.Write(chunk.Take(def_codec_.size_bytes()));
  value_buffers_.clear();
  for (const size_t size : sizes) value_buffers_.push_back(chunk.Take(size));
  values.Write(value_buffers_);
}

void MiniBlockWriter::PutWord(size_t chunk_bytes, unsigned log) {
  const auto word = static_cast<uint32_t>((chunk_bytes / ChunkCursor::kAlignment - 1) << 4 | log);
  if (large_) {
    large_words_.push_back(word);
  } else {
    assert(word <= UINT16_MAX);
    small_words_.push_back(static_cast<uint16_t>(word));
  }
}

// The entries of a chunk of the next `num_values` values: up to the last of these, or all if it is
// the last chunk. One more is at hand where there is one.
size_t MiniBlockWriter::CountLevels(uint64_t num_values, bool takes_all) {
  if (takes_all) {
    while (stream_->Next(levels_)) {
    }
    return levels_.size();
  }
  size_t at = 0;
  if (all_visible_) {
    at = num_values;
  } else {
    const uint16_t max_visible = scheme_.max_visible_def();
    for (uint64_t seen = 0;; ++at) {
      while (at == levels_.def.size()) stream_->Next(levels_);
      const uint16_t* def = levels_.def.data();
      if (levels_.def.size() - at >= kStride && num_values - seen > kStride) {
        for (size_t i = 0; i < kStride; ++i) seen += def[at + i] <= max_visible ? 1u : 0u;
        at += kStride - 1;
        continue;
      }
      if (def[at] <= max_visible && ++seen == num_values) break;
    }
    ++at;
  }
  while (levels_.size() <= at) stream_->Next(levels_);
  return at;
}

// Rows that end in a chunk are those that start in it or go on in it, less the one that goes on in
// the next.
void MiniBlockWriter::IndexRows(size_t num_levels, bool last) {
  const uint16_t row_start = scheme_.num_lists;
  const std::span<const uint16_t> rep = levels_.rep.first(num_levels);
  uint64_t starts = 0;
  for (const uint16_t level : rep) starts += level == row_start ? 1u : 0u;
  uint64_t unfinished = 0;
  if (!last && levels_.rep.data()[num_levels] != row_start) {
    unfinished = num_levels;
    if (starts > 0) {
      size_t at = num_levels;
      while (rep[at - 1] != row_start) --at;
      unfinished = num_levels - at + 1;
    }
  }
  const uint64_t ends = starts + (in_row_ ? 1u : 0u) - (unfinished > 0 ? 1u : 0u);
  in_row_ = unfinished > 0;
  repetition_index_.push_back(ends);
  repetition_index_.push_back(unfinished);
}

uint64_t MaxMiniBlockLevels(const PageRows& rows) { return MaxLevels(rows.scheme, rows.version); }

// Two values, and the invisible entries before, between and behind them.
uint64_t MaxMiniBlockGap(const PageRows& rows) { return MaxMiniBlockLevels(rows) / 3 - 1; }

arrow::Result<EncodedPage> EncodeMiniBlockPage(const PageRows& rows, ValueChunks& values,
                                               std::optional<EncodedDictionary> dictionary) {
  MiniBlockWriter writer(rows);
  ARROW_RETURN_NOT_OK(writer.Write(rows.nests, rows.survey.all_visible(), 0, values));
  return std::move(writer).Finish({.description = values.Describe(),
                                   .num_buffers = values.num_buffers(),
                                   .num_values = rows.survey.num_visible,
                                   .dictionary = std::move(dictionary)},
                                  rows.survey.num_rows);
}

}  // namespace glaive::encoding
