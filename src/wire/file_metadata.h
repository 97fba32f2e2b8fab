#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "core/ranges.h"
#include "wire/schema.h"

// The messages of a data file's own metadata (packages lance.file and lance.file.v2).
namespace glaive::wire {

// An Encoding message that holds its google.protobuf.Any in line, as every file of 2.x has it.
struct DirectEncoding {
  std::string type_url;  // "/lance.encodings21.PageLayout"
  std::string value;     // the message that the URL names

  bool operator==(const DirectEncoding&) const = default;
};

struct Page {
  std::vector<ByteRange> buffers;  // absolute; the index is what encodings call a buffer's number
  uint64_t num_rows = 0;
  DirectEncoding encoding;
  uint64_t priority = 0;  // first row of the page, counted in the file (2.1 and later)

  bool operator==(const Page&) const = default;
};

struct ColumnMetadata {
  DirectEncoding encoding;
  std::vector<Page> pages;         // in row order
  std::vector<ByteRange> buffers;  // of the column; no current writer makes any

  bool operator==(const ColumnMetadata&) const = default;
};

struct FileDescriptor {
  Schema schema;
  uint64_t num_rows = 0;
};

arrow::Result<ColumnMetadata> ParseColumnMetadata(std::span<const std::byte> message,
                                                  Location where);
arrow::Result<FileDescriptor> ParseFileDescriptor(std::span<const std::byte> message,
                                                  Location where);
std::string Serialize(const ColumnMetadata& column);
std::string Serialize(const FileDescriptor& descriptor);

// The encoding of every column that is stored as values.
DirectEncoding ValuesColumnEncoding();

}  // namespace glaive::wire
