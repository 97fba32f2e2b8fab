#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/columns.h"
#include "glaive/dataset.h"
#include "glaive/error.h"
#include "glaive/scan.h"
#include "glaive/schema.h"
#include "glaive/version_options.h"
#include "glaive/write.h"

// Example:
//
//     ARROW_ASSIGN_OR_RAISE(const TableSchema column, NewColumnSchema(dataset, *schema));
//     ARROW_ASSIGN_OR_RAISE(const StagedColumns staged, StageColumns(dataset, 0, rows, column));
//     const std::string json = staged.ToJson();  // a worker sends this to the process that commits
//     ARROW_ASSIGN_OR_RAISE(const Dataset wider,
//                           CommitColumns(dataset, std::vector<StagedColumns>{staged}));
namespace glaive {

struct Access;
namespace dataset {
struct StagedColumnsState;
}

/// A column of a data file that holds values of a field.
struct BackingColumn {
  std::string path;  ///< below the table's data/, or below the base
  std::optional<uint32_t> base_id;
  uint32_t file_major_version = 0;
  uint32_t file_minor_version = 0;
  int32_t column_index = 0;

  bool operator==(const BackingColumn&) const = default;
};

/// A column of an overlay file.
struct BackingOverlay {
  BackingColumn column;
  uint64_t committed_version = 0;
  uint64_t coverage = 0;  ///< hash of the bitmap that says which rows

  bool operator==(const BackingOverlay&) const = default;
};

/// The columns from which a reader takes the values of a field in a fragment. If there is none, all
/// rows are null.
struct FieldWitness {
  std::optional<BackingColumn> base;
  std::vector<BackingOverlay> overlays;  ///< oldest first

  bool empty() const { return !base && overlays.empty(); }
  std::string ToString() const;
  bool operator==(const FieldWitness&) const = default;
};

/// The conflict of a commit of staged columns: since they were staged, another writer changed the
/// files of a field in a fragment, or its rows. Always retryable: stage the columns again from the
/// newest version.
class ColumnWriteConflict final : public ErrorDetail {
 public:
  ColumnWriteConflict(std::optional<uint64_t> fragment_id, std::string field, FieldWitness staged,
                      FieldWitness current);

  /// The detail of this error; null for any other error. It lives as long as `status`.
  static const ColumnWriteConflict* Of(const arrow::Status& status);

  /// Absent if the schema of the table changed.
  std::optional<uint64_t> fragment_id() const { return fragment_id_; }
  /// A dotted path; empty if all fields of the fragment are affected.
  const std::string& field() const { return field_; }
  const FieldWitness& staged() const { return staged_; }
  const FieldWitness& current() const { return current_; }

 private:
  std::optional<uint64_t> fragment_id_;
  std::string field_;
  FieldWitness staged_;
  FieldWitness current_;
};

/// A file with the values of some fields for all rows of one fragment, to which no version refers
/// yet, with a record of the columns that it replaces. Immutable and cheap to copy; its JSON has a
/// few hundred bytes and the schema.
class StagedColumns {
 public:
  /// Reads the text of ToJson. Errors: InvalidInput for other text, and for text that was changed
  /// in more than its layout or the order of its keys.
  static arrow::Result<StagedColumns> FromJson(std::string_view json);
  std::string ToJson() const;

  uint64_t fragment_id() const;
  uint64_t read_version() const;    ///< the version that it was staged from
  uint64_t physical_rows() const;   ///< deleted ones included
  const std::string& path() const;  ///< of the file, below the table's data/
  uint64_t size_bytes() const;
  /// The fields of the file, with their ids.
  arrow::Result<TableSchema> schema() const;

  bool operator==(const StagedColumns& other) const;

 private:
  friend struct Access;
  explicit StagedColumns(std::shared_ptr<const dataset::StagedColumnsState> state)
      : state_(std::move(state)) {}

  std::shared_ptr<const dataset::StagedColumnsState> state_;
};

/// A schema of new columns, with the ids that they will have: ids after the highest one of the
/// handle's version, parents before children. Two handles may assign the same id to two columns;
/// then the second commit is refused. A struct that exists may be named with the fields to add.
///
/// Errors: InvalidInput for names that exist or are reserved.
arrow::Result<TableSchema> NewColumnSchema(const Dataset& dataset, const arrow::Schema& columns);

/// A schema of columns that the table has, by name. Errors: InvalidInput for a column that the
/// table lacks or has with another type.
arrow::Result<TableSchema> ColumnSchema(const Dataset& dataset, const arrow::Schema& columns);

struct StageOptions {
  /// The stream has live rows only. Deleted rows get nulls, or empty values if the column is not
  /// nullable.
  bool live_rows_only = false;
  /// Columns of the table from which the values were computed. The commit is refused if another
  /// writer changed one of them in the fragment meanwhile.
  std::vector<std::string> reads;
  Durability durability = Durability::kDefault;
  ProgressCallback progress;
};

/// Writes a stream with a value for each physical row of the fragment, deleted rows included, into
/// a new file. The file is on stable storage when the call returns if `durability` says so. The
/// stream may have some columns of the schema only. The values replace those of columns that exist,
/// in all rows.
///
/// Errors: InvalidInput for a fragment that does not exist, another number of rows (the message has
/// both counts), columns whose type or name is not in the schema, nulls in a column that is not
/// nullable, and ids that belong to other fields of the version; an error of the stream unchanged.
/// A call that fails leaves no file.
arrow::Result<StagedColumns> StageColumns(const Dataset& dataset, uint64_t fragment_id,
                                          std::shared_ptr<arrow::RecordBatchReader> stream,
                                          const TableSchema& schema,
                                          const StageOptions& options = {});

struct FragmentColumns {
  uint64_t fragment_id = 0;
  std::shared_ptr<arrow::RecordBatchReader> stream;
  TableSchema schema;
};

/// StageColumns for many fragments, whose files are synced in one round. Stages all of them, or
/// none.
arrow::Result<std::vector<StagedColumns>> StageColumns(const Dataset& dataset,
                                                       std::span<const FragmentColumns> columns,
                                                       const StageOptions& options = {});

/// Removes the files of staged columns. First looks for them in all versions since the staging: in
/// the transactions, and in the manifests of versions without a transaction. Errors: InvalidInput
/// if a version refers to one of the files; then all files stay.
arrow::Status Discard(const Dataset& dataset, std::span<const StagedColumns> staged);
arrow::Status Discard(const Dataset& dataset, const StagedColumns& staged);
/// The same, with the table that the staged columns name.
arrow::Status Discard(const StagedColumns& staged);

/// Rows from which values were computed, in a fragment that may be another one.
struct RowsRead {
  uint64_t fragment_id = 0;
  std::vector<std::string> columns;  ///< dotted paths
  /// Physical rows of the fragment, deleted rows included, in any order; all rows when absent.
  std::optional<std::vector<uint32_t>> rows;
};

struct CommitColumnsOptions {
  /// As in StageOptions, for all staged columns. Columns that were not named there are compared
  /// with the version that was read.
  std::vector<std::string> reads;
  /// The commit is refused if another writer changed one of the columns in these rows since the
  /// fragment was staged, or, for a fragment that was not staged, since the first one was: by a
  /// file for the whole column, an overlay of one of the rows, or an update or compaction that
  /// moved them. The version of that time must still exist.
  std::vector<RowsRead> row_reads;
  VersionOptions version;
};

/// Commits staged columns as one version, on top of the newest version. Adds new columns to the
/// schema; columns that exist are read from the new files. Rows of fragments without values for a
/// new column are null. Keeps concurrent deletes; other columns and fragments may have changed in
/// any way.
///
/// Errors: ColumnWriteConflict if the fragment no longer exists, rows moved out of it, another
/// writer changed a field that is written or read, the schema uses a field's id or name for another
/// field, or a fragment would lack values of a column that is not nullable; InvalidInput for no
/// staged columns, staged columns of another table, one field of a fragment twice, and a missing
/// file. After an error the table and the staged files are unchanged.
arrow::Result<Dataset> CommitColumns(const Dataset& dataset, std::span<const StagedColumns> staged,
                                     const CommitColumnsOptions& options = {});

/// The values of columns: expressions, or a function of batches. Other than in AddColumns, the
/// function is called on several threads at once, with all batches of a fragment on one thread, and
/// its own checkpoint must be absent.
using BackfillColumns = std::variant<std::vector<ComputedColumn>, ColumnFunction>;

struct BackfillOptions {
  /// A local folder for computed values that are not committed yet. After a failure or the end of
  /// the process, the same call continues from there. The call makes the folder, and empties it
  /// after the last commit. Without it a failed call loses its uncommitted values.
  std::optional<std::string> checkpoint;
  /// Commits a version after so many fragments; 0: one version at the end.
  uint64_t commit_every = 0;
  /// Computes columns that exist again in every row; else they are an error.
  bool overwrite = false;
  /// Fragments that are computed at one time; one for each core when absent.
  std::optional<uint64_t> num_threads;
  /// For all versions of the call. The progress counts rows of this call, and fragments as tasks.
  VersionOptions version;
};

struct BackfillResult {
  Dataset dataset;
  uint64_t fragments_committed = 0;  ///< that got values by this call's versions
  uint64_t fragments_computed = 0;   ///< by this call; one may count several times
  uint64_t fragments_resumed = 0;    ///< that an earlier call had computed
  uint64_t fragments_recomputed =
      0;                  ///< since their inputs or rows had changed; among the computed
  uint64_t versions = 0;  ///< that this call made
};

/// Computes columns in every fragment: computes fragment by fragment, stages the values, and
/// commits them. Other writers may continue. The call also computes the fragments that they add,
/// and keeps their deletes. It computes a fragment again only if another writer changed a column
/// from which the values are computed, or moved rows out of the fragment. Values that others write
/// into the computed columns are replaced.
///
/// Errors: InvalidInput for columns that exist without `overwrite`, a function that returns other
/// columns or another number of rows, `commit_every` for new columns that are not nullable, and a
/// checkpoint of another backfill; ColumnWriteConflict if the columns do not fit a changed schema;
/// an error of the function unchanged. Commits stay. Uncommitted values stay in the checkpoint;
/// without one they are removed.
arrow::Result<BackfillResult> Backfill(const Dataset& dataset, const BackfillColumns& columns,
                                       const BackfillOptions& options = {});

}  // namespace glaive
