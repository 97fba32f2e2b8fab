#pragma once

#include <cstdint>
#include <span>

namespace glaive {

// Rows [begin, end). Lists of them are ascending and do not overlap.
struct RowRange {
  uint64_t begin = 0;
  uint64_t end = 0;

  uint64_t size() const { return end - begin; }
  bool operator==(const RowRange&) const = default;
};

inline uint64_t CountRows(std::span<const RowRange> ranges) {
  uint64_t rows = 0;
  for (const RowRange& range : ranges) rows += range.size();
  return rows;
}

// Bytes [offset, offset + size) of a file.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t size = 0;

  uint64_t end() const { return offset + size; }
  bool operator==(const ByteRange&) const = default;
};

}  // namespace glaive
