#include <algorithm>
#include <optional>
#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>

#include "core/error.h"
#include "query/cast/coercion.h"
#include "query/nodes/binder.h"
#include "query/values/checked_array.h"

namespace glaive::query {
namespace {

using arrow::Decimal256;
using sql::BinaryOperator;
using TypePtr = std::shared_ptr<arrow::DataType>;

// As DataFusion has it: sums keep all digits, products and quotients as many as fit.
struct Plan {
  int scale;      // of the result
  int precision;  // of the result
  int left_up;    // powers of ten that the sides are brought to before the operation
  int right_up;
};

Plan PlanOf(BinaryOperator op, const arrow::DecimalType& a, const arrow::DecimalType& b, int most) {
  const int scale = std::max(a.scale(), b.scale());
  const int whole = std::max(a.precision() - a.scale(), b.precision() - b.scale());
  switch (op) {
    case BinaryOperator::kMultiply:
      return {a.scale() + b.scale(), std::min(a.precision() + b.precision() + 1, most), 0, 0};
    case BinaryOperator::kDivide: {
      const int result = std::min(a.scale() + 4, most);
      const int up = result - a.scale() + b.scale();
      return {result, std::min(a.precision() + up, most), std::max(up, 0), std::max(-up, 0)};
    }
    case BinaryOperator::kModulo:
      return {
          scale,
          std::min(scale + std::min(a.precision() - a.scale(), b.precision() - b.scale()), most),
          scale - a.scale(), scale - b.scale()};
    default:
      return {scale, std::min(whole + scale + 1, most), scale - a.scale(), scale - b.scale()};
  }
}

std::optional<Decimal256> Compute(BinaryOperator op, const Decimal256& left,
                                  const Decimal256& right) {
  switch (op) {
    case BinaryOperator::kAdd: return left + right;
    case BinaryOperator::kSubtract: return left + (-right);
    case BinaryOperator::kMultiply: return left * right;
    default: break;
  }
  if (right == Decimal256(0)) return std::nullopt;
  const auto parts = left.Divide(right);
  if (!parts.ok()) return std::nullopt;
  return op == BinaryOperator::kDivide ? parts->first : parts->second;
}

arrow::Result<arrow::Datum> Rows(BinaryOperator op, const Plan& plan,
                                 std::span<const arrow::Datum> sides, int64_t num_rows) {
  ARROW_ASSIGN_OR_RAISE(const auto left, ToArray(sides[0], num_rows));
  ARROW_ASSIGN_OR_RAISE(const auto right, ToArray(sides[1], num_rows));
  const auto& a = ArrayAs<arrow::Decimal256Array>(*left);
  const auto& b = ArrayAs<arrow::Decimal256Array>(*right);
  const Decimal256 left_up(Decimal256::GetScaleMultiplier(plan.left_up));
  const Decimal256 right_up(Decimal256::GetScaleMultiplier(plan.right_up));
  arrow::Decimal256Builder builder(arrow::decimal256(76, plan.scale));
  ARROW_RETURN_NOT_OK(builder.Reserve(num_rows));
  for (int64_t i = 0; i < num_rows; ++i) {
    if (a.IsNull(i) || b.IsNull(i)) {
      builder.UnsafeAppendNull();
      continue;
    }
    const auto value =
        Compute(op, Decimal256(a.GetValue(i)) * left_up, Decimal256(b.GetValue(i)) * right_up);
    if (!value) return InvalidInput("Divide by zero error");
    if (!value->FitsInPrecision(plan.precision)) {
      return InvalidInput("{} has more digits than decimals can have", value->ToString(plan.scale));
    }
    builder.UnsafeAppend(*value);
  }
  ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
  return arrow::Datum(std::move(result));
}

}  // namespace

arrow::Result<BoundPtr> BindDecimalArithmetic(BinaryOperator op, BoundPtr left, BoundPtr right) {
  TypePtr left_type = AsDecimal(left->type());
  TypePtr right_type = AsDecimal(right->type());
  const bool wide =
      left_type->id() == arrow::Type::DECIMAL256 || right_type->id() == arrow::Type::DECIMAL256;
  // A narrow side takes the digits of both in the width of the other one; integers keep theirs.
  const auto is_decimal = [](const BoundPtr& side) {
    return arrow::is_decimal(side->type()->id());
  };
  if (left_type->id() != right_type->id() && is_decimal(left) && is_decimal(right)) {
    left_type = right_type = NumberType(left_type, right_type);
  }
  const int most =
      wide ? arrow::Decimal256Type::kMaxPrecision : arrow::Decimal128Type::kMaxPrecision;
  const auto& a = static_cast<const arrow::DecimalType&>(*left_type);
  const auto& b = static_cast<const arrow::DecimalType&>(*right_type);
  const Plan plan = PlanOf(op, a, b, most);
  if (plan.scale > most) {
    return InvalidInput("the product of {} and {} has too many digits", TypeName(a), TypeName(b));
  }
  const TypePtr type = wide ? arrow::decimal256(plan.precision, plan.scale)
                            : arrow::decimal128(plan.precision, plan.scale);
  const auto widen = [](BoundPtr side, const TypePtr& exact) {
    const int scale = static_cast<const arrow::DecimalType&>(*exact).scale();
    return MakeCast(MakeCast(std::move(side), exact), arrow::decimal256(76, scale));
  };
  const Kernel kernel = [op, plan](std::span<const arrow::Datum> sides, int64_t num_rows) {
    return Rows(op, plan, sides, num_rows);
  };
  return MakeCast(
      MakeKernel(kernel, {widen(std::move(left), left_type), widen(std::move(right), right_type)},
                 arrow::decimal256(76, plan.scale)),
      type);
}

}  // namespace glaive::query
