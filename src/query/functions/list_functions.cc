#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "query/cast/coercion.h"
#include "query/functions/functions.h"
#include "query/nodes/compare.h"
#include "query/values/array_rows.h"
#include "query/values/checked_array.h"
#include "query/values/list_values.h"
#include "query/values/text_values.h"

namespace glaive::query {
namespace {

using Arguments = std::vector<BoundPtr>;
using TypePtr = std::shared_ptr<arrow::DataType>;

arrow::Status TakeList(std::string_view function, BoundPtr* argument) {
  const arrow::DataType& type = *(*argument)->type();
  if (IsList(type)) return arrow::Status::OK();
  if (IsNull(*argument)) {
    *argument = MakeLiteral(arrow::MakeNullScalar(arrow::list(arrow::null())));
    return arrow::Status::OK();
  }
  return InvalidInput("Function '{}' requires a list, but received {}", function, TypeName(type));
}

TypePtr ValueType(const BoundPtr& list) { return list->type()->field(0)->type(); }

BoundPtr WithValues(BoundPtr list, const TypePtr& values) {
  if (ValueType(list)->Equals(*values)) return list;
  const bool is_large = list->type()->id() == arrow::Type::LARGE_LIST;
  return MakeCast(std::move(list), is_large ? arrow::large_list(values) : arrow::list(values));
}

arrow::Result<arrow::Datum> TakeValues(const std::shared_ptr<arrow::Array>& values,
                                       arrow::Int64Builder* positions) {
  ARROW_ASSIGN_OR_RAISE(const auto indices, positions->Finish());
  ARROW_ASSIGN_OR_RAISE(auto taken, TakeKnownRows(*values, *indices));
  return arrow::Datum(std::move(taken));
}

// Pairs of values that are compared at once.
constexpr int64_t kPairsAtATime = int64_t{1} << 18;

// Compares values of two columns in pairs; null equals null where `nulls_match`.
class PairTest {
 public:
  PairTest(std::shared_ptr<arrow::Array> left, std::shared_ptr<arrow::Array> right,
           bool nulls_match)
      : left_(std::move(left)), right_(std::move(right)), nulls_match_(nulls_match) {}

  arrow::Status Add(int64_t left, int64_t right) {
    ARROW_RETURN_NOT_OK(left_positions_.Append(left));
    return right_positions_.Append(right);
  }
  int64_t size() const { return left_positions_.length(); }

  // Of the pairs that were added since the last time.
  arrow::Result<std::vector<bool>> Run() {
    const auto count = static_cast<size_t>(size());
    std::vector<bool> equal(count);
    if (count == 0) return equal;
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum left, TakeValues(left_, &left_positions_));
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum right, TakeValues(right_, &right_positions_));
    const auto a = left.make_array();
    const auto b = right.make_array();
    if (a->type_id() == arrow::Type::NA) {
      equal.assign(count, nulls_match_);
      return equal;
    }
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum test,
                          Compare(sql::BinaryOperator::kEqual, left, right));
    const arrow::BooleanArray result(test.array());
    for (size_t i = 0; i < count; ++i) {
      const auto row = static_cast<int64_t>(i);
      equal[i] = result.IsValid(row) ? result.Value(row)
                                     : nulls_match_ && a->IsNull(row) && b->IsNull(row);
    }
    return equal;
  }

 private:
  std::shared_ptr<arrow::Array> left_;
  std::shared_ptr<arrow::Array> right_;
  bool nulls_match_;
  arrow::Int64Builder left_positions_;
  arrow::Int64Builder right_positions_;
};

// Whether a list has a value; false for a null in it.
arrow::Result<arrow::Datum> HasRows(std::span<const arrow::Datum> arguments, int64_t num_rows) {
  ARROW_ASSIGN_OR_RAISE(const ListValues lists, ListValues::Make(arguments[0], num_rows));
  const bool is_scalar = arguments[1].is_scalar();
  ARROW_ASSIGN_OR_RAISE(const auto looked_for, ToArray(arguments[1], is_scalar ? 1 : num_rows));
  PairTest test(lists.values(), looked_for, /*nulls_match=*/false);
  std::vector<bool> has(static_cast<size_t>(num_rows));
  std::vector<int64_t> row_of;
  const auto flush = [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const auto equal, test.Run());
    for (size_t i = 0; i < equal.size(); ++i) {
      if (equal[i]) has[static_cast<size_t>(row_of[i])] = true;
    }
    row_of.clear();
    return arrow::Status::OK();
  };
  const auto is_null = [&](int64_t row) {
    return lists.IsNull(row) || looked_for->IsNull(is_scalar ? 0 : row);
  };
  for (int64_t row = 0; row < num_rows; ++row) {
    if (is_null(row)) continue;
    const auto range = lists[row];
    for (int64_t i = range.begin; i < range.end; ++i) {
      ARROW_RETURN_NOT_OK(test.Add(i, is_scalar ? 0 : row));
      row_of.push_back(row);
      if (test.size() >= kPairsAtATime) ARROW_RETURN_NOT_OK(flush());
    }
  }
  ARROW_RETURN_NOT_OK(flush());
  arrow::BooleanBuilder builder;
  for (int64_t row = 0; row < num_rows; ++row) {
    ARROW_RETURN_NOT_OK(is_null(row) ? builder.AppendNull()
                                     : builder.Append(has[static_cast<size_t>(row)]));
  }
  ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
  return arrow::Datum(std::move(result));
}

arrow::Result<BoundPtr> BindHas(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeList(name, &arguments[0]));
  if (IsNull(arguments[1])) return MakeLiteral(arrow::MakeNullScalar(arrow::boolean()));
  const TypePtr left = ValueType(arguments[0]);
  const TypePtr right = arguments[1]->type();
  const TypePtr type = IsText(*left) == IsText(*right) ? ComparisonType(left, right) : nullptr;
  if (type == nullptr) {
    return InvalidInput("Failed to coerce arguments of '{}': {}, {}", name,
                        TypeName(*arguments[0]->type()), TypeName(*right));
  }
  if (arrow::is_nested(type->id())) {
    return Unsupported("{}() of values of type {} is not built", name, TypeName(*type));
  }
  return MakeKernel(
      &HasRows,
      {WithValues(std::move(arguments[0]), type), MakeCast(std::move(arguments[1]), type)},
      arrow::boolean());
}

// Whether the first list has any of the second's values, or all of them.
arrow::Result<arrow::Datum> SetRows(std::span<const arrow::Datum> arguments, int64_t num_rows,
                                    bool all) {
  ARROW_ASSIGN_OR_RAISE(const ListValues lists, ListValues::Make(arguments[0], num_rows));
  ARROW_ASSIGN_OR_RAISE(const ListValues wanted, ListValues::Make(arguments[1], num_rows));
  PairTest test(lists.values(), wanted.values(), /*nulls_match=*/true);
  // Of each row, how many of the wanted values were found.
  std::vector<int64_t> found(static_cast<size_t>(num_rows));
  struct Pair {
    int64_t row;
    int64_t wanted;
  };
  std::vector<Pair> pairs;
  Pair last{-1, -1};  // the last that was found
  const auto flush = [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const auto equal, test.Run());
    for (size_t i = 0; i < equal.size(); ++i) {
      if (!equal[i] || (pairs[i].row == last.row && pairs[i].wanted == last.wanted)) continue;
      last = pairs[i];
      ++found[static_cast<size_t>(last.row)];
    }
    pairs.clear();
    return arrow::Status::OK();
  };
  for (int64_t row = 0; row < num_rows; ++row) {
    if (lists.IsNull(row) || wanted.IsNull(row)) continue;
    const auto range = lists[row];
    const auto of_wanted = wanted[row];
    for (int64_t value = of_wanted.begin; value < of_wanted.end; ++value) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        ARROW_RETURN_NOT_OK(test.Add(i, value));
        pairs.push_back({row, value});
        if (test.size() >= kPairsAtATime) ARROW_RETURN_NOT_OK(flush());
      }
    }
  }
  ARROW_RETURN_NOT_OK(flush());
  arrow::BooleanBuilder builder;
  for (int64_t row = 0; row < num_rows; ++row) {
    if (lists.IsNull(row) || wanted.IsNull(row)) {
      ARROW_RETURN_NOT_OK(builder.AppendNull());
    } else {
      const int64_t count = found[static_cast<size_t>(row)];
      ARROW_RETURN_NOT_OK(builder.Append(all ? count == wanted[row].size() : count > 0));
    }
  }
  ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
  return arrow::Datum(std::move(result));
}

arrow::Result<BoundPtr> BindSet(std::string_view name, Arguments arguments) {
  for (BoundPtr& argument : arguments) ARROW_RETURN_NOT_OK(TakeList(name, &argument));
  const bool all = name.ends_with("_all");
  // Whatever the type, of nothing there is nothing and all.
  const LiteralNode* second = AsLiteral(arguments[1]);
  if (second != nullptr && second->value()->is_valid &&
      static_cast<const arrow::BaseListScalar&>(*second->value()).value->length() == 0) {
    return MakeLiteral(arrow::MakeScalar(all));
  }
  const TypePtr type = ComparisonType(ValueType(arguments[0]), ValueType(arguments[1]));
  if (type == nullptr || arrow::is_nested(type->id())) {
    return InvalidInput("Failed to coerce arguments of '{}': {}, {}", name,
                        TypeName(*arguments[0]->type()), TypeName(*arguments[1]->type()));
  }
  for (BoundPtr& argument : arguments) argument = WithValues(std::move(argument), type);
  const Kernel kernel = [all](std::span<const arrow::Datum> values, int64_t num_rows) {
    return SetRows(values, num_rows, all);
  };
  return MakeKernel(kernel, std::move(arguments), arrow::boolean());
}

// A number of each row; null for a null list. `count` gets its range.
template <typename Count>
BoundPtr CountLists(BoundPtr list, const Count& count) {
  const Kernel kernel = [count](std::span<const arrow::Datum> values,
                                int64_t num_rows) -> arrow::Result<arrow::Datum> {
    ARROW_ASSIGN_OR_RAISE(const ListValues lists, ListValues::Make(values[0], num_rows));
    arrow::UInt64Builder builder;
    for (int64_t row = 0; row < num_rows; ++row) {
      ARROW_RETURN_NOT_OK(lists.IsNull(row)
                              ? builder.AppendNull()
                              : builder.Append(static_cast<uint64_t>(count(lists[row]))));
    }
    ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
    return arrow::Datum(std::move(result));
  };
  return MakeKernel(kernel, {std::move(list)}, arrow::uint64());
}

arrow::Result<BoundPtr> BindLength(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeList(name, &arguments[0]));
  if (arguments.size() > 1) {
    ARROW_RETURN_NOT_OK(TakeInteger(name, &arguments[1]));
    const LiteralNode* dimension = AsLiteral(arguments[1]);
    if (dimension == nullptr || !dimension->value()->is_valid ||
        static_cast<const arrow::Int64Scalar&>(*dimension->value()).value != 1) {
      return Unsupported("{}() of another dimension than the first is not built", name);
    }
  }
  return CountLists(std::move(arguments[0]), [](ListValues::Range range) { return range.size(); });
}

arrow::Result<BoundPtr> BindDimensions(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeList(name, &arguments[0]));
  int64_t dimensions = 0;
  for (TypePtr type = arguments[0]->type(); IsList(*type); type = type->field(0)->type()) {
    ++dimensions;
  }
  return CountLists(std::move(arguments[0]),
                    [dimensions](ListValues::Range) { return dimensions; });
}

arrow::Result<BoundPtr> BindEmpty(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeList(name, &arguments[0]));
  BoundPtr size =
      CountLists(std::move(arguments[0]), [](ListValues::Range range) { return range.size(); });
  return MakeCall("equal", {std::move(size), MakeLiteral(arrow::MakeScalar(uint64_t{0}))},
                  arrow::boolean());
}

// From 1 at the front and from -1 at the back; null where there is nothing.
arrow::Result<BoundPtr> BindElement(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeList(name, &arguments[0]));
  ARROW_RETURN_NOT_OK(TakeInteger(name, &arguments[1]));
  const TypePtr type = ValueType(arguments[0]);
  const Kernel kernel = [](std::span<const arrow::Datum> values,
                           int64_t num_rows) -> arrow::Result<arrow::Datum> {
    ARROW_ASSIGN_OR_RAISE(const ListValues lists, ListValues::Make(values[0], num_rows));
    ARROW_ASSIGN_OR_RAISE(const auto array, ToArray(values[1], num_rows));
    const auto& positions = ArrayAs<arrow::Int64Array>(*array);
    arrow::Int64Builder taken;
    for (int64_t row = 0; row < num_rows; ++row) {
      const auto range = lists.IsNull(row) ? ListValues::Range{0, 0} : lists[row];
      const int64_t at = positions.IsNull(row) ? 0 : positions.Value(row);
      if (at > 0 && at <= range.size()) {
        ARROW_RETURN_NOT_OK(taken.Append(range.begin + at - 1));
      } else if (at < 0 && at >= -range.size()) {
        ARROW_RETURN_NOT_OK(taken.Append(range.end + at));
      } else {
        ARROW_RETURN_NOT_OK(taken.AppendNull());
      }
    }
    return TakeValues(lists.values(), &taken);
  };
  return MakeKernel(kernel, std::move(arguments), type);
}

// The list [a, b, ...] of each row.
arrow::Result<BoundPtr> BindMakeArray(std::string_view name, Arguments arguments) {
  TypePtr type = arrow::null();
  for (const BoundPtr& argument : arguments) {
    const TypePtr common = UnionType(type, argument->type());
    if (common == nullptr) {
      return InvalidInput("Array expressions must have a consistent datatype. '{}' got {} and {}",
                          name, TypeName(*type), TypeName(*argument->type()));
    }
    type = common;
  }
  for (BoundPtr& argument : arguments) argument = MakeCast(std::move(argument), type);
  const TypePtr list = arrow::list(type);
  const Kernel kernel = [list, type](std::span<const arrow::Datum> values,
                                     int64_t num_rows) -> arrow::Result<arrow::Datum> {
    const auto width = static_cast<int64_t>(values.size());
    arrow::ArrayVector columns;
    for (const arrow::Datum& value : values) {
      ARROW_ASSIGN_OR_RAISE(columns.emplace_back(), ToArray(value, num_rows));
    }
    arrow::Int32Builder offsets;
    arrow::Int64Builder taken;
    for (int64_t row = 0; row < num_rows; ++row) {
      ARROW_RETURN_NOT_OK(offsets.Append(static_cast<int32_t>(row * width)));
      for (int64_t i = 0; i < width; ++i) {
        ARROW_RETURN_NOT_OK(taken.Append(i * num_rows + row));
      }
    }
    ARROW_RETURN_NOT_OK(offsets.Append(static_cast<int32_t>(num_rows * width)));
    ARROW_ASSIGN_OR_RAISE(const auto bounds, offsets.Finish());
    std::shared_ptr<arrow::Array> items;
    if (columns.empty()) {
      ARROW_ASSIGN_OR_RAISE(items, arrow::MakeArrayOfNull(type, 0));
    } else {
      ARROW_ASSIGN_OR_RAISE(const auto all, JoinRows(columns));
      ARROW_ASSIGN_OR_RAISE(const arrow::Datum in_order, TakeValues(all, &taken));
      items = in_order.make_array();
    }
    ARROW_ASSIGN_OR_RAISE(auto lists, arrow::ListArray::FromArrays(list, *bounds, *items));
    return arrow::Datum(std::move(lists));
  };
  return MakeKernel(kernel, std::move(arguments), list);
}

// Where in a list a value is for the first time, from 1; null where it is not.
arrow::Result<BoundPtr> BindPosition(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeList(name, &arguments[0]));
  const TypePtr type = ComparisonType(ValueType(arguments[0]), arguments[1]->type());
  if (type == nullptr || arrow::is_nested(type->id())) {
    return InvalidInput("Failed to coerce arguments of '{}': {}, {}", name,
                        TypeName(*arguments[0]->type()), TypeName(*arguments[1]->type()));
  }
  const Kernel kernel = [](std::span<const arrow::Datum> values,
                           int64_t num_rows) -> arrow::Result<arrow::Datum> {
    ARROW_ASSIGN_OR_RAISE(const ListValues lists, ListValues::Make(values[0], num_rows));
    ARROW_ASSIGN_OR_RAISE(const auto looked_for, ToArray(values[1], num_rows));
    PairTest test(lists.values(), looked_for, /*nulls_match=*/true);
    arrow::UInt64Builder builder;
    for (int64_t row = 0; row < num_rows; ++row) {
      const auto range = lists.IsNull(row) ? ListValues::Range{0, 0} : lists[row];
      for (int64_t i = range.begin; i < range.end; ++i) ARROW_RETURN_NOT_OK(test.Add(i, row));
    }
    ARROW_ASSIGN_OR_RAISE(const auto equal, test.Run());
    size_t next = 0;
    for (int64_t row = 0; row < num_rows; ++row) {
      const auto size = static_cast<size_t>(lists.IsNull(row) ? 0 : lists[row].size());
      size_t at = 0;
      while (at < size && !equal[next + at]) ++at;
      ARROW_RETURN_NOT_OK(at < size ? builder.Append(at + 1) : builder.AppendNull());
      next += size;
    }
    ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
    return arrow::Datum(std::move(result));
  };
  return MakeKernel(
      kernel, {WithValues(std::move(arguments[0]), type), MakeCast(std::move(arguments[1]), type)},
      arrow::uint64());
}

// The fewest digits that tell a float, without an exponent: 1, 0.5, 9223372036854776000.
template <typename T>
std::string Print(T value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value),
                                 std::chars_format::scientific);
  std::string digits(buffer.data(), end.ptr);
  const size_t at = digits.find('e');
  const int exponent = std::atoi(digits.c_str() + at + 1);
  digits.resize(at);
  std::erase(digits, '.');
  const auto whole = static_cast<size_t>(std::max(exponent + 1, 1));
  if (exponent < 0) digits.insert(0, static_cast<size_t>(-exponent), '0');
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  if (digits.size() > whole) digits.insert(whole, ".");
  return (std::signbit(value) ? "-" : "") + digits;
}

template <typename Array>
arrow::Result<std::shared_ptr<arrow::Array>> PrintFloats(const arrow::Array& values) {
  const auto& floats = ArrayAs<Array>(values);
  arrow::StringBuilder builder;
  for (int64_t i = 0; i < floats.length(); ++i) {
    ARROW_RETURN_NOT_OK(floats.IsNull(i) ? builder.AppendNull()
                                         : builder.Append(Print(floats.Value(i))));
  }
  return builder.Finish();
}

// The values in one text, without the nulls.
arrow::Result<BoundPtr> BindToText(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeList(name, &arguments[0]));
  ARROW_RETURN_NOT_OK(TakeText(name, &arguments[1]));
  const Kernel kernel = [](std::span<const arrow::Datum> values,
                           int64_t num_rows) -> arrow::Result<arrow::Datum> {
    ARROW_ASSIGN_OR_RAISE(const ListValues lists, ListValues::Make(values[0], num_rows));
    std::shared_ptr<arrow::Array> printed = lists.values();
    if (printed->type_id() == arrow::Type::DOUBLE) {
      ARROW_ASSIGN_OR_RAISE(printed, PrintFloats<arrow::DoubleArray>(*printed));
    } else if (printed->type_id() == arrow::Type::FLOAT) {
      ARROW_ASSIGN_OR_RAISE(printed, PrintFloats<arrow::FloatArray>(*printed));
    }
    const TextValues items{arrow::Datum(printed)};
    const TextValues separators(values[1]);
    arrow::StringBuilder builder;
    std::string text;
    for (int64_t row = 0; row < num_rows; ++row) {
      if (lists.IsNull(row) || separators.IsNull(row)) {
        ARROW_RETURN_NOT_OK(builder.AppendNull());
        continue;
      }
      text.clear();
      bool first = true;
      const auto range = lists[row];
      for (int64_t i = range.begin; i < range.end; ++i) {
        if (items.IsNull(i)) continue;
        if (!std::exchange(first, false)) text.append(separators[row]);
        text.append(items[i]);
      }
      ARROW_RETURN_NOT_OK(builder.Append(text));
    }
    ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
    return arrow::Datum(std::move(result));
  };
  const arrow::Type::type id = ValueType(arguments[0])->id();
  if (id != arrow::Type::DOUBLE && id != arrow::Type::FLOAT) {
    arguments[0] = WithValues(std::move(arguments[0]), arrow::utf8());
  }
  return MakeKernel(kernel,
                    {std::move(arguments[0]), MakeCast(std::move(arguments[1]), arrow::utf8())},
                    arrow::utf8());
}

constexpr std::array<Function, 30> kFunctions = {{
    {"array_has", 2, 2, &BindHas},
    {"list_has", 2, 2, &BindHas},
    {"array_contains", 2, 2, &BindHas},
    {"list_contains", 2, 2, &BindHas},
    {"array_has_any", 2, 2, &BindSet},
    {"list_has_any", 2, 2, &BindSet},
    {"arrays_overlap", 2, 2, &BindSet},
    {"array_has_all", 2, 2, &BindSet},
    {"list_has_all", 2, 2, &BindSet},
    {"array_length", 1, 2, &BindLength},
    {"list_length", 1, 2, &BindLength},
    {"cardinality", 1, 1, &BindLength},
    {"array_ndims", 1, 1, &BindDimensions},
    {"list_ndims", 1, 1, &BindDimensions},
    {"empty", 1, 1, &BindEmpty},
    {"array_empty", 1, 1, &BindEmpty},
    {"list_empty", 1, 1, &BindEmpty},
    {"array_element", 2, 2, &BindElement},
    {"list_element", 2, 2, &BindElement},
    {"array_extract", 2, 2, &BindElement},
    {"list_extract", 2, 2, &BindElement},
    {"make_array", 0, -1, &BindMakeArray},
    {"make_list", 0, -1, &BindMakeArray},
    {"array_position", 2, 2, &BindPosition},
    {"list_position", 2, 2, &BindPosition},
    {"array_indexof", 2, 2, &BindPosition},
    {"list_indexof", 2, 2, &BindPosition},
    {"array_to_string", 2, 2, &BindToText},
    {"list_to_string", 2, 2, &BindToText},
    {"array_join", 2, 2, &BindToText},
}};

}  // namespace

std::span<const Function> ListFunctions() { return kFunctions; }

}  // namespace glaive::query
