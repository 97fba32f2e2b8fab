#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "glaive/scan.h"
#include "glaive/version_options.h"
#include "glaive/write.h"

namespace glaive {

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

/// What Update would refuse before it reads a row: columns, expressions and predicates that do not
/// fit the table.
arrow::Status CheckUpdate(const Dataset& dataset, std::span<const ColumnUpdate> updates,
                          const std::optional<Predicate>& where);

}  // namespace glaive
