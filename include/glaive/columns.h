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
#include "glaive/scan.h"
#include "glaive/version_options.h"
#include "glaive/write.h"

namespace glaive {

/// Keeps what a ColumnFunction gave, so that a call that was broken off can go on later. Called on
/// the thread that made the call.
struct ColumnCheckpoint {
  std::function<arrow::Result<std::shared_ptr<arrow::RecordBatch>>(uint64_t fragment_id,
                                                                   uint64_t batch_index)>
      find_batch;  ///< null: not kept
  std::function<arrow::Status(uint64_t fragment_id, uint64_t batch_index,
                              const std::shared_ptr<arrow::RecordBatch>& batch)>
      keep_batch;
  std::function<arrow::Result<std::optional<FragmentMetadata>>(uint64_t fragment_id)> find_fragment;
  /// The fragment with its new file, whose batches are not needed any more. The file stays when
  /// the call fails.
  std::function<arrow::Status(const FragmentMetadata& fragment)> keep_fragment;
};

/// Columns that a function of batches gives: as many rows as it is given, columns as in `schema`.
/// It is called on the thread that made the call, in the order of the rows, with live rows only.
struct ColumnFunction {
  std::function<arrow::Result<std::shared_ptr<arrow::RecordBatch>>(
      const std::shared_ptr<arrow::RecordBatch>&)>
      compute;
  std::shared_ptr<arrow::Schema> schema;
  /// Columns that it is given, as in ScanOptions; all when absent.
  std::optional<std::vector<std::string>> inputs;
  uint64_t batch_rows = 1024;  ///< physical rows that it sees at a time
  std::optional<ColumnCheckpoint> checkpoint;
};

/// Columns without any value. No file is written.
struct NullColumns {
  std::shared_ptr<arrow::Schema> schema;
};

/// What to add: the last kind has a value for each live row, in the order of a scan.
using NewColumns = std::variant<std::vector<ComputedColumn>, ColumnFunction, NullColumns,
                                std::shared_ptr<arrow::RecordBatchReader>>;

/// Adds columns behind the others, and fields to structs: a file with their values for each
/// fragment. One version.
///
/// Errors: InvalidInput for names that are taken, expressions that cannot be, streams with too few
/// or too many rows, and nulls where there may be none; a retryable CommitConflict when fragments
/// were added or changed meanwhile. A call that fails leaves no file.
arrow::Result<Dataset> AddColumns(const Dataset& dataset, const NewColumns& columns,
                                  const VersionOptions& options = {});

/// Adds the columns of `stream` but its key: to each row those of the row there with the same key,
/// or nulls. Of several such rows the last counts. `left_on` may be _rowid or _rowaddr. One
/// version.
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

/// Renames columns, lets them hold nulls or not, and casts them: integers, floats, strings,
/// binaries, decimals, times and lists among themselves, where no value is lost. A column that is
/// cast gets a new field id and is rewritten; for the rest no file is. One version.
///
/// Errors: InvalidInput for what cannot be, for a cast of a column that has an index, and for nulls
/// in a column that is to have none.
arrow::Result<Dataset> AlterColumns(const Dataset& dataset,
                                    std::span<const ColumnAlteration> alterations,
                                    const VersionOptions& options = {});

/// Takes columns out of the schema, by name or by dotted path below structs. Nothing is rewritten;
/// files that hold nothing else are no longer referred to. One version.
arrow::Result<Dataset> DropColumns(const Dataset& dataset, std::span<const std::string> columns,
                                   const VersionOptions& options = {});

}  // namespace glaive
