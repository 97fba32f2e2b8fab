#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "core/file_version.h"
#include "core/ranges.h"

// The end of a data file of 2.x, all little endian:
//
//   ...                    page buffers and other global buffers
//   global buffer 0        the file descriptor
//   column metadata        one message for each column
//   column table           for each column   u64 position, u64 size  of its metadata
//   global buffer table    for each buffer   u64 position, u64 size
//   footer, 40 bytes       u64 position of the first column metadata
//                          u64 position of the column table
//                          u64 position of the global buffer table
//                          u32 number of global buffers, at least 1
//                          u32 number of columns
//                          u16 major, u16 minor version, "LANC"
namespace glaive::file {

inline constexpr uint64_t kFooterSize = 40;
inline constexpr uint64_t kTableEntrySize = 16;
inline constexpr uint64_t kBufferAlignment = 64;

struct Footer {
  FileVersion version = FileVersion::k2_2;
  uint16_t major = 0;
  uint16_t minor = 0;
  uint64_t file_size = 0;
  uint64_t column_metadata_position = 0;
  ByteRange column_table;
  ByteRange global_buffer_table;

  uint32_t num_columns() const {
    return static_cast<uint32_t>(column_table.size / kTableEntrySize);
  }
  uint32_t num_global_buffers() const {
    return static_cast<uint32_t>(global_buffer_table.size / kTableEntrySize);
  }
  uint64_t position() const { return file_size - kFooterSize; }
};

// Reads the last 40 bytes of a file. Everything that the footer says lies where it can: the regions
// in their order and inside the file. Versions that are not read here are Unsupported, by name.
arrow::Result<Footer> ParseFooter(std::span<const std::byte, kFooterSize> bytes, uint64_t file_size,
                                  std::string_view path);

// The entries of a table, each of which lies before byte `end` of the file. `what` is for errors:
// "metadata of column".
arrow::Result<std::vector<ByteRange>> ParseOffsetTable(std::span<const std::byte> bytes,
                                                       Location where, uint64_t end,
                                                       std::string_view what);

// The pair of numbers that a footer of this version holds.
struct FooterVersion {
  uint16_t major;
  uint16_t minor;
};
FooterVersion FooterVersionOf(FileVersion version);

}  // namespace glaive::file
