#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "query/nodes/bound_nodes.h"

// The functions of SQL, in tables by what they are about. Adding one is a row and what it binds to.
namespace glaive::query {

struct Function {
  std::string_view name;
  int min_arguments;
  int max_arguments;  // -1: any number
  // REQUIRES: as many arguments.
  arrow::Result<BoundPtr> (*bind)(std::string_view name, std::vector<BoundPtr> arguments);
};

std::span<const Function> TextFunctions();
std::span<const Function> CodeFunctions();
std::span<const Function> PatternFunctions();
std::span<const Function> NumberFunctions();
std::span<const Function> TimeFunctions();
std::span<const Function> ListFunctions();
std::span<const Function> ValueFunctions();

// round() of a decimal to int64 digits.
arrow::Result<BoundPtr> BindDecimalRounding(BoundPtr value, BoundPtr digits);
// The next whole number up or down. Rows fail whose number does not fit.
arrow::Result<BoundPtr> BindDecimalWhole(BoundPtr value, bool up);

// An argument as the type that a function takes. Errors: InvalidInput naming the function and both.
arrow::Status TakeText(std::string_view function, BoundPtr* argument);
arrow::Status TakeInteger(std::string_view function, BoundPtr* argument);  // as int64
// Numbers, dates, ... are printed.
arrow::Status TakePrinted(std::string_view function, BoundPtr* argument);
// The literal text that an argument has to be. Errors: Unsupported for a column.
arrow::Result<std::string> TakeLiteral(std::string_view function, const BoundPtr& argument);

}  // namespace glaive::query
