#include <array>
#include <utility>

#include <arrow/scalar.h>
#include <arrow/type.h>

#include "core/error.h"
#include "query/cast/cast.h"
#include "query/cast/coercion.h"
#include "query/functions/functions.h"
#include "query/nodes/compare.h"

// Functions of values of any type.
namespace glaive::query {
namespace {

using Arguments = std::vector<BoundPtr>;
using TypePtr = std::shared_ptr<arrow::DataType>;

// All of one type.
arrow::Status Meet(std::string_view function, Arguments& arguments) {
  const bool is_union = function == "nvl" || function == "ifnull" || function == "nvl2";
  TypePtr type = arrow::null();
  for (const BoundPtr& argument : arguments) {
    const TypePtr common =
        is_union ? UnionType(type, argument->type()) : ComparisonType(type, argument->type());
    if (common == nullptr) {
      return InvalidInput("Function '{}' failed to find a common type of {} and {}", function,
                          TypeName(*type), TypeName(*argument->type()));
    }
    type = common;
  }
  for (BoundPtr& argument : arguments) argument = MakeCast(std::move(argument), type);
  return arrow::Status::OK();
}

arrow::Result<BoundPtr> BindCoalesce(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(Meet(name, arguments));
  std::vector<BoundPtr> values;
  for (BoundPtr& argument : arguments) {
    const LiteralNode* literal = AsLiteral(argument);
    if (literal != nullptr && !literal->value()->is_valid && arguments.size() > 1) continue;
    values.push_back(std::move(argument));
    if (literal != nullptr && literal->value()->is_valid) break;  // nothing behind it is looked at
  }
  if (values.empty()) return MakeLiteral(arrow::MakeNullScalar(arguments[0]->type()));
  if (values.size() == 1) return values.front();
  return std::make_shared<CoalesceNode>(std::move(values));
}

arrow::Result<BoundPtr> BindNvl2(std::string_view name, Arguments arguments) {
  BoundPtr tested = std::move(arguments.front());
  arguments.erase(arguments.begin());
  ARROW_RETURN_NOT_OK(Meet(name, arguments));
  std::vector<CaseNode::Branch> branches;
  branches.push_back(
      {MakeCall("is_valid", {std::move(tested)}, arrow::boolean()), std::move(arguments[0])});
  return std::make_shared<CaseNode>(std::move(branches), std::move(arguments[1]));
}

arrow::Status TakeComparable(std::string_view function, const Arguments& arguments) {
  if (!arrow::is_nested(arguments[0]->type()->id())) return arrow::Status::OK();
  return Unsupported("{}() of values of type {} is not built", function,
                     TypeName(*arguments[0]->type()));
}

// Null where both are equal, else the first.
arrow::Result<BoundPtr> BindNullif(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(Meet(name, arguments));
  ARROW_RETURN_NOT_OK(TakeComparable(name, arguments));
  const TypePtr type = arguments[0]->type();
  if (type->id() == arrow::Type::NA) return arguments[0];
  const Kernel kernel = [](std::span<const arrow::Datum> values,
                           int64_t) -> arrow::Result<arrow::Datum> {
    ARROW_ASSIGN_OR_RAISE(arrow::Datum equal,
                          Compare(sql::BinaryOperator::kEqual, values[0], values[1]));
    ARROW_ASSIGN_OR_RAISE(equal, CallArrow("coalesce", {equal, arrow::Datum(false)}));
    return CallArrow("if_else",
                     {equal, arrow::Datum(arrow::MakeNullScalar(values[0].type())), values[0]});
  };
  return MakeKernel(kernel, std::move(arguments), type);
}

// Nulls do not count.
arrow::Result<BoundPtr> BindExtreme(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(Meet(name, arguments));
  ARROW_RETURN_NOT_OK(TakeComparable(name, arguments));
  const TypePtr type = arguments[0]->type();
  if (type->id() == arrow::Type::NA) return arguments[0];
  const auto op =
      name == "greatest" ? sql::BinaryOperator::kGreaterEqual : sql::BinaryOperator::kLessEqual;
  const Kernel kernel = [op](std::span<const arrow::Datum> values,
                             int64_t) -> arrow::Result<arrow::Datum> {
    arrow::Datum best = values[0];
    for (const arrow::Datum& next : values.subspan(1)) {
      ARROW_ASSIGN_OR_RAISE(const arrow::Datum wins, Compare(op, best, next));
      ARROW_ASSIGN_OR_RAISE(const arrow::Datum is_valid, arrow::compute::IsValid(best));
      ARROW_ASSIGN_OR_RAISE(const arrow::Datum next_is_null, arrow::compute::IsNull(next));
      ARROW_ASSIGN_OR_RAISE(const arrow::Datum unless_compared,
                            CallArrow("and", {is_valid, next_is_null}));
      ARROW_ASSIGN_OR_RAISE(const arrow::Datum keeps,
                            CallArrow("coalesce", {wins, unless_compared}));
      ARROW_ASSIGN_OR_RAISE(best, CallArrow("if_else", {keeps, best, next}));
    }
    return best;
  };
  return MakeKernel(kernel, std::move(arguments), type);
}

arrow::Result<BoundPtr> BindIsValid(std::string_view, Arguments arguments) {
  return MakeCall("is_valid", std::move(arguments), arrow::boolean());
}

arrow::Result<BoundPtr> BindArrowCast(std::string_view name, Arguments arguments) {
  ARROW_ASSIGN_OR_RAISE(const std::string type_name, TakeLiteral(name, arguments[1]));
  ARROW_ASSIGN_OR_RAISE(const TypePtr type, TypeNamed(type_name));
  // A number may stand for a time of day where it is written as a literal.
  const bool is_clock = type->id() == arrow::Type::TIME32;
  if (is_clock && arrow::is_integer(arguments[0]->type()->id())) {
    arguments[0] = MakeCast(std::move(arguments[0]), arrow::int32());
  }
  const arrow::DataType& from = *arguments[0]->type();
  if (!CanCast(from, *type)) return CannotCast(from, *type);
  return MakeCast(std::move(arguments[0]), type, /*is_try=*/name == "arrow_try_cast");
}

arrow::Result<BoundPtr> BindTypeof(std::string_view, Arguments arguments) {
  return MakeLiteral(std::make_shared<arrow::StringScalar>(TypeName(*arguments[0]->type())));
}

constexpr std::array<Function, 11> kFunctions = {{
    {"coalesce", 1, -1, &BindCoalesce},
    {"nvl", 2, 2, &BindCoalesce},
    {"ifnull", 2, 2, &BindCoalesce},
    {"nvl2", 3, 3, &BindNvl2},
    {"nullif", 2, 2, &BindNullif},
    {"greatest", 1, -1, &BindExtreme},
    {"least", 1, -1, &BindExtreme},
    {"is_valid", 1, 1, &BindIsValid},
    {"arrow_cast", 2, 2, &BindArrowCast},
    {"arrow_try_cast", 2, 2, &BindArrowCast},
    {"arrow_typeof", 1, 1, &BindTypeof},
}};

}  // namespace

std::span<const Function> ValueFunctions() { return kFunctions; }

}  // namespace glaive::query
