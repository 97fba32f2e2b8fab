#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/dataset.h"
#include "glaive/metadata.h"
#include "glaive/version_options.h"

// Example:
//
//     ARROW_ASSIGN_OR_RAISE(const WriteResult written,
//                           WriteDataset(rows, "/data/images.lance", {.n_jobs = 4}));
//     ARROW_ASSIGN_OR_RAISE(const WriteTarget target, WriteTargetOf(written.dataset));
//     const std::string bytes = target.Serialize();  // for workers, which call WriteFragments
namespace glaive {

struct Access;
namespace dataset {
struct WriteTargetState;
}

enum class WriteMode : uint8_t { kCreate, kAppend, kOverwrite };

/// Limits of files and pages. Counts bytes of rows before they are encoded.
struct FileLimits {
  uint64_t max_rows_per_file = 1024 * 1024;
  uint64_t max_bytes_per_file = uint64_t{90} << 30;
  /// A page ends before the row that would exceed this.
  uint64_t max_page_bytes = uint64_t{256} << 20;
  /// The largest open page ends before all open pages together exceed this.
  uint64_t data_cache_bytes = uint64_t{256} << 20;
  /// Ends pages of 8 MiB or more after this many rows. Absent, or 1024 (pylance's default, which
  /// has no effect): no limit.
  std::optional<uint64_t> max_rows_per_group;
};

/// Called for each fragment that a write begins and completes, on the thread of the caller. The
/// fragments have no ids yet. An error that a function returns ends the call with that error.
struct FragmentEvents {
  std::function<arrow::Status(const FragmentMetadata&)> begin;
  std::function<arrow::Status(const FragmentMetadata&)> complete;
};

struct WriteOptions {
  WriteMode mode = WriteMode::kCreate;
  FileLimits limits;
  /// The number of files to write at one time; absent or 1: one after the other. Rows with random
  /// access (ReadTable, ReadDataset) are cut into at most this many partitions of equal bytes, each
  /// of at least 32 MiB or one full file and with its part of data_cache_bytes. Files of other
  /// streams are the same as without n_jobs; they are finished while the next ones are filled. The
  /// rows keep their order, the write makes one version, and at most n_jobs - 1 files more. At most
  /// max(GLAIVE_CPU_THREADS, GLAIVE_IO_THREADS) files are written at once, and GLAIVE_CPU_THREADS
  /// of them are encoded; the others wait for the store.
  std::optional<int64_t> n_jobs;
  std::optional<std::string> data_storage_version;  ///< "2.1", "2.2", "stable"; the table's own, or
                                                    ///< 2.2 for a new one, when absent
  bool enable_v2_manifest_paths = true;             ///< only for a new table
  bool enable_stable_row_ids = false;               ///< only for a new table
  std::map<std::string, std::string> initial_config;  ///< only for a new table
  std::vector<DatasetBasePath> initial_bases;         ///< only in mode kCreate
  /// Base paths for the new files, by name or path, used in turn. The URI of the table names its
  /// own folder, which gets all files when this is empty.
  std::vector<std::string> target_bases;
  /// Uses all base paths of the table in turn; true: its own folder too, first.
  std::optional<bool> target_all_bases;
  std::shared_ptr<Session> session;
  VersionOptions version;
  FragmentEvents fragment_events;
};

/// The number of pages that each limit ended.
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

/// Streams that a write with n_jobs can cut: the rows of a table in memory, and all rows of a
/// version.
std::shared_ptr<arrow::RecordBatchReader> ReadTable(std::shared_ptr<arrow::Table> table);
arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> ReadDataset(const Dataset& dataset);

/// Writes a stream as a new table, after the rows of a table, or instead of them, as one version.
/// An append to a table that does not exist creates it. A call that fails leaves no version and no
/// file.
///
/// Errors: AlreadyExists if kCreate meets a table; InvalidInput for a schema that does not fit;
/// Unsupported, with the name, for types and options that are not built; CommitConflict if another
/// writer conflicts with an overwrite; an error of `stream` unchanged. The error of a partition
/// (n_jobs) names it, "partition 2 (first row 5000, 2500 rows): ...", and has the original error as
/// its cause.
arrow::Result<WriteResult> WriteDataset(std::shared_ptr<arrow::RecordBatchReader> stream,
                                        std::string_view uri, const WriteOptions& options = {});
/// The same with an open handle, which has the schema and the version to write for.
arrow::Result<WriteResult> WriteDataset(std::shared_ptr<arrow::RecordBatchReader> stream,
                                        const Dataset& dataset, const WriteOptions& options);

/// Writes the files without a commit. The fragments (id 0) are for a later commit.
arrow::Result<std::vector<FragmentMetadata>> WriteFragments(
    std::shared_ptr<arrow::RecordBatchReader> stream, std::string_view uri,
    const WriteOptions& options = {});
arrow::Result<std::vector<FragmentMetadata>> WriteFragments(
    std::shared_ptr<arrow::RecordBatchReader> stream, const Dataset& dataset,
    const WriteOptions& options = {});

/// The part of a version that writers of rows need: the URI and the number of the version, the
/// fields with their ids, the version of the data files, and the base paths. It has no fragments,
/// so its size does not grow with the table. A worker that receives one reads no manifest.
/// Immutable and cheap to copy.
class WriteTarget {
 public:
  /// Reads the bytes of Serialize. Errors: Corrupt for other bytes.
  static arrow::Result<WriteTarget> Parse(std::string_view bytes);
  /// Compressed: some ten thousand columns take less than 64 KiB, unless they have long and varied
  /// names or metadata.
  std::string Serialize() const;

  const std::string& uri() const;  ///< as other processes of the machine find it
  uint64_t version() const;
  /// The transaction that made the version. It distinguishes the version from one of another table
  /// with the same number.
  const std::string& transaction_uuid() const;
  const std::shared_ptr<arrow::Schema>& schema() const;
  std::string data_storage_version() const;  ///< "2.2"
  bool has_stable_row_ids() const;           ///< then commits give each new row an id
  const std::map<std::string, std::string>& config() const;
  std::vector<DatasetBasePath> bases() const;

  bool operator==(const WriteTarget& other) const;

 private:
  friend struct Access;
  explicit WriteTarget(std::shared_ptr<const dataset::WriteTargetState> state)
      : state_(std::move(state)) {}

  std::shared_ptr<const dataset::WriteTargetState> state_;
};

/// The write target of the handle's version. Reads nothing if the manifest names its transaction,
/// as the manifests of all known writers do. Errors: Unsupported for tables that this build must
/// not write to.
arrow::Result<WriteTarget> WriteTargetOf(const Dataset& dataset);

/// WriteFragments with a write target. Reads nothing: the target has the schema and the version.
/// Writes each data file with one request. The fragments record the target: the commit reads the
/// transaction of that version, and refuses with CommitConflict if another table has taken the URI
/// since.
arrow::Result<std::vector<FragmentMetadata>> WriteFragments(
    std::shared_ptr<arrow::RecordBatchReader> stream, const WriteTarget& target,
    const WriteOptions& options = {});

struct CachedTargetOptions {
  std::optional<uint64_t> version;  ///< the newest when absent, which is looked up each time
  /// Tell one opening of a table from another; the stores of this build need none.
  std::map<std::string, std::string> storage_options;
  std::shared_ptr<Session> session;  ///< for opening the version; when null, nothing of it is kept
};

/// A cached WriteTargetOf for workers that use one version again and again. The process keeps one
/// target for each URI, until a call asks for another version or with other options; a repeated
/// call with a version sends no request. The commit detects a version that was removed and made
/// again meanwhile. The cache takes at most 16 MiB, evicts the least recently used target first,
/// and drops targets after ten minutes without use. Thread safe: if several threads ask for one
/// table, one of them opens it. A forked child has the cache of its parent.
///
/// Errors: those of Dataset::Open and WriteTargetOf, which are not remembered.
arrow::Result<WriteTarget> CachedWriteTarget(std::string_view uri,
                                             const CachedTargetOptions& options = {});

/// Drops the cached target of `uri`, or all of them.
void CloseCachedWriteTargets(std::optional<std::string_view> uri = std::nullopt);

struct CachedTargetStats {
  uint64_t num_targets = 0;
  uint64_t size_bytes = 0;
};
CachedTargetStats StatsOfCachedWriteTargets();

}  // namespace glaive
