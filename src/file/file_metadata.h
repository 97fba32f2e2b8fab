#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "core/file_version.h"
#include "core/ranges.h"
#include "io/object_store.h"
#include "wire/file_metadata.h"

namespace glaive::file {

// What the end of a data file says. Every range in it lies in the file, every page behind the one
// before it.
struct FileMetadata {
  FileVersion version = FileVersion::k2_2;
  uint16_t footer_major = 0;
  uint16_t footer_minor = 0;
  uint64_t file_size = 0;
  wire::Schema schema;
  uint64_t num_rows = 0;
  std::vector<wire::ColumnMetadata> columns;
  std::vector<ByteRange> column_metadata;  // where each column's message lies
  ByteRange column_metadata_region;        // all of them and the table that leads to them
  std::vector<ByteRange> global_buffers;   // 0 is the file descriptor

  uint64_t memory_bytes() const;
};

struct OpenedFile {
  std::shared_ptr<const FileMetadata> metadata;
  std::shared_ptr<arrow::Buffer> whole;  // of a file that is no longer than its end; else null
};

// Reads footer, descriptor and column metadata: one request where the tail that is fetched first
// holds them all, else two.
arrow::Result<OpenedFile> ReadFileMetadata(io::ObjectReader& reader, const std::string& path);

}  // namespace glaive::file
