#pragma once

#include <arrow/result.h>

#include "glaive/commit.h"
#include "table/operation/operation.h"

// Operations between what users hold and what the table's layer applies.
namespace glaive::dataset {

arrow::Result<table::Operation> ToTable(const Operation& operation);
arrow::Result<Operation> FromTable(const table::Operation& operation);

arrow::Result<Transaction> FromTable(const table::Transaction& transaction);

}  // namespace glaive::dataset
