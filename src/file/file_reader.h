#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "core/file_version.h"
#include "core/ranges.h"
#include "encoding/levels/leaf.h"
#include "encoding/structural/page/decoder.h"
#include "file/file_metadata.h"
#include "io/object_store.h"

namespace glaive::file {

// One column to read: its number in the file, and how it hangs in the field it belongs to.
struct ColumnRead {
  uint32_t column = 0;
  const encoding::LeafPath* path = nullptr;
};

// An open data file. Immutable but for decoders that it keeps of pages it has met, and for the
// bytes of a small file, which opening it has read: the first who reads columns takes them, so that
// a scan reads every byte once and a cache of readers does not fill with files. Thread safe.
class FileReader {
 public:
  // `size_bytes` is what the table's manifest says, if it does.
  static arrow::Result<std::shared_ptr<FileReader>> Open(std::shared_ptr<io::ObjectStore> store,
                                                         std::string path,
                                                         std::optional<uint64_t> size_bytes);

  const FileMetadata& metadata() const { return *metadata_; }
  const std::string& path() const { return path_; }

  // The rows of several columns, those of each column back to back. What all of them need next goes
  // out together, so the rounds are those of the deepest column, not their sum. Rows beyond the
  // file: Corrupt (the table said there were more).
  // More values than `most_bytes`, of all columns together: TooLarge. Reading then, as any time,
  // makes SizeFrom tell better.
  arrow::Result<std::vector<encoding::LeafRows>> ReadColumns(std::span<const ColumnRead> columns,
                                                             std::span<const RowRange> rows,
                                                             uint64_t most_bytes = UINT64_MAX);

  // About what rows take once they are decoded.
  struct RowSize {
    double bytes = 0;           // of one row
    uint64_t end = UINT64_MAX;  // the row where that changes
  };
  // Of some columns from a row on: what its pages tell of themselves and, where more than that came
  // of a column, what was read of it before. No I/O. Pages with faults, which reading them tells,
  // count nothing.
  RowSize SizeFrom(std::span<const ColumnRead> columns, uint64_t row);

  // Validates the description of a page as reading it would: its encodings and where its buffers
  // lie, not what is in them.
  arrow::Status CheckPage(const ColumnRead& column, size_t page) {
    return Decoder(column, page).status();
  }

  // Bytes as they are, of one dependent round.
  arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> ReadBytes(
      std::span<const ByteRange> ranges) {
    return reader_->ReadMany(ranges);
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadGlobalBuffer(uint32_t index);

  uint64_t memory_bytes() const;

 private:
  FileReader() = default;
  arrow::Result<std::shared_ptr<encoding::PageDecoder>> Decoder(const ColumnRead& column,
                                                                size_t page);

  struct Cache;
  std::shared_ptr<io::ObjectReader> reader_;
  std::shared_ptr<const FileMetadata> metadata_;
  std::string path_;
  std::shared_ptr<Cache> cache_;
};

}  // namespace glaive::file
