#pragma once

#include <string_view>

#include <arrow/result.h>

#include "query/sql/expression.h"

namespace glaive::query::sql {

// Reads a whole predicate. Errors: InvalidInput that quotes the text and what was found where;
// Unsupported for the parts of SQL that are not built, by name.
arrow::Result<ExpressionPtr> Parse(std::string_view text);

}  // namespace glaive::query::sql
