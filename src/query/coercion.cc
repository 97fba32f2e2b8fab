#include "query/coercion.h"

#include <algorithm>
#include <array>

#include <arrow/compute/cast.h>
#include <arrow/datum.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"

namespace glaive::query {
namespace {

using TypePtr = std::shared_ptr<arrow::DataType>;

bool IsFloat(const arrow::DataType& type) { return arrow::is_floating(type.id()); }
bool IsInteger(const arrow::DataType& type) { return arrow::is_integer(type.id()); }
bool IsNumber(const arrow::DataType& type) {
  return IsInteger(type) || IsFloat(type) || arrow::is_decimal(type.id());
}
bool IsText(const arrow::DataType& type) { return arrow::is_string(type.id()); }
bool IsBytes(const arrow::DataType& type) {
  return arrow::is_binary(type.id()) || type.id() == arrow::Type::FIXED_SIZE_BINARY;
}
bool IsTime(const arrow::DataType& type) {
  return arrow::is_date(type.id()) || type.id() == arrow::Type::TIMESTAMP;
}

// Whether a literal may stand for a value of that type at all; whether this one fits is for the
// cast to say.
bool MayBecome(const arrow::DataType& literal, const arrow::DataType& type) {
  switch (literal.id()) {
    case arrow::Type::BOOL: return type.id() == arrow::Type::BOOL;
    case arrow::Type::INT64:
    case arrow::Type::UINT64: return IsNumber(type);
    case arrow::Type::DOUBLE: return IsFloat(type) || arrow::is_decimal(type.id());
    case arrow::Type::STRING: return IsText(type) || IsTime(type);
    case arrow::Type::BINARY: return IsBytes(type);
    default: return false;
  }
}

// The value as DataFusion prints it: Int64(7), Utf8("x").
std::string LiteralName(const arrow::Scalar& literal) {
  const bool quoted = literal.type->id() == arrow::Type::STRING;
  const std::string quote = quoted ? "\"" : "";
  return TypeName(*literal.type) + "(" + quote + literal.ToString() + quote + ")";
}

TypePtr Integer(int bits, bool is_signed) {
  switch (bits) {
    case 8: return is_signed ? arrow::int8() : arrow::uint8();
    case 16: return is_signed ? arrow::int16() : arrow::uint16();
    case 32: return is_signed ? arrow::int32() : arrow::uint32();
    default: return is_signed ? arrow::int64() : arrow::uint64();
  }
}

// The narrowest type that holds both; decimals where that takes the sign and 64 bits.
TypePtr CommonInteger(const arrow::DataType& left, const arrow::DataType& right) {
  const bool left_signed = arrow::is_signed_integer(left.id());
  const bool right_signed = arrow::is_signed_integer(right.id());
  const int left_bits = left.bit_width();
  const int right_bits = right.bit_width();
  if (left_signed == right_signed) return Integer(std::max(left_bits, right_bits), left_signed);
  const int unsigned_bits = left_signed ? right_bits : left_bits;
  const int signed_bits = left_signed ? left_bits : right_bits;
  if (unsigned_bits == 64) return arrow::decimal256(20, 0);
  return Integer(std::max(signed_bits, 2 * unsigned_bits), true);
}

// Null for decimals beside exact numbers.
TypePtr CommonNumber(const TypePtr& left, const TypePtr& right) {
  if (left->Equals(*right)) return left;
  if (IsFloat(*left) || IsFloat(*right)) {
    const auto is_double = [](const arrow::DataType& type) {
      return type.id() == arrow::Type::DOUBLE || arrow::is_decimal(type.id());
    };
    return is_double(*left) || is_double(*right) ? arrow::float64() : arrow::float32();
  }
  if (IsInteger(*left) && IsInteger(*right)) return CommonInteger(*left, *right);
  return nullptr;
}

}  // namespace

std::string TypeName(const arrow::DataType& type) {
  struct Name {
    arrow::Type::type id;
    const char* name;
  };
  static constexpr std::array kNames = {
      Name{arrow::Type::NA, "Null"},       Name{arrow::Type::BOOL, "Boolean"},
      Name{arrow::Type::INT8, "Int8"},     Name{arrow::Type::INT16, "Int16"},
      Name{arrow::Type::INT32, "Int32"},   Name{arrow::Type::INT64, "Int64"},
      Name{arrow::Type::UINT8, "UInt8"},   Name{arrow::Type::UINT16, "UInt16"},
      Name{arrow::Type::UINT32, "UInt32"}, Name{arrow::Type::UINT64, "UInt64"},
      Name{arrow::Type::FLOAT, "Float32"}, Name{arrow::Type::DOUBLE, "Float64"},
      Name{arrow::Type::STRING, "Utf8"},   Name{arrow::Type::LARGE_STRING, "LargeUtf8"},
      Name{arrow::Type::BINARY, "Binary"}, Name{arrow::Type::LARGE_BINARY, "LargeBinary"},
      Name{arrow::Type::DATE32, "Date32"}, Name{arrow::Type::HALF_FLOAT, "Float16"},
  };
  const auto found = std::ranges::find(kNames, type.id(), &Name::id);
  return found != kNames.end() ? found->name : type.ToString();
}

arrow::Result<std::shared_ptr<arrow::Scalar>> LiteralAs(
    const std::shared_ptr<arrow::Scalar>& literal, const TypePtr& type) {
  if (literal->type->id() == arrow::Type::NA) return arrow::MakeNullScalar(type);
  if (literal->type->Equals(*type)) return literal;
  if (MayBecome(*literal->type, *type)) {
    // A float is as near as it can be; all else is exact.
    const auto options = IsFloat(*type) ? arrow::compute::CastOptions::Unsafe(type)
                                        : arrow::compute::CastOptions::Safe(type);
    auto cast = arrow::compute::Cast(arrow::Datum(literal), options);
    if (cast.ok()) return cast->scalar();
  }
  return InvalidInput("Received literal {} and could not convert to literal of type '{}'",
                      LiteralName(*literal), TypeName(*type));
}

arrow::Result<TypePtr> ComparisonType(const TypePtr& left, const TypePtr& right) {
  if (left->Equals(*right)) return left;
  if (left->id() == arrow::Type::NA) return right;
  if (right->id() == arrow::Type::NA) return left;
  if (IsNumber(*left) && IsNumber(*right)) return CommonNumber(left, right);
  if (IsText(*left) && IsText(*right)) return arrow::large_utf8();
  if (IsBytes(*left) && IsBytes(*right)) return arrow::large_binary();
  if (IsTime(*left) && IsTime(*right)) {
    return left->id() == arrow::Type::TIMESTAMP ? left : right;
  }
  return InvalidInput("Cannot infer common argument type for comparison operation {} = {}",
                      TypeName(*left), TypeName(*right));
}

arrow::Result<TypePtr> ArithmeticType(sql::BinaryOperator op, const TypePtr& left,
                                      const TypePtr& right) {
  const bool null_left = left->id() == arrow::Type::NA;
  const bool null_right = right->id() == arrow::Type::NA;
  if ((null_left || IsNumber(*left)) && (null_right || IsNumber(*right))) {
    TypePtr type = null_left ? right : null_right ? left : CommonNumber(left, right);
    if (type != nullptr && !arrow::is_decimal(type->id()) && type->id() != arrow::Type::NA) {
      return type;
    }
    // A signed number beside one of 64 bits without sign: exact where the result has no fraction.
    const bool has_fraction =
        op == sql::BinaryOperator::kDivide || op == sql::BinaryOperator::kModulo;
    if (type != nullptr && IsInteger(*left) && IsInteger(*right)) {
      return has_fraction ? arrow::float64() : type;
    }
    return Unsupported("arithmetic of {} and {} is not built in filters", TypeName(*left),
                       TypeName(*right));
  }
  return InvalidInput("Cannot coerce arithmetic expression {} and {} to valid types",
                      TypeName(*left), TypeName(*right));
}

}  // namespace glaive::query
