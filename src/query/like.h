#pragma once

#include <string>
#include <string_view>

#include <arrow/result.h>

#include "query/bound_expression.h"

namespace glaive::query {

// operand LIKE pattern: % stands for any characters, _ for one; `escape`, a character (the
// backslash where it is empty), takes their meaning from them.
arrow::Result<BoundPtr> BindLike(BoundPtr operand, BoundPtr pattern, bool ignore_case,
                                 const std::string& escape);

// REQUIRES: an escape of one character. Takes at most pattern times text steps.
bool MatchesLike(std::string_view text, std::string_view pattern, std::string_view escape);

}  // namespace glaive::query
