#pragma once

#include <arrow/compute/expression.h>
#include <arrow/result.h>

#include "query/sql/expression.h"

namespace glaive::query {

// The same as SQL, so that both are evaluated in one way; null where a function of Arrow's has no
// counterpart. References are by name. Errors: InvalidInput for what is nested too deep.
arrow::Result<sql::ExpressionPtr> FromArrow(const arrow::compute::Expression& expression);

}  // namespace glaive::query
