#pragma once

#include <map>
#include <span>
#include <string>

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "glaive/progress.h"
#include "glaive/write.h"

namespace glaive {

/// A column to be computed of others, row by row.
struct ComputedColumn {
  std::string name;
  std::string sql;  ///< an expression over the table's columns, as in Predicate::Sql
};

struct ColumnOptions {
  Durability durability = Durability::kDefault;
  std::map<std::string, std::string> transaction_properties;
  ProgressCallback progress;
};

/// Adds columns behind the others: a file with their values for each fragment. One version.
///
/// Errors: InvalidInput for names that are taken and expressions that cannot be; a retryable
/// CommitConflict when fragments were added or changed meanwhile.
arrow::Result<Dataset> AddColumns(const Dataset& dataset, std::span<const ComputedColumn> columns,
                                  const ColumnOptions& options = {});

/// Takes columns out of the schema, by name or by dotted path below structs. Nothing is rewritten;
/// files that hold nothing else are no longer referred to. One version.
arrow::Result<Dataset> DropColumns(const Dataset& dataset, std::span<const std::string> columns,
                                   const ColumnOptions& options = {});

}  // namespace glaive
