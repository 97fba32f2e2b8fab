#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/commit.h"
#include "glaive/dataset.h"
#include "glaive/scan.h"
#include "glaive/version_options.h"
#include "glaive/write.h"

namespace glaive {

/// What becomes of rows of the table whose key the source has as well.
enum class WhenMatched : uint8_t {
  kDoNothing,
  kUpdateAll,  ///< they get the values of the source's columns
  kFail,
  kDelete,
};

/// What becomes of rows of the source that say different things about one row of the table.
enum class SourceDuplicates : uint8_t {
  kFail,
  kFirstSeen,  ///< the first row of each key counts; keys with nulls are never alike
};

struct MergeInsertOptions {
  /// Columns that make the key, in any case; the table's unenforced primary key when empty.
  std::vector<std::string> on;
  WhenMatched when_matched = WhenMatched::kDoNothing;
  /// SQL over `source.x` and `target.x`: matched rows for which it is not true are kept as they
  /// are. A bare name is the table's column, where the source lacks it.
  std::optional<std::string> update_condition;
  /// Rows of the source whose key the table lacks are added.
  bool insert_not_matched = false;
  /// Rows of the table whose key the source lacks are deleted: all, or those for which the
  /// condition, over the table's columns, is true.
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

/// Merges a stream into a table by key, as one version. The source is held in memory; of the table
/// only the key columns are read whole, and of the rows that match what the source or a condition
/// asks for. The source may lack columns: updated rows keep them, new rows get nulls. Keys that
/// hold a null match nothing. Updated rows move to new fragments behind the others; with stable row
/// ids they keep their ids.
///
/// The transaction says which keys it inserted. Of two concurrent merges that insert one key, by
/// whatever columns, the later one runs again and finds the other's row.
///
/// Errors: InvalidInput for options that change nothing, columns that do not fit, keys that are
/// missing, and a source of which several rows match one row (unless kFirstSeen); AlreadyExists for
/// a match with kFail; CommitConflict when other writers were faster too often; an error of
/// `source` as it is.
arrow::Result<MergeInsertResult> MergeInsert(const Dataset& dataset,
                                             std::shared_ptr<arrow::RecordBatchReader> source,
                                             const MergeInsertOptions& options);

struct StagedMergeInsert {
  Transaction transaction;
  MergeInsertStats stats;
};

/// The same without the commit: the files are written, and Commit makes a version of the
/// transaction. Conflicts come to whoever commits it; it is not made again by itself.
arrow::Result<StagedMergeInsert> StageMergeInsert(const Dataset& dataset,
                                                  std::shared_ptr<arrow::RecordBatchReader> source,
                                                  const MergeInsertOptions& options);

/// InvalidInput for options that change nothing, whatever the rows.
arrow::Status CheckMergeOptions(const MergeInsertOptions& options);

/// The columns that make the key, as the table spells them.
/// Errors: InvalidInput for columns that are not there, or where there is no primary key.
arrow::Result<std::vector<std::string>> MergeKeyColumns(const Dataset& dataset,
                                                        const std::vector<std::string>& on);

/// How MergeInsert would go about a source of this schema, as text for people; the first line is as
/// pylance has it.
arrow::Result<std::string> ExplainMergeInsert(const Dataset& dataset, const arrow::Schema& source,
                                              const MergeInsertOptions& options);

/// Does the work of MergeInsert without a commit, removes its files, and says what was done.
arrow::Result<std::string> AnalyzeMergeInsert(const Dataset& dataset,
                                              std::shared_ptr<arrow::RecordBatchReader> source,
                                              const MergeInsertOptions& options);

}  // namespace glaive
