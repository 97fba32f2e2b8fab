#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/file_version.h"
#include "wire/encodings_v2_1.h"

namespace glaive::encoding {

// What a page says of one of its level streams, known before a level is made.
struct LevelStatistics {
  uint64_t num_levels = 0;
  uint16_t max_level = 0;
  uint64_t num_runs = 0;  // about; of at most 255 equal levels
};

// How a page stores repetition or definition levels: as u16, bit-packed or as runs. A page has one
// codec, each of its chunks a payload of its own.
class LevelCodec {
 public:
  static LevelCodec Choose(const LevelStatistics& statistics, FileVersion version);

  // The codec that a page's description names; nothing for those that are only read, and for the
  // one of pages that have few levels.
  static std::optional<LevelCodec> Of(const wire::CompressiveEncoding& encoding);

  // Makes the payload of some levels, which the next two tell about until the next call.
  void Prepare(std::span<const uint16_t> levels);
  size_t size_bytes() const { return size_bytes_; }
  void Write(std::byte* out) const;

  wire::EncodingPtr Describe() const;

  // So many levels of a stream fit into a chunk under any codec: a payload has at most 64 KiB, and
  // in 2.1 the whole chunk 32 KiB.
  static size_t MaxLevelsOfChunk(uint16_t max_level, FileVersion version);

 private:
  enum class Kind : uint8_t { kFlat, kInline, kOutOfLine, kRuns };

  explicit LevelCodec(Kind kind, unsigned width = 16) : kind_(kind), width_(width) {}

  Kind kind_;
  unsigned width_;
  std::span<const uint16_t> levels_;
  std::vector<uint16_t> run_values_;
  std::vector<uint8_t> run_lengths_;
  size_t size_bytes_ = 0;
};

}  // namespace glaive::encoding
