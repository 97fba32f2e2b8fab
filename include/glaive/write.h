#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/dataset.h"
#include "glaive/version_options.h"

namespace glaive {

/// A place besides the table's own folder where its files may lie.
struct DatasetBasePath {
  uint32_t id = 0;  ///< 0, of a base to be added: one is chosen
  std::optional<std::string> name;
  bool is_dataset_root =
      false;         ///< data files lie in data/ below the path; else in the path itself
  std::string path;  ///< absolute path or URI

  bool operator==(const DatasetBasePath&) const = default;
};

enum class WriteMode : uint8_t { kCreate, kAppend, kOverwrite };

/// Limits of files and pages. Bytes are those of the rows before encoding.
struct FileLimits {
  uint64_t max_rows_per_file = 1024 * 1024;
  uint64_t max_bytes_per_file = uint64_t{90} << 30;
  /// A page ends when its next row would pass this.
  uint64_t max_page_bytes = uint64_t{256} << 20;
  /// The largest open page ends when all open ones together would pass this.
  uint64_t data_cache_bytes = uint64_t{256} << 20;
  /// Ends pages that hold 8 MiB or more after so many rows. Absent, or pylance's inert default
  /// 1024: no such limit.
  std::optional<uint64_t> max_rows_per_group;
};

/// Told of each fragment that a write begins and completes, on the thread that made the call. Ids
/// are not given yet. An error that one returns ends the call with that error.
struct FragmentEvents {
  std::function<arrow::Status(const FragmentMetadata&)> begin;
  std::function<arrow::Status(const FragmentMetadata&)> complete;
};

struct WriteOptions {
  WriteMode mode = WriteMode::kCreate;
  FileLimits limits;
  /// How many files may be written at a time. Absent or 1: one after the other. Rows that may be
  /// read from anywhere (ReadTable, ReadDataset) are cut into at most so many partitions of equal
  /// bytes, none below 32 MiB or one full file, each with its part of data_cache_bytes; of any
  /// other stream the files stay as they would be, and are finished while the next ones are filled.
  /// Never more than n_jobs - 1 files more than without, in order of the rows, and one version.
  /// At most max(GLAIVE_CPU_THREADS, GLAIVE_IO_THREADS) are written at once, and GLAIVE_CPU_THREADS
  /// of them encoded; the others wait for the store.
  std::optional<int64_t> n_jobs;
  std::optional<std::string> data_storage_version;  ///< "2.1", "2.2", "stable"; the table's own, or
                                                    ///< 2.2 for a new one, when absent
  bool enable_v2_manifest_paths = true;             ///< only for a new table
  bool enable_stable_row_ids = false;               ///< only for a new table
  std::map<std::string, std::string> initial_config;  ///< only for a new table
  std::vector<DatasetBasePath> initial_bases;         ///< only in mode kCreate
  /// Bases by name or path, which take turns at the new files; the table's own URI is its own
  /// folder, which gets them all when this is empty.
  std::vector<std::string> target_bases;
  /// All bases of the table take turns; true: its own folder first.
  std::optional<bool> target_all_bases;
  std::shared_ptr<Session> session;
  VersionOptions version;
  FragmentEvents fragment_events;
};

/// Which limit ended how many pages.
struct PageCounts {
  uint64_t total = 0;
  uint64_t by_page_bytes = 0;
  uint64_t by_cache_bytes = 0;
  uint64_t by_row_limit = 0;
  uint64_t by_file_end = 0;
  uint64_t by_format_limit = 0;
};

struct WriteSummary {
  uint64_t rows = 0;
  uint64_t files = 0;
  uint64_t bytes = 0;
  PageCounts pages;
};

struct WriteResult {
  Dataset dataset;  ///< the version that was made
  WriteSummary summary;
};

/// Streams that a write with n_jobs may cut: of the rows of a table in memory, of all rows of a
/// version.
std::shared_ptr<arrow::RecordBatchReader> ReadTable(std::shared_ptr<arrow::Table> table);
arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> ReadDataset(const Dataset& dataset);

/// Writes a stream as a new table, behind the rows of a table, or in place of them, as one version.
/// Appending to what is not there creates it. A call that fails leaves no version and no file.
///
/// Errors: AlreadyExists when creating over a table; InvalidInput for a schema that does not fit;
/// Unsupported for types and options not built, by name; CommitConflict when another writer got in
/// the way of an overwrite; an error of `stream` as it is. What fails in a partition (n_jobs) names
/// it: "partition 2 (first row 5000, 2500 rows): ...", with the error itself as the cause.
arrow::Result<WriteResult> WriteDataset(std::shared_ptr<arrow::RecordBatchReader> stream,
                                        std::string_view uri, const WriteOptions& options = {});
/// The same onto an open handle, whose schema and version are taken as they are.
arrow::Result<WriteResult> WriteDataset(std::shared_ptr<arrow::RecordBatchReader> stream,
                                        const Dataset& dataset, const WriteOptions& options);

/// Writes the files only. Nothing is committed; the fragments (id 0) are for a later commit.
arrow::Result<std::vector<FragmentMetadata>> WriteFragments(
    std::shared_ptr<arrow::RecordBatchReader> stream, std::string_view uri,
    const WriteOptions& options = {});
arrow::Result<std::vector<FragmentMetadata>> WriteFragments(
    std::shared_ptr<arrow::RecordBatchReader> stream, const Dataset& dataset,
    const WriteOptions& options = {});

struct DeleteOptions {
  uint32_t conflict_retries = 10;
  uint64_t retry_timeout_ms = 30'000;
  VersionOptions version;
};

struct DeleteResult {
  Dataset dataset;
  uint64_t num_deleted_rows = 0;
};

struct Predicate;

/// Hides the rows for which `predicate` is true (not those where it is null). Concurrent deletes of
/// other rows are merged; when rows it chose were changed meanwhile it runs again on the newer
/// version. Without a match pylance still makes a version; so does this.
arrow::Result<DeleteResult> Delete(const Dataset& dataset, const Predicate& predicate,
                                   const DeleteOptions& options = {});

}  // namespace glaive
