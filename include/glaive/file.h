#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace glaive {

/// Where a buffer lies in its file.
struct BufferInfo {
  uint64_t position = 0;
  uint64_t size = 0;
};

struct PageInfo {
  std::vector<BufferInfo> buffers;
  uint64_t num_rows = 0;
  uint64_t first_row = 0;
  std::string encoding;  ///< for people: "MiniBlock(InlineBitpacking(16))"
};

struct ColumnInfo {
  std::vector<BufferInfo> column_buffers;
  std::vector<PageInfo> pages;
};

struct FileInfo {
  std::shared_ptr<arrow::Schema> schema;
  uint64_t num_rows = 0;
  uint32_t major_version = 0;
  uint32_t minor_version = 0;
  uint64_t num_data_bytes = 0;
  uint64_t num_column_metadata_bytes = 0;
  uint64_t num_global_buffer_bytes = 0;
  std::vector<BufferInfo> global_buffers;
  std::vector<ColumnInfo> columns;
};

/// A Lance data file on its own, outside any table. Thread safe. No session keeps anything of it,
/// since another file may take its name.
class DataFileReader {
 public:
  /// Errors: FileNotFound; Corrupt naming the byte; Unsupported for versions not read here.
  static arrow::Result<std::shared_ptr<DataFileReader>> Open(
      std::string_view uri, std::optional<std::vector<std::string>> columns = std::nullopt);
  virtual ~DataFileReader() = default;

  virtual const FileInfo& info() const = 0;
  virtual std::shared_ptr<arrow::Schema> schema() const = 0;  ///< of the columns asked for
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(uint64_t first_row,
                                                                        uint64_t num_rows,
                                                                        uint64_t batch_size) = 0;
  /// `rows` ascending.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Take(
      std::span<const uint64_t> rows, uint64_t batch_size) = 0;
  virtual arrow::Result<std::shared_ptr<arrow::Buffer>> ReadGlobalBuffer(uint32_t index) = 0;
};

struct DataFileWriterOptions {
  std::optional<std::string> version;  ///< "2.2" when absent
  std::optional<uint64_t> data_cache_bytes;
  std::optional<uint64_t> max_page_bytes;
};

struct DataFileSummary {
  uint64_t num_rows = 0;
  uint64_t size_bytes = 0;
};

/// Writes such a file. Not thread safe. Without Finish nothing is left behind.
class DataFileWriter {
 public:
  static arrow::Result<std::unique_ptr<DataFileWriter>> Create(
      std::string_view uri, std::shared_ptr<arrow::Schema> schema,
      const DataFileWriterOptions& options = {});
  virtual ~DataFileWriter() = default;

  virtual arrow::Status Write(const std::shared_ptr<arrow::RecordBatch>& batch) = 0;
  virtual void AddSchemaMetadata(std::string key, std::string value) = 0;
  virtual arrow::Result<uint32_t> AddGlobalBuffer(std::shared_ptr<arrow::Buffer> buffer) = 0;
  virtual arrow::Result<DataFileSummary> Finish() = 0;
};

}  // namespace glaive
