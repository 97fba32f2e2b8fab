#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/commit.h"
#include "glaive/dataset.h"
#include "glaive/scan.h"
#include "glaive/version_options.h"
#include "glaive/write.h"

// Example:
//
//     ARROW_ASSIGN_OR_RAISE(const DeleteResult deleted,
//                           Delete(dataset, Predicate::Sql("id < 10")));
//     ARROW_ASSIGN_OR_RAISE(const MergeInsertResult merged,
//                           MergeInsert(deleted.dataset, rows,
//                                       {.on = {"id"}, .when_matched = WhenMatched::kUpdateAll}));
namespace glaive {

struct DeleteOptions {
  uint32_t conflict_retries = 10;
  uint64_t retry_timeout_ms = 30'000;
  VersionOptions version;
};

struct DeleteResult {
  Dataset dataset;
  uint64_t num_deleted_rows = 0;
};

/// Deletes the rows for which `predicate` is true; a null counts as false. Merges with concurrent
/// deletes of other rows. If another writer changed a chosen row meanwhile, the call runs again on
/// the newer version. Makes a version even if no row matches, as pylance does.
arrow::Result<DeleteResult> Delete(const Dataset& dataset, const Predicate& predicate,
                                   const DeleteOptions& options = {});

/// A column of the table, and the SQL expression over a row's old values that gives its new one.
struct ColumnUpdate {
  std::string column;  ///< a top-level column, as it is spelt
  std::string sql;
};

struct UpdateOptions {
  uint32_t conflict_retries = 10;
  uint64_t retry_timeout_ms = 30'000;
  /// "2.1", "2.2", "stable": what the rows are written as; the table's own when absent.
  std::optional<std::string> data_storage_version;
  VersionOptions version;
};

struct UpdateResult {
  Dataset dataset;
  uint64_t num_updated_rows = 0;
};

/// Gives columns new values in the rows for which `where` is true, or in all. The rows move to new
/// fragments behind the others; with stable row ids they keep their ids. All expressions see the
/// old values. Values are cast to the column's type: fractions are cut off, what does not fit is an
/// error. Concurrent changes of other rows are merged; when rows it chose were changed meanwhile it
/// runs again on the newer version. Without a match there is still a new version, as in pylance.
///
/// Errors: InvalidInput for columns that are not there, expressions that do not fit, and nulls
/// where a column has none; Unsupported for columns below structs.
arrow::Result<UpdateResult> Update(const Dataset& dataset, std::span<const ColumnUpdate> updates,
                                   const std::optional<Predicate>& where = std::nullopt,
                                   const UpdateOptions& options = {});

/// Checks an update without reading rows: refuses columns, expressions and predicates that do not
/// fit the table.
arrow::Status CheckUpdate(const Dataset& dataset, std::span<const ColumnUpdate> updates,
                          const std::optional<Predicate>& where);

/// The action for rows of the table whose key the source has.
enum class WhenMatched : uint8_t {
  kDoNothing,
  kUpdateAll,  ///< they get the values of the source's columns
  kFail,
  kDelete,
};

/// The action for several rows of the source with one key.
enum class SourceDuplicates : uint8_t {
  kFail,
  kFirstSeen,  ///< the first row of each key counts; keys with nulls are never alike
};

struct MergeInsertOptions {
  /// The key columns, in upper or lower case; the table's unenforced primary key when empty.
  std::vector<std::string> on;
  WhenMatched when_matched = WhenMatched::kDoNothing;
  /// SQL over `source.x` and `target.x`. Matched rows for which it is not true stay unchanged. A
  /// bare name is a column of the source, or of the table if the source lacks it.
  std::optional<std::string> update_condition;
  /// Adds the rows of the source whose key the table does not have.
  bool insert_not_matched = false;
  /// Deletes the rows of the table whose key the source does not have: all of them, or those for
  /// which the condition, over the columns of the table, is true.
  bool delete_not_matched_by_source = false;
  std::optional<Predicate> delete_condition;
  SourceDuplicates source_duplicates = SourceDuplicates::kFail;

  uint32_t conflict_retries = 10;
  uint64_t retry_timeout_ms = 30'000;
  /// As in UpdateOptions.
  std::optional<std::string> data_storage_version;
  VersionOptions version;
};

struct MergeInsertStats {
  uint64_t num_inserted_rows = 0;
  uint64_t num_updated_rows = 0;
  uint64_t num_deleted_rows = 0;  ///< without those that were updated
  uint64_t num_skipped_duplicates = 0;
  uint64_t num_attempts = 0;
  uint64_t num_files_written = 0;
  uint64_t bytes_written = 0;  ///< in data files
};

struct MergeInsertResult {
  Dataset dataset;
  MergeInsertStats stats;
};

/// Merges a stream into a table by key, as one version. Holds the source in memory. Reads the key
/// columns of the whole table, and of the matched rows the columns that the source or a condition
/// needs. The source may lack columns: updated rows keep their values, new rows get nulls. A key
/// with a null matches nothing. Updated rows move to new fragments after the others; with stable
/// row ids they keep their ids.
///
/// The transaction records the inserted keys. If two concurrent merges insert one key, the later
/// one runs again and finds the row of the other.
///
/// Errors: InvalidInput for options that change nothing, columns that do not fit, missing keys, and
/// several rows of the source that match one row (unless kFirstSeen); AlreadyExists for a match
/// with kFail; CommitConflict after too many conflicts; an error of `source` unchanged.
arrow::Result<MergeInsertResult> MergeInsert(const Dataset& dataset,
                                             std::shared_ptr<arrow::RecordBatchReader> source,
                                             const MergeInsertOptions& options);

struct StagedMergeInsert {
  Transaction transaction;
  MergeInsertStats stats;
};

/// MergeInsert without the commit: writes the files, and returns a transaction for Commit. A
/// conflict fails that commit; the merge does not run again.
arrow::Result<StagedMergeInsert> StageMergeInsert(const Dataset& dataset,
                                                  std::shared_ptr<arrow::RecordBatchReader> source,
                                                  const MergeInsertOptions& options);

/// Errors: InvalidInput for options that change nothing for any row.
arrow::Status CheckMergeOptions(const MergeInsertOptions& options);

/// The columns that make the key, as the table spells them.
/// Errors: InvalidInput for columns that are not there, or where there is no primary key.
arrow::Result<std::vector<std::string>> MergeKeyColumns(const Dataset& dataset,
                                                        const std::vector<std::string>& on);

/// The plan of MergeInsert for a source with this schema, as text for people. The first line is
/// that of pylance.
arrow::Result<std::string> ExplainMergeInsert(const Dataset& dataset, const arrow::Schema& source,
                                              const MergeInsertOptions& options);

/// Runs MergeInsert without a commit, removes its files, and returns the plan with the counts of
/// the run.
arrow::Result<std::string> AnalyzeMergeInsert(const Dataset& dataset,
                                              std::shared_ptr<arrow::RecordBatchReader> source,
                                              const MergeInsertOptions& options);

}  // namespace glaive
