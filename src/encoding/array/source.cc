#include "encoding/array/source.h"

namespace glaive::encoding {

arrow::Result<ByteRange> ArraySource::Resolve(const wire::BufferRef& buffer) const {
  std::span<const ByteRange> buffers;
  std::string_view of;
  switch (buffer.kind) {
    case wire::BufferKind::kPage: buffers = page_buffers, of = "page"; break;
    case wire::BufferKind::kColumn: buffers = column_buffers, of = "column"; break;
    case wire::BufferKind::kFile: buffers = file_buffers, of = "file"; break;
    default:
      return Corrupt(where(), "an encoding names a buffer of kind {}",
                     static_cast<uint32_t>(buffer.kind));
  }
  if (buffer.index >= buffers.size()) {
    return Corrupt(where(), "an encoding names buffer {} of the {}, which has {}", buffer.index, of,
                   buffers.size());
  }
  const ByteRange range = buffers[buffer.index];
  if (range.offset > file_size || range.size > file_size - range.offset) {
    return Corrupt(where(), "a buffer of {} bytes at {}, in a file of {}", range.size, range.offset,
                   file_size);
  }
  return range;
}

}  // namespace glaive::encoding
