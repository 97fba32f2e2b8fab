#include "encoding/structural/page/buffers.h"

namespace glaive::encoding {

arrow::Result<PageBuffers> PageBuffers::Validate(const PageSource& source, size_t expected) {
  const Location where = {source.path, source.layout_offset};
  if (source.buffers.size() != expected) {
    return Corrupt(where, "a page of {} buffers; {} expected", source.buffers.size(), expected);
  }
  for (const ByteRange& range : source.buffers) {
    if (range.offset > source.file_size || range.size > source.file_size - range.offset) {
      return Corrupt(where, "a page buffer of {} bytes at {}, in a file of {}", range.size,
                     range.offset, source.file_size);
    }
  }
  PageBuffers buffers;
  buffers.path_ = source.path;
  buffers.ranges_.assign(source.buffers.begin(), source.buffers.end());
  buffers.layout_offset_ = source.layout_offset;
  buffers.num_rows_ = source.num_rows;
  return buffers;
}

arrow::Status CheckSupply(const std::vector<ByteRange>& wanted,
                          const std::vector<std::shared_ptr<arrow::Buffer>>& buffers) {
  bool as_wanted = buffers.size() == wanted.size();
  for (size_t i = 0; as_wanted && i < wanted.size(); ++i) {
    as_wanted = static_cast<uint64_t>(buffers[i]->size()) == wanted[i].size;
  }
  return as_wanted ? arrow::Status::OK() : Internal("a page was not supplied with what it wanted");
}

arrow::Status RowCheck::Finish(Location where) const {
  if (leaf_.layers.front().num_slots() != expected_) {
    return Corrupt(where, "a page's levels make {} rows too many",
                   leaf_.layers.front().num_slots() - expected_);
  }
  if (leaf_.values.num_slots() != leaf_.layers.back().num_slots()) {
    return Corrupt(where, "a page's levels and values differ by {} slots",
                   leaf_.layers.back().num_slots() - leaf_.values.num_slots());
  }
  return arrow::Status::OK();
}

}  // namespace glaive::encoding
