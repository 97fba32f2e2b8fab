#include <span>
#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "query/cast/coercion.h"
#include "query/nodes/binder.h"
#include "query/values/checked_array.h"

namespace glaive::query {
namespace {

using sql::BinaryOperator;
using TypePtr = std::shared_ptr<arrow::DataType>;

// The integer type that both sides become, or null. A uint64 stays one, so that all bits are kept;
// floats and decimals become what stands beside them.
TypePtr CommonBits(const TypePtr& left, const TypePtr& right) {
  const auto is_integer = [](const TypePtr& type) { return arrow::is_integer(type->id()); };
  const auto is_other = [](const TypePtr& type) {
    return type->id() == arrow::Type::NA || IsNumber(*type);
  };
  if (!is_integer(left)) return is_integer(right) && is_other(left) ? right : nullptr;
  if (!is_integer(right)) return is_other(right) ? left : nullptr;
  const auto is_widest = [](const TypePtr& type) { return type->id() == arrow::Type::UINT64; };
  if (is_widest(left) || is_widest(right)) return arrow::uint64();
  return NumberType(left, right);
}

// Bits that are shifted out are gone, and shifts go round the width of the type.
template <typename T>
T Operate(BinaryOperator op, T left, T right) {
  const auto by = static_cast<uint64_t>(right) % (8 * sizeof(T));
  switch (op) {
    case BinaryOperator::kShiftLeft: return static_cast<T>(static_cast<uint64_t>(left) << by);
    case BinaryOperator::kShiftRight: return static_cast<T>(left >> by);
    case BinaryOperator::kBitAnd: return static_cast<T>(left & right);
    case BinaryOperator::kBitOr: return static_cast<T>(left | right);
    default: return static_cast<T>(left ^ right);
  }
}

template <typename T>
arrow::Result<arrow::Datum> OperateRows(BinaryOperator op, const arrow::Array& left,
                                        const arrow::Array& right, const TypePtr& type) {
  using Array = typename arrow::CTypeTraits<T>::ArrayType;
  const auto& a = ArrayAs<Array>(left);
  const auto& b = ArrayAs<Array>(right);
  typename arrow::CTypeTraits<T>::BuilderType builder(type, arrow::default_memory_pool());
  ARROW_RETURN_NOT_OK(builder.Reserve(left.length()));
  for (int64_t i = 0; i < left.length(); ++i) {
    if (left.IsNull(i) || right.IsNull(i)) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(Operate<T>(op, a.Value(i), b.Value(i)));
    }
  }
  ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
  return arrow::Datum(std::move(result));
}

arrow::Result<arrow::Datum> OperateAs(BinaryOperator op, std::span<const arrow::Datum> sides,
                                      int64_t num_rows, const TypePtr& type) {
  ARROW_ASSIGN_OR_RAISE(const auto left, ToArray(sides[0], num_rows));
  ARROW_ASSIGN_OR_RAISE(const auto right, ToArray(sides[1], num_rows));
  switch (type->id()) {
    case arrow::Type::INT8: return OperateRows<int8_t>(op, *left, *right, type);
    case arrow::Type::INT16: return OperateRows<int16_t>(op, *left, *right, type);
    case arrow::Type::INT32: return OperateRows<int32_t>(op, *left, *right, type);
    case arrow::Type::INT64: return OperateRows<int64_t>(op, *left, *right, type);
    case arrow::Type::UINT8: return OperateRows<uint8_t>(op, *left, *right, type);
    case arrow::Type::UINT16: return OperateRows<uint16_t>(op, *left, *right, type);
    case arrow::Type::UINT32: return OperateRows<uint32_t>(op, *left, *right, type);
    default: return OperateRows<uint64_t>(op, *left, *right, type);
  }
}

}  // namespace

arrow::Result<BoundPtr> BindBits(BinaryOperator op, BoundPtr left, BoundPtr right) {
  const TypePtr type = CommonBits(left->type(), right->type());
  if (type == nullptr) {
    return InvalidInput("Cannot infer common type for bitwise operation {} and {}",
                        TypeName(*left->type()), TypeName(*right->type()));
  }
  const Kernel kernel = [op, type](std::span<const arrow::Datum> sides, int64_t num_rows) {
    return OperateAs(op, sides, num_rows, type);
  };
  return MakeKernel(kernel, {MakeCast(std::move(left), type), MakeCast(std::move(right), type)},
                    type);
}

}  // namespace glaive::query
