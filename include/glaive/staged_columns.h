#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/dataset.h"
#include "glaive/error.h"
#include "glaive/progress.h"
#include "glaive/schema.h"
#include "glaive/version_options.h"
#include "glaive/write.h"

// Writing columns of fragments that are there in two steps: values are staged, anywhere and by
// anyone, as files that nothing refers to; then many of them are committed as one version, or none
// is where one of them would put values in a place that another writer has taken meanwhile.
namespace glaive {

/// A column of a data file that holds values of a field.
struct BackingColumn {
  std::string path;  ///< below the table's data/, or below the base
  std::optional<uint32_t> base_id;
  uint32_t file_major_version = 0;
  uint32_t file_minor_version = 0;
  int32_t column_index = 0;

  bool operator==(const BackingColumn&) const = default;
};

/// The same of a file that is laid over some rows.
struct BackingOverlay {
  BackingColumn column;
  uint64_t committed_version = 0;
  uint64_t coverage = 0;  ///< hash of the bitmap that says which rows

  bool operator==(const BackingOverlay&) const = default;
};

/// What a reader of a field finds in a fragment. Nothing is a value too: all rows are null there.
struct FieldWitness {
  std::optional<BackingColumn> base;
  std::vector<BackingOverlay> overlays;  ///< oldest first

  bool empty() const { return !base && overlays.empty(); }
  std::string ToString() const;
  bool operator==(const FieldWitness&) const = default;
};

/// Why staged columns could not be committed: what is behind a field of a fragment is not what it
/// was when they were staged, or its rows are not. Always retryable: stage from the newest version.
class ColumnWriteConflict final : public ErrorDetail {
 public:
  ColumnWriteConflict(std::optional<uint64_t> fragment_id, std::string field, FieldWitness staged,
                      FieldWitness current);

  /// The detail of such an error; null for any other. It lives as long as `status`.
  static const ColumnWriteConflict* Of(const arrow::Status& status);

  /// Absent where it is the table's schema that changed.
  std::optional<uint64_t> fragment_id() const { return fragment_id_; }
  /// Dotted path; empty where all of the fragment's fields are concerned.
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
/// yet, and what it is to take the place of. An immutable value, cheap to copy; as JSON a few
/// hundred bytes beside its schema.
class StagedColumns {
 public:
  /// What ToJson gave, maybe in another process. Errors: InvalidInput for anything else, and for
  /// what was changed since; other layouts and orders of the same are none.
  static arrow::Result<StagedColumns> FromJson(std::string_view json);
  std::string ToJson() const;

  uint64_t fragment_id() const;
  uint64_t read_version() const;    ///< the version that it was staged from
  uint64_t physical_rows() const;   ///< deleted ones included
  const std::string& path() const;  ///< of the file, below the table's data/
  uint64_t size_bytes() const;
  /// The fields that it holds, with their ids.
  arrow::Result<TableSchema> schema() const;

  bool operator==(const StagedColumns& other) const;

  /// For the engine's own files; its type is not part of the API.
  struct State;
  const std::shared_ptr<const State>& state() const { return state_; }
  explicit StagedColumns(std::shared_ptr<const State> state);

 private:
  std::shared_ptr<const State> state_;
};

/// Columns that the table does not have yet, with the ids that they will have: those after the
/// highest that the handle's version knows, parents before children. Two handles may give the same
/// id to two columns; the second to be committed is refused then. Names of structs that are there
/// may be given, with the fields to add to them.
///
/// Errors: InvalidInput for names that are taken or reserved.
arrow::Result<TableSchema> NewColumnSchema(const Dataset& dataset, const arrow::Schema& columns);

/// Columns that the table has, by their names. Errors: InvalidInput for one that it lacks or that
/// is of another type there.
arrow::Result<TableSchema> ColumnSchema(const Dataset& dataset, const arrow::Schema& columns);

struct StageOptions {
  /// The stream has the live rows only. Deleted ones get nulls, or where those may not be, empty
  /// values of no size.
  bool live_rows_only = false;
  /// Columns of the table that the values were computed from: the commit is refused if one of them
  /// was changed in the fragment meanwhile.
  std::vector<std::string> reads;
  Durability durability = Durability::kDefault;
  ProgressCallback progress;
};

/// Writes a stream with a value for each physical row of the fragment, deleted ones included, into
/// a new file, which is on stable storage when this returns, as `durability` says. The stream may
/// have some of the schema's columns. Columns that the table has are rewritten whole.
///
/// Errors: InvalidInput for a fragment that is not there, another number of rows (both counts are
/// named), values of another type or name than the schema's, nulls where there may be none, and ids
/// that the version gives to other fields; an error of the stream as it is. No file is left then.
arrow::Result<StagedColumns> StageColumns(const Dataset& dataset, uint64_t fragment_id,
                                          std::shared_ptr<arrow::RecordBatchReader> stream,
                                          const TableSchema& schema,
                                          const StageOptions& options = {});

struct FragmentColumns {
  uint64_t fragment_id = 0;
  std::shared_ptr<arrow::RecordBatchReader> stream;
  TableSchema schema;
};

/// The same for many fragments, whose files are synced in one round. All are staged, or none.
arrow::Result<std::vector<StagedColumns>> StageColumns(const Dataset& dataset,
                                                       std::span<const FragmentColumns> columns,
                                                       const StageOptions& options = {});

/// Removes the files. What was committed since they were staged is looked through once for all: the
/// transactions, and the manifests of versions that do not say what they did. Errors: InvalidInput
/// where a version refers to one of them; all are kept then.
arrow::Status Discard(const Dataset& dataset, std::span<const StagedColumns> staged);
arrow::Status Discard(const Dataset& dataset, const StagedColumns& staged);
/// The same by the place that it was staged in.
arrow::Status Discard(const StagedColumns& staged);

/// Some rows of any fragment, written or not, that values were computed from.
struct RowsRead {
  uint64_t fragment_id = 0;
  std::vector<std::string> columns;  ///< dotted paths
  /// Among the fragment's physical rows, deleted ones included, in any order. Absent: all of them.
  std::optional<std::vector<uint32_t>> rows;
};

struct CommitColumnsOptions {
  /// As in StageOptions, for all that is committed. What was not said when it was staged is looked
  /// up in the version that was read.
  std::vector<std::string> reads;
  /// The commit is refused if one of the columns was changed in these rows since the fragment was
  /// staged, or where it was not, since the first of all was: by a file for the whole column, by an
  /// overlay that covers one of them, by an update or compaction that took them elsewhere. Looked
  /// up in that version, which has to be there.
  std::vector<RowsRead> row_reads;
  VersionOptions version;
};

/// Makes one version of all, on top of whatever was committed meanwhile: new columns join the
/// schema, and what is replaced in files and overlays is dead from then on. Where a fragment gets
/// no values for a new column, its rows are null. Deletes meanwhile are kept, and other columns and
/// fragments may have changed in any way.
///
/// Errors: ColumnWriteConflict where the fragment is gone, rows were moved out of it, a field that
/// is written or read is backed otherwise than it was, the schema gives a field's id or name to
/// another, or a fragment would lack values of a column that cannot be null; InvalidInput for no
/// staged columns, those of another table, one field of a fragment twice, and a file that is gone.
/// The table is unchanged then, and the staged files are as they were.
arrow::Result<Dataset> CommitColumns(const Dataset& dataset, std::span<const StagedColumns> staged,
                                     const CommitColumnsOptions& options = {});

}  // namespace glaive
