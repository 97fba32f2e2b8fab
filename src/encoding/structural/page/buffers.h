#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "core/error.h"
#include "core/file_version.h"
#include "core/ranges.h"
#include "encoding/codec/words.h"
#include "encoding/structural/leaf/builder.h"
#include "encoding/structural/page/decoder.h"

namespace glaive::encoding {

// What a page decoder keeps of its source: the places of its buffers, and names for errors.
class PageBuffers {
 public:
  // Corrupt unless there are exactly `expected` buffers and all lie within the file.
  static arrow::Result<PageBuffers> Validate(const PageSource& source, size_t expected);

  ByteRange range(size_t buffer) const { return ranges_[buffer]; }
  Location where(size_t buffer) const { return {path_, ranges_[buffer].offset}; }
  Location at(uint64_t offset) const { return {path_, offset}; }
  Location layout() const { return {path_, layout_offset_}; }
  uint64_t num_rows() const { return num_rows_; }
  uint64_t memory_bytes() const { return path_.size() + ranges_.size() * sizeof(ByteRange); }

 private:
  std::string path_;
  std::vector<ByteRange> ranges_;
  uint64_t layout_offset_ = 0;
  uint64_t num_rows_ = 0;
};

inline Bytes BytesOf(const arrow::Buffer& buffer) {
  return {reinterpret_cast<const std::byte*>(buffer.data()), static_cast<size_t>(buffer.size())};
}

// Whether these are the buffers that were wanted.
arrow::Status CheckSupply(const std::vector<ByteRange>& wanted,
                          const std::vector<std::shared_ptr<arrow::Buffer>>& buffers);

// Watches that a page appends as many rows as were asked for, and a value for every slot: whatever
// levels say, arrays that do not fit together never leave this layer.
class RowCheck {
 public:
  RowCheck(const LeafBuilder::State& leaf, uint64_t num_rows)
      : leaf_(leaf), expected_(leaf.layers.front().num_slots() + static_cast<int64_t>(num_rows)) {}

  arrow::Status Finish(Location where) const;

 private:
  const LeafBuilder::State& leaf_;
  int64_t expected_;
};

}  // namespace glaive::encoding
