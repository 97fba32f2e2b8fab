#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/dataset.h"

// Example:
//
//     ARROW_ASSIGN_OR_RAISE(const auto reader, DataFileReader::Open("/data/t.lance/data/a.lance"));
//     for (const ColumnInfo& column : reader->info().columns) {
//       std::cout << column.pages.size() << " pages\n";
//     }
//     ARROW_ASSIGN_OR_RAISE(const auto tracked, TrackedFiles(dataset));
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

/// Reads a Lance data file on its own, outside of any table. Thread safe. No session caches such a
/// file, because another file may take its name.
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

/// Writes a Lance data file. Not thread safe. Leaves no file unless Finish succeeds.
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

enum class FileRole : uint8_t { kManifest, kTransaction, kData, kDeletion, kIndex };
/// "manifest", "transaction file", "data file", ...
std::string_view NameOf(FileRole role);

/// A file that a version refers to.
struct TrackedFile {
  uint64_t version = 0;
  std::string base_uri;  ///< of the table, or of the base where the file lies
  std::string path;      ///< relative to it
  FileRole role = FileRole::kData;
};

/// After each version that was looked at: how many of how many.
using VersionProgress = std::function<arrow::Status(uint64_t done, uint64_t total)>;

/// The files of all versions from `min_version` on, newest version first. A file of several
/// versions is listed for each.
arrow::Result<std::vector<TrackedFile>> TrackedFiles(
    const Dataset& dataset, std::optional<uint64_t> min_version = std::nullopt,
    const VersionProgress& progress = nullptr);

/// A file that lies below the table's root.
struct StoredFile {
  std::string path;  ///< relative to the root
  uint64_t size_bytes = 0;
  int64_t modified_ns = 0;  ///< since the Unix epoch, UTC
};

/// All files below the root of the table, in no order, whether a version refers to them or not.
/// Files in base paths are not included.
arrow::Result<std::vector<StoredFile>> StoredFiles(const Dataset& dataset);

struct FieldBytes {
  int32_t field_id = 0;
  uint64_t bytes = 0;  ///< encoded, in all data files of the version
};

/// The encoded bytes of every field, in the order of the schema; 0 for fields whose children hold
/// the values. Reads the footers of all data files.
arrow::Result<std::vector<FieldBytes>> BytesOfFields(const Dataset& dataset);

}  // namespace glaive
