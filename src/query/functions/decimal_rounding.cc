#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>

#include "core/error.h"
#include "query/functions/functions.h"
#include "query/values/checked_array.h"

namespace glaive::query {
namespace {

using TypePtr = std::shared_ptr<arrow::DataType>;

// To so many digits behind the point, half away from zero; before the point where less than none.
arrow::Decimal256 Rounded(const arrow::Decimal256& value, int32_t scale, int64_t digits) {
  if (digits >= scale) return value;
  if (scale - digits > arrow::Decimal256Type::kMaxPrecision) return {};
  const auto drop = static_cast<int32_t>(scale - digits);
  return arrow::Decimal256(value.ReduceScaleBy(drop, /*round=*/true)).IncreaseScaleBy(drop);
}

// Values of `from` as `to`, which has as many digits behind the point, or less.
struct Plan {
  std::shared_ptr<arrow::DecimalType> from;
  std::shared_ptr<arrow::DecimalType> to;
};

template <typename Array, typename Builder, typename Value>
arrow::Result<arrow::Datum> RoundRows(const arrow::Array& values, const arrow::Array& digits,
                                      const Plan& plan) {
  const auto& decimals = static_cast<const Array&>(values);
  const auto& counts = static_cast<const arrow::Int64Array&>(digits);
  Builder builder(plan.to, arrow::default_memory_pool());
  ARROW_RETURN_NOT_OK(builder.Reserve(values.length()));
  for (int64_t i = 0; i < values.length(); ++i) {
    if (values.IsNull(i) || digits.IsNull(i)) {
      builder.UnsafeAppendNull();
      continue;
    }
    const arrow::Decimal256 value{Value(decimals.GetValue(i))};
    arrow::Decimal256 rounded = Rounded(value, plan.from->scale(), counts.Value(i));
    // What is cut off are zeros.
    rounded = arrow::Decimal256(
        rounded.ReduceScaleBy(plan.from->scale() - plan.to->scale(), /*round=*/false));
    if (!rounded.FitsInPrecision(plan.to->precision())) {
      return InvalidInput("round(): {} has more than the {} digits of {}",
                          rounded.ToString(plan.to->scale()), plan.to->precision(),
                          plan.to->ToString());
    }
    if constexpr (std::is_same_v<Value, arrow::Decimal256>) {
      builder.UnsafeAppend(rounded);
    } else {
      const auto words = rounded.little_endian_array();
      builder.UnsafeAppend(arrow::Decimal128(static_cast<int64_t>(words[1]), words[0]));
    }
  }
  ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
  return arrow::Datum(std::move(result));
}

arrow::Result<arrow::Datum> Round(std::span<const arrow::Datum> arguments, int64_t num_rows,
                                  const Plan& plan) {
  ARROW_ASSIGN_OR_RAISE(const auto values, ToArray(arguments[0], num_rows));
  ARROW_ASSIGN_OR_RAISE(const auto digits, ToArray(arguments[1], num_rows));
  if (plan.from->id() == arrow::Type::DECIMAL256) {
    return RoundRows<arrow::Decimal256Array, arrow::Decimal256Builder, arrow::Decimal256>(
        *values, *digits, plan);
  }
  return RoundRows<arrow::Decimal128Array, arrow::Decimal128Builder, arrow::Decimal128>(
      *values, *digits, plan);
}

// A literal says how many digits the type needs; rounding up may need one more.
arrow::Result<Plan> PlanOf(const TypePtr& type, const BoundPtr& digits) {
  auto from = std::static_pointer_cast<arrow::DecimalType>(type);
  const bool is_wide = type->id() == arrow::Type::DECIMAL256;
  const int32_t most =
      is_wide ? arrow::Decimal256Type::kMaxPrecision : arrow::Decimal128Type::kMaxPrecision;
  int32_t scale = from->scale();
  int32_t precision = std::min(from->precision() + 1, most);
  const LiteralNode* literal = AsLiteral(digits);
  if (literal != nullptr && literal->value()->is_valid) {
    const int64_t count = static_cast<const arrow::Int64Scalar&>(*literal->value()).value;
    scale = static_cast<int32_t>(std::clamp<int64_t>(count, 0, std::max(from->scale(), 0)));
    if (from->scale() < 0) scale = from->scale();
    const bool has_room = scale < from->scale() || count >= scale || count < -from->precision();
    if (has_room) precision = from->precision();
  }
  ARROW_ASSIGN_OR_RAISE(auto to, arrow::DecimalType::Make(type->id(), precision, scale));
  return Plan{std::move(from), std::static_pointer_cast<arrow::DecimalType>(std::move(to))};
}

// The next whole number up or down.
arrow::Result<arrow::Datum> WholeRows(const arrow::Datum& value, int64_t num_rows, bool up) {
  ARROW_ASSIGN_OR_RAISE(const auto array, ToArray(value, num_rows));
  const auto& decimals = ArrayAs<arrow::Decimal256Array>(*array);
  const int32_t scale = static_cast<const arrow::DecimalType&>(*array->type()).scale();
  const arrow::Decimal256 one(arrow::Decimal256::GetScaleMultiplier(scale));
  arrow::Decimal256Builder builder(array->type(), arrow::default_memory_pool());
  ARROW_RETURN_NOT_OK(builder.Reserve(num_rows));
  for (int64_t i = 0; i < num_rows; ++i) {
    if (decimals.IsNull(i)) {
      builder.UnsafeAppendNull();
      continue;
    }
    const arrow::Decimal256 number(decimals.GetValue(i));
    ARROW_ASSIGN_OR_RAISE(const auto parts, number.Divide(one));
    const arrow::Decimal256 zero(0);
    arrow::Decimal256 whole = number + (-parts.second);
    if (up && parts.second > zero) whole += one;
    if (!up && parts.second < zero) whole += -one;
    builder.UnsafeAppend(whole);
  }
  ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
  return arrow::Datum(std::move(result));
}

}  // namespace

arrow::Result<BoundPtr> BindDecimalWhole(BoundPtr value, bool up) {
  const TypePtr type = value->type();
  const int32_t scale = static_cast<const arrow::DecimalType&>(*type).scale();
  if (scale <= 0) return value;
  const TypePtr wide = arrow::decimal256(arrow::Decimal256Type::kMaxPrecision, scale);
  const Kernel kernel = [up](std::span<const arrow::Datum> values, int64_t num_rows) {
    return WholeRows(values[0], num_rows, up);
  };
  return MakeCast(MakeKernel(kernel, {MakeCast(std::move(value), wide)}, wide), type);
}

arrow::Result<BoundPtr> BindDecimalRounding(BoundPtr value, BoundPtr digits) {
  const arrow::Type::type id = value->type()->id();
  if (id != arrow::Type::DECIMAL128 && id != arrow::Type::DECIMAL256) {
    return Unsupported("round() of {} is not built", value->type()->ToString());
  }
  ARROW_ASSIGN_OR_RAISE(const Plan plan, PlanOf(value->type(), digits));
  const Kernel kernel = [plan](std::span<const arrow::Datum> arguments, int64_t num_rows) {
    return Round(arguments, num_rows, plan);
  };
  return MakeKernel(kernel, {std::move(value), std::move(digits)}, plan.to);
}

}  // namespace glaive::query
