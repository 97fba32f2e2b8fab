#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/dataset.h"
#include "glaive/fragment.h"
#include "glaive/scan.h"
#include "glaive/schema.h"
#include "glaive/version_options.h"
#include "glaive/write.h"

// Example:
//
//     const NewColumns twice = std::vector<ComputedColumn>{{"twice", "id * 2"}};
//     ARROW_ASSIGN_OR_RAISE(const Dataset wider, AddColumns(dataset, twice));
//     const std::vector<std::string> names = {"id"};
//     ARROW_ASSIGN_OR_RAISE(const Dataset narrower, DropColumns(wider, names));
namespace glaive {

/// Keeps the batches of a ColumnFunction, so that an interrupted call can continue later. Its
/// functions are called on the thread of the caller.
struct ColumnCheckpoint {
  std::function<arrow::Result<std::shared_ptr<arrow::RecordBatch>>(uint64_t fragment_id,
                                                                   uint64_t batch_index)>
      find_batch;  ///< null: not kept
  std::function<arrow::Status(uint64_t fragment_id, uint64_t batch_index,
                              const std::shared_ptr<arrow::RecordBatch>& batch)>
      keep_batch;
  std::function<arrow::Result<std::optional<FragmentMetadata>>(uint64_t fragment_id)> find_fragment;
  /// Keeps the fragment with its new file; its batches are no longer needed. The file stays when
  /// the call fails.
  std::function<arrow::Status(const FragmentMetadata& fragment)> keep_fragment;
};

/// Columns that a function computes, batch by batch. The function returns as many rows as it gets,
/// with the columns of `schema`. It is called on the thread of the caller, in the order of the
/// rows, and gets live rows only.
struct ColumnFunction {
  std::function<arrow::Result<std::shared_ptr<arrow::RecordBatch>>(
      const std::shared_ptr<arrow::RecordBatch>&)>
      compute;
  std::shared_ptr<arrow::Schema> schema;
  /// Columns that the function gets, as in ScanOptions; all when absent.
  std::optional<std::vector<std::string>> inputs;
  uint64_t batch_rows = 1024;  ///< physical rows that it sees at a time
  std::optional<ColumnCheckpoint> checkpoint;
};

/// Columns without any value. No file is written.
struct NullColumns {
  std::shared_ptr<arrow::Schema> schema;
};

/// The columns to add. A RecordBatchReader has one value for each live row, in the order of a scan.
using NewColumns = std::variant<std::vector<ComputedColumn>, ColumnFunction, NullColumns,
                                std::shared_ptr<arrow::RecordBatchReader>>;

/// Adds columns after the others, and fields to structs. Each fragment gets one file with their
/// values. Makes one version.
///
/// Errors: InvalidInput for names that exist, invalid expressions, streams with too few or too many
/// rows, and nulls in a column that is not nullable; a retryable CommitConflict when another writer
/// added or changed fragments meanwhile. A call that fails leaves no file.
arrow::Result<Dataset> AddColumns(const Dataset& dataset, const NewColumns& columns,
                                  const VersionOptions& options = {});

/// Joins a stream to the table by key: each row gets the columns of the stream's row with the same
/// key, or nulls. If several rows of the stream have that key, the last one counts. `left_on` may
/// be _rowid or _rowaddr. Makes one version.
arrow::Result<Dataset> MergeColumns(const Dataset& dataset,
                                    std::shared_ptr<arrow::RecordBatchReader> stream,
                                    std::string_view left_on, std::string_view right_on,
                                    const VersionOptions& options = {});

/// A change of a column, named by its dotted path below structs.
struct ColumnAlteration {
  std::string path;
  std::optional<std::string> name;
  std::optional<bool> nullable;
  std::shared_ptr<arrow::DataType> type;  ///< null: as it is
};

/// Renames columns, changes whether they are nullable, and casts them: integers, floats, strings,
/// binaries, decimals, times and lists, each to types of its kind, if no value is lost. A cast
/// column gets a new field id and new files; the other changes write no file. Makes one version.
///
/// Errors: InvalidInput for columns that do not exist, for casts that are not possible, for a cast
/// of a column with an index, and for nulls in a column that is to be not nullable.
arrow::Result<Dataset> AlterColumns(const Dataset& dataset,
                                    std::span<const ColumnAlteration> alterations,
                                    const VersionOptions& options = {});

/// Removes columns from the schema, by name or by dotted path below structs. Writes no data file;
/// the new version no longer refers to files that hold only these columns. Makes one version.
arrow::Result<Dataset> DropColumns(const Dataset& dataset, std::span<const std::string> columns,
                                   const VersionOptions& options = {});

/// Rows of a fragment, counted in its files.
struct FragmentRows {
  uint64_t physical = 0;  ///< deleted ones included
  uint64_t deleted = 0;

  uint64_t live() const { return physical - deleted; }
};

/// The rows of a fragment. Manifests of old writers lack these counts; then the function opens a
/// data file and the deletion file. Errors: those of opening them, with the name of the file.
arrow::Result<FragmentRows> RowsOfFragment(const Dataset& dataset,
                                           const FragmentMetadata& fragment);

// Changes of one fragment, without a commit. Workers make them and send the results to one process,
// which commits them all. The files of a result are on stable storage if `durability` says so. A
// call that fails leaves no file. Errors: InvalidInput for a fragment that the version does not
// have.

/// A fragment with more columns, for a Merge operation. `schema` is the schema of the whole table,
/// the same for all fragments of a version.
struct WidenedFragment {
  FragmentMetadata fragment;
  TableSchema schema;
};

/// AddColumns and MergeColumns for one fragment. A stream has the rows of this fragment only.
arrow::Result<WidenedFragment> AddFragmentColumns(const Dataset& dataset, uint64_t fragment_id,
                                                  const NewColumns& columns,
                                                  const VersionOptions& options = {});
arrow::Result<WidenedFragment> MergeFragmentColumns(
    const Dataset& dataset, uint64_t fragment_id, std::shared_ptr<arrow::RecordBatchReader> stream,
    std::string_view left_on, std::string_view right_on, const VersionOptions& options = {});

/// A fragment in which some columns lie in a new file.
struct RewrittenFragment {
  FragmentMetadata fragment;
  std::vector<int32_t> fields_modified;  ///< ids of fields with other values, parents included
  std::string matched_offsets;           ///< physical rows that were matched: portable Roaring
};

/// Replaces values in the rows whose key the stream has; other rows keep their values. The stream
/// may have some fields of a struct only. `left_on` may be _rowid or _rowaddr.
arrow::Result<RewrittenFragment> UpdateFragmentColumns(
    const Dataset& dataset, uint64_t fragment_id, std::shared_ptr<arrow::RecordBatchReader> stream,
    std::string_view left_on, std::string_view right_on, const VersionOptions& options = {});

/// Deletes the rows for which `predicate` is true: returns the fragment with a new deletion file,
/// nothing if no row is left, and the unchanged fragment if no row matches.
arrow::Result<std::optional<FragmentMetadata>> DeleteFromFragment(
    const Dataset& dataset, uint64_t fragment_id, const Predicate& predicate,
    const VersionOptions& options = {});
/// The same for rows by their physical offset. Errors: InvalidInput for an offset beyond the
/// fragment.
arrow::Result<std::optional<FragmentMetadata>> DeleteFragmentRows(
    const Dataset& dataset, uint64_t fragment_id, std::span<const uint64_t> offsets,
    const VersionOptions& options = {});

/// Opens the files of a fragment. Errors: Corrupt, with the name of the file, if a file has another
/// number of rows than the fragment, holds a field twice, or deletes rows that do not exist.
arrow::Status ValidateFragment(const Dataset& dataset, uint64_t fragment_id);

/// Describes a file in the table's data/ folder, or in a base path, for an operation that refers to
/// it. Matches its columns with those of the table by name. Errors: InvalidInput for columns that
/// do not fit.
arrow::Result<DataFileInfo> DescribeDataFile(const Dataset& dataset, std::string_view path,
                                             std::optional<uint32_t> base_id = std::nullopt);

/// A fragment of such a file. Errors: also InvalidInput if the file lacks a column that is not
/// nullable.
arrow::Result<FragmentMetadata> AdoptDataFile(const Dataset& dataset, std::string_view path,
                                              uint64_t fragment_id);

/// Writes a stream as one fragment with one file; limits of the file size do not apply.
arrow::Result<FragmentMetadata> CreateFragment(std::shared_ptr<arrow::RecordBatchReader> stream,
                                               std::string_view uri, uint64_t fragment_id,
                                               const WriteOptions& options = {});

}  // namespace glaive
