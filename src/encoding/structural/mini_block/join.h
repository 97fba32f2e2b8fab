#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <arrow/result.h>

#include "core/file_version.h"
#include "encoding/codec/bitpacked.h"
#include "encoding/codec/block.h"
#include "encoding/codec/flat.h"
#include "encoding/codec/level_codec.h"
#include "encoding/levels/leaf.h"
#include "encoding/structural/page/levels.h"
#include "wire/encodings_v2_1.h"

namespace glaive::encoding {

// A chunk of a page that is joined to others.
struct SourceChunk {
  Bytes bytes;
  uint64_t num_values = 0;
  uint64_t num_rows_begun = 0;  // in it, where there are lists
  Location where;
};

// Chunks that were made anew, and what the page says about each of them.
struct JoinedChunks {
  std::vector<std::byte> bytes;
  std::vector<uint32_t> words;
  std::vector<uint64_t> repetition_index;  // two for each chunk, if there are lists

  void Clear();
};

// Puts mini-block pages of one description behind each other, to be one page.
//
// Chunks depend on nothing but the description, so that those of a page can stay as they are. But
// all chunks except the page's last hold a power of two of values, at least two. So where a page
// ends its last chunk is cut into such, and a value that is left over goes in front of the next
// page, whose chunks all move by one value then, until another odd page brings it to an end.
class MiniBlockJoin {
 public:
  // What comes behind some chunks.
  enum class Behind : uint8_t { kSamePage, kNextPage, kNothing };

  // Nothing for pages that cannot be joined: those of a dictionary, of values that are not plain or
  // bit-packed, and those whose levels are too few to say how they would be stored beside others.
  static arrow::Result<std::optional<MiniBlockJoin>> Make(const wire::MiniBlockLayout& layout,
                                                          const LeafPath& path, FileVersion version,
                                                          Location where);

  // Whether a page with that layout can follow.
  bool Takes(const wire::MiniBlockLayout& layout) const;

  bool has_lists() const { return levels_.has_lists(); }
  bool large_chunks() const { return large_chunks_; }
  // The layout of the joined page.
  std::string Layout(uint64_t num_items) const;

  // Makes chunks of neighbours anew. With `before`, the chunk before them, its last value comes
  // first. The last value stays out where it would be alone and more comes behind. False where
  // levels are so many that there are no such chunks.
  arrow::Result<bool> Cut(const SourceChunk* before, std::span<const SourceChunk> chunks,
                          Behind behind, JoinedChunks& out) const;

 private:
  using ValueCodec = std::variant<FlatDescription, InlineBitpackingDescription>;
  struct Entries;
  class Cutting;

  MiniBlockJoin(wire::MiniBlockLayout layout, PageLevels levels, ValueCodec values)
      : layout_(std::move(layout)), levels_(std::move(levels)), values_(values) {}

  wire::MiniBlockLayout layout_;
  PageLevels levels_;
  ValueCodec values_;
  std::optional<FixedBlockDescription> repetition_;
  std::optional<FixedBlockDescription> definition_;
  std::optional<LevelCodec> rep_codec_;
  std::optional<LevelCodec> def_codec_;
  size_t value_bytes_ = 0;
  uint64_t max_chunk_values_ = 0;
  uint64_t max_levels_ = 0;
  bool large_chunks_ = false;
};

}  // namespace glaive::encoding
