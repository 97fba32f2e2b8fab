#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

namespace glaive::wire {

// A Substrait ExtendedExpression of one expression, whose long lists ("x is one of 1, 2, ...")
// stand beside it, so that no tree is as deep as they are long.
struct SubstraitLists {
  // The expression, then for each list what is looked for and its values, each as an expression of
  // its own. In the place of the list's test is a column behind those of the schema: the first
  // list's is column `num_columns`, and so on.
  std::string message;
  int num_columns = 0;
  std::vector<size_t> sizes;  // of the lists
};

// Takes the lists of more than `most` values out. What it does not know stays as it is.
//
// Errors: InvalidInput where the bytes are no message.
arrow::Result<SubstraitLists> TakeLongLists(std::string_view message, size_t most);

}  // namespace glaive::wire
