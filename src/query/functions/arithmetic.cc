#include <utility>

#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "query/cast/coercion.h"
#include "query/nodes/binder.h"

namespace glaive::query {
namespace {

using sql::BinaryOperator;
using TypePtr = std::shared_ptr<arrow::DataType>;

arrow::Status NoArithmetic(const BoundPtr& left, const BoundPtr& right) {
  return InvalidInput("Cannot coerce arithmetic expression {} and {} to valid types",
                      TypeName(*left->type()), TypeName(*right->type()));
}

// Numbers are printed; bytes are not text.
arrow::Result<BoundPtr> BindConcat(BoundPtr left, BoundPtr right) {
  const TypePtr& a = left->type();
  const TypePtr& b = right->type();
  const auto has_text = [](const TypePtr& type) { return IsText(*type); };
  const auto fits = [](const TypePtr& type) {
    return !arrow::is_nested(type->id()) && !arrow::is_binary(type->id()) &&
           type->id() != arrow::Type::FIXED_SIZE_BINARY;
  };
  if ((!has_text(a) && !has_text(b)) || !fits(a) || !fits(b)) {
    return InvalidInput("Cannot infer common string type for string concat operation {} || {}",
                        TypeName(*a), TypeName(*b));
  }
  const bool is_large =
      a->id() == arrow::Type::LARGE_STRING || b->id() == arrow::Type::LARGE_STRING;
  const TypePtr type = is_large ? arrow::large_utf8() : arrow::utf8();
  BoundPtr separator = MakeCast(MakeLiteral(std::make_shared<arrow::StringScalar>("")), type);
  return MakeCall(
      "binary_join_element_wise",
      {MakeCast(std::move(left), type), MakeCast(std::move(right), type), std::move(separator)},
      type);
}

// The least integer divided by -1 has no value; Arrow's unchecked kernel makes it 0.
const char* KernelOf(BinaryOperator op, const arrow::DataType& type) {
  switch (op) {
    case BinaryOperator::kAdd: return "add";
    case BinaryOperator::kSubtract: return "subtract";
    case BinaryOperator::kMultiply: return "multiply";
    default: return arrow::is_integer(type.id()) ? "divide_checked" : "divide";
  }
}

}  // namespace

arrow::Result<BoundPtr> BindNegation(BoundPtr operand) {
  const arrow::Type::type id = operand->type()->id();
  if (!arrow::is_signed_integer(id) && !arrow::is_floating(id) && !arrow::is_decimal(id)) {
    return InvalidInput("Negation only supports signed numbers, not {}",
                        TypeName(*operand->type()));
  }
  TypePtr type = operand->type();
  return MakeCall("negate", {std::move(operand)}, std::move(type));
}

arrow::Result<BoundPtr> BindArithmetic(BinaryOperator op, BoundPtr left, BoundPtr right) {
  if (op == BinaryOperator::kConcat) return BindConcat(std::move(left), std::move(right));
  if (op >= BinaryOperator::kShiftLeft) return BindBits(op, std::move(left), std::move(right));
  ARROW_ASSIGN_OR_RAISE(BoundPtr of_time, BindTimeArithmetic(op, left, right));
  if (of_time != nullptr) return of_time;
  const auto fits = [](const BoundPtr& node) { return IsNumber(*node->type()) || IsNull(node); };
  if (!fits(left) || !fits(right) || (IsNull(left) && IsNull(right))) {
    return NoArithmetic(left, right);
  }
  const TypePtr type = IsNull(left)    ? right->type()
                       : IsNull(right) ? left->type()
                                       : NumberType(left->type(), right->type());
  if (arrow::is_decimal(type->id())) {
    if (IsNull(left)) left = MakeCast(std::move(left), type);
    if (IsNull(right)) right = MakeCast(std::move(right), type);
    const auto is_integer = [](const BoundPtr& side) {
      return arrow::is_integer(side->type()->id());
    };
    if (is_integer(left) && is_integer(right)) {
      left = MakeCast(std::move(left), type);
      right = MakeCast(std::move(right), type);
    }
    return BindDecimalArithmetic(op, std::move(left), std::move(right));
  }
  left = MakeCast(std::move(left), type);
  right = MakeCast(std::move(right), type);
  if (op == BinaryOperator::kModulo) return std::make_shared<ModuloNode>(left, right);
  return MakeCall(KernelOf(op, *type), {std::move(left), std::move(right)}, type);
}

}  // namespace glaive::query
