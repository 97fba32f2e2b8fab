#include "query/functions/functions.h"

#include <algorithm>
#include <array>

#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "query/cast/coercion.h"
#include "query/nodes/binder.h"

namespace glaive::query {
namespace {

// Known to pylance, and not here.
constexpr auto kNotBuilt = std::to_array<std::string_view>({"array_any_match",
                                                            "array_any_value",
                                                            "array_append",
                                                            "array_cat",
                                                            "array_compact",
                                                            "array_concat",
                                                            "array_dims",
                                                            "array_distance",
                                                            "array_distinct",
                                                            "array_except",
                                                            "array_filter",
                                                            "array_intersect",
                                                            "array_normalize",
                                                            "array_pop_back",
                                                            "array_pop_front",
                                                            "array_prepend",
                                                            "array_push_back",
                                                            "array_push_front",
                                                            "array_remove",
                                                            "array_remove_all",
                                                            "array_remove_n",
                                                            "array_repeat",
                                                            "array_replace",
                                                            "array_replace_all",
                                                            "array_replace_n",
                                                            "array_resize",
                                                            "array_reverse",
                                                            "array_slice",
                                                            "array_sort",
                                                            "array_transform",
                                                            "array_union",
                                                            "arrays_zip",
                                                            "arrow_field",
                                                            "arrow_metadata",
                                                            "chr",
                                                            "cosine_distance",
                                                            "date_format",
                                                            "digest",
                                                            "element_at",
                                                            "factorial",
                                                            "find_in_set",
                                                            "flatten",
                                                            "gen_series",
                                                            "generate_series",
                                                            "inner_product",
                                                            "json_array_contains",
                                                            "json_array_length",
                                                            "json_exists",
                                                            "json_extract",
                                                            "json_get",
                                                            "json_get_bool",
                                                            "json_get_float",
                                                            "json_get_int",
                                                            "json_get_string",
                                                            "levenshtein",
                                                            "map",
                                                            "map_entries",
                                                            "map_extract",
                                                            "map_keys",
                                                            "map_values",
                                                            "make_date",
                                                            "make_time",
                                                            "md5",
                                                            "named_struct",
                                                            "overlay",
                                                            "random",
                                                            "range",
                                                            "regexp_instr",
                                                            "row",
                                                            "sha224",
                                                            "sha256",
                                                            "sha384",
                                                            "sha512",
                                                            "string_to_array",
                                                            "string_to_list",
                                                            "struct",
                                                            "substr_index",
                                                            "substring_index",
                                                            "to_char",
                                                            "to_local_time",
                                                            "to_time",
                                                            "union_extract",
                                                            "union_tag",
                                                            "uuid",
                                                            "version",
                                                            "with_metadata",
                                                            "st_distance",
                                                            "st_intersects"});

// Of many rows, which no row has a value of.
constexpr auto kAggregates = std::to_array<std::string_view>(
    {"sum", "min", "max", "avg", "mean", "count", "median", "stddev", "var", "array_agg",
     "first_value", "last_value", "bool_and", "bool_or", "string_agg", "approx_distinct"});

const Function* Find(std::string_view name) {
  for (const auto table : {TextFunctions(), CodeFunctions(), PatternFunctions(), NumberFunctions(),
                           TimeFunctions(), ListFunctions(), ValueFunctions()}) {
    const auto found = std::ranges::find(table, name, &Function::name);
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

arrow::Status Mismatch(std::string_view function, std::string_view expected,
                       const BoundPtr& argument) {
  return InvalidInput("Function '{}' requires {}, but received {}", function, expected,
                      TypeName(*argument->type()));
}

}  // namespace

arrow::Status TakeText(std::string_view function, BoundPtr* argument) {
  if (IsNull(*argument)) *argument = MakeCast(std::move(*argument), arrow::utf8());
  if (IsText(*(*argument)->type())) return arrow::Status::OK();
  return Mismatch(function, "String", *argument);
}

arrow::Status TakeInteger(std::string_view function, BoundPtr* argument) {
  const arrow::DataType& type = *(*argument)->type();
  if (!arrow::is_integer(type.id()) && !IsNull(*argument)) {
    return Mismatch(function, "Int64", *argument);
  }
  *argument = MakeCast(std::move(*argument), arrow::int64());
  return arrow::Status::OK();
}

arrow::Status TakePrinted(std::string_view function, BoundPtr* argument) {
  const arrow::DataType& type = *(*argument)->type();
  if (IsText(type)) return arrow::Status::OK();
  if (arrow::is_nested(type.id()) || arrow::is_binary(type.id()) ||
      type.id() == arrow::Type::FIXED_SIZE_BINARY) {
    return Mismatch(function, "String", *argument);
  }
  *argument = MakeCast(std::move(*argument), arrow::utf8());
  return arrow::Status::OK();
}

arrow::Result<std::string> TakeLiteral(std::string_view function, const BoundPtr& argument) {
  const LiteralNode* literal = AsLiteral(argument);
  if (literal == nullptr) {
    return Unsupported("{}() of an argument that is not a literal is not built", function);
  }
  if (!IsText(*argument->type()) || !literal->value()->is_valid) {
    return Mismatch(function, "String", argument);
  }
  return literal->value()->ToString();
}

arrow::Result<BoundPtr> BindFunction(const std::string& name, std::vector<BoundPtr> arguments) {
  const Function* function = Find(name);
  if (function == nullptr) {
    if (std::ranges::find(kNotBuilt, name) != kNotBuilt.end()) {
      return Unsupported("the function '{}' is not built", name);
    }
    if (std::ranges::find(kAggregates, name) != kAggregates.end()) {
      return InvalidInput("{}() is of many rows, an expression is of one", name);
    }
    return InvalidInput("Invalid function '{}'", name);
  }
  const auto count = static_cast<int>(arguments.size());
  if (count < function->min_arguments ||
      (function->max_arguments >= 0 && count > function->max_arguments)) {
    return InvalidInput("Function '{}' expects {} arguments but received {}", name,
                        function->min_arguments, count);
  }
  return function->bind(name, std::move(arguments));
}

}  // namespace glaive::query
