#pragma once

#include <arrow/datum.h>
#include <arrow/result.h>

#include "query/sql/expression.h"

namespace glaive::query {

// left op right for =, !=, <, <=, >, >=: a boolean array, or a scalar of two scalars. Null where
// either side is. Floats have a total order, as in pylance: -0.0 equals 0.0, and NaN equals itself
// and is above all other numbers (below them with its sign set).
//
// REQUIRES: sides of one type, or decimals beside exact numbers.
arrow::Result<arrow::Datum> Compare(sql::BinaryOperator op, const arrow::Datum& left,
                                    const arrow::Datum& right);

}  // namespace glaive::query
