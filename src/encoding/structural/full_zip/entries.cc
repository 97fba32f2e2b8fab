#include "encoding/structural/full_zip/entries.h"

#include <algorithm>
#include <cstring>

#include "core/byte_reader.h"

namespace glaive::encoding {
namespace {

constexpr size_t kBatchEntries = 4096;
constexpr size_t kBatchBytes = 64 << 10;

arrow::Status CutShort(Location where, uint64_t at, uint64_t needed, uint64_t left) {
  return Corrupt(where.Plus(at), "a full-zip entry needs {} bytes, {} are left", needed, left);
}

}  // namespace

struct ZipReader::Entry {
  uint16_t definition;
};

// Notes the levels of the entry. REQUIRES: a whole control word at `at`
ZipReader::Entry ZipReader::NextEntry(const std::byte* at) {
  uint32_t word = 0;
  std::memcpy(&word, at, layout_.word_bytes());
  const auto definition =
      static_cast<uint16_t>(word & ((uint32_t{1} << layout_.bits_definition) - 1));
  if (layout_.bits_repetition > 0) {
    repetition_.push_back(static_cast<uint16_t>(word >> layout_.bits_definition));
  }
  definition_.push_back(definition);
  return {definition};
}

arrow::Status ZipReader::FlushLevels(LeafBuilder::State& leaf, Location where) {
  LevelSpan levels{.size = definition_.size()};
  if (layout_.bits_repetition > 0) levels.repetition = repetition_.data();
  if (layout_.bits_definition > 0) levels.definition = definition_.data();
  ARROW_RETURN_NOT_OK(layout_.levels.Unravel(levels, leaf, where));
  repetition_.clear();
  definition_.clear();
  return arrow::Status::OK();
}

arrow::Status ZipReader::AppendRows(const ZippedRows& rows, Bytes entries, LeafBuilder::State& leaf,
                                    Location where) {
  const uint64_t word_bytes = layout_.word_bytes();
  const uint64_t row_bytes = rows.row_bytes();
  rows_.resize(std::max(kBatchBytes, row_bytes));
  for (uint64_t at = 0; at < entries.size();) {
    uint64_t num_rows = 0;
    while (at < entries.size() && definition_.size() < kBatchEntries &&
           (num_rows + 1) * row_bytes <= rows_.size()) {
      if (word_bytes > entries.size() - at) {
        return CutShort(where, at, word_bytes, entries.size() - at);
      }
      const Entry entry = NextEntry(entries.data() + at);
      at += word_bytes;
      if (entry.definition > layout_.levels.max_visible()) continue;
      if (row_bytes > entries.size() - at) {
        return CutShort(where, at, row_bytes, entries.size() - at);
      }
      std::memcpy(rows_.data() + num_rows * row_bytes, entries.data() + at, row_bytes);
      at += row_bytes;
      ++num_rows;
    }
    ARROW_RETURN_NOT_OK(rows.Append(rows_.data(), num_rows, leaf.values));
    ARROW_RETURN_NOT_OK(FlushLevels(leaf, where));
  }
  return arrow::Status::OK();
}

arrow::Status ZipReader::AppendStrings(const ZippedStrings& strings, Bytes entries,
                                       LeafBuilder::State& leaf, Location where) {
  const uint64_t word_bytes = layout_.word_bytes();
  const uint64_t length_bytes = strings.length_bytes();
  for (uint64_t at = 0; at < entries.size();) {
    ARROW_RETURN_NOT_OK(leaf.values.ReserveVariable(
        kBatchEntries, strings.plain() ? entries.size() - at : uint64_t{0}));
    while (at < entries.size() && definition_.size() < kBatchEntries) {
      if (word_bytes > entries.size() - at) {
        return CutShort(where, at, word_bytes, entries.size() - at);
      }
      const Entry entry = NextEntry(entries.data() + at);
      at += word_bytes;
      if (entry.definition > layout_.levels.max_visible()) continue;
      if (entry.definition > 0) {
        leaf.values.UnsafeEndValue(0);
        continue;
      }
      if (length_bytes > entries.size() - at) {
        return CutShort(where, at, length_bytes, entries.size() - at);
      }
      uint64_t size = 0;
      std::memcpy(&size, entries.data() + at, length_bytes);
      at += length_bytes;
      if (size > entries.size() - at) return CutShort(where, at, size, entries.size() - at);
      ARROW_RETURN_NOT_OK(
          strings.Append(entries.subspan(at, size), leaf.values, scratch_, where.Plus(at)));
      at += size;
    }
    ARROW_RETURN_NOT_OK(leaf.values.CheckRoom(0));
    ARROW_RETURN_NOT_OK(FlushLevels(leaf, where));
  }
  return arrow::Status::OK();
}

arrow::Status ZipReader::Append(Bytes entries, uint64_t num_rows, LeafBuilder::State& leaf,
                                Location where) {
  if (const auto* strings = std::get_if<ZippedStrings>(&layout_.values)) {
    return AppendStrings(*strings, entries, leaf, where);
  }
  const ZippedRows& rows = std::get<ZippedRows>(layout_.values);
  if (layout_.word_bytes() > 0) return AppendRows(rows, entries, leaf, where);
  // Nothing but values: they are where they are wanted already, in one piece.
  if (rows.row_bytes() != 0 && entries.size() / rows.row_bytes() != num_rows) {
    return Corrupt(where, "{} values of {} bytes in {} bytes", num_rows, rows.row_bytes(),
                   entries.size());
  }
  ARROW_RETURN_NOT_OK(rows.Append(entries.data(), num_rows, leaf.values));
  return layout_.levels.Unravel({.size = num_rows}, leaf, where);
}

}  // namespace glaive::encoding
