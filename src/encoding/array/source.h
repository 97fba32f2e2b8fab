#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <arrow/result.h>

#include "core/error.h"
#include "core/ranges.h"
#include "wire/encodings_v2_0.h"

namespace glaive::encoding {

// A page of a 2.0 file as the metadata of its column describes it. All ranges are absolute.
struct ArraySource {
  std::span<const ByteRange> page_buffers;
  std::span<const ByteRange> column_buffers;
  std::span<const ByteRange> file_buffers;
  uint64_t num_slots = 0;        // of the column in this page: rows, or items of lists
  bool is_dictionary = false;    // the field has a dictionary type
  std::string path;              // of the file, for errors
  uint64_t metadata_offset = 0;  // where the column metadata lies, for errors
  uint64_t file_size = 0;

  Location where() const { return {path, metadata_offset}; }

  // Corrupt if there is no such buffer, or it does not lie in the file.
  arrow::Result<ByteRange> Resolve(const wire::BufferRef& buffer) const;
};

}  // namespace glaive::encoding
