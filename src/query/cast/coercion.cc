#include "query/cast/coercion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <arrow/compute/cast.h>
#include <arrow/datum.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "query/cast/calendar.h"
#include "query/cast/cast.h"

namespace glaive::query {
namespace {

using TypePtr = std::shared_ptr<arrow::DataType>;
using Id = arrow::Type;
using Meet = TypePtr (*)(const TypePtr&, const TypePtr&);

bool IsFloat(const arrow::DataType& type) { return arrow::is_floating(type.id()); }
bool IsInteger(const arrow::DataType& type) { return arrow::is_integer(type.id()); }
bool IsDecimal(const arrow::DataType& type) { return arrow::is_decimal(type.id()); }
bool IsBytes(const arrow::DataType& type) {
  return arrow::is_binary(type.id()) || type.id() == Id::FIXED_SIZE_BINARY;
}
bool IsStamp(const arrow::DataType& type) { return type.id() == Id::TIMESTAMP; }

// Whether a literal may stand for a value of that type at all; whether this one fits is for the
// cast to say.
bool MayBecome(const arrow::DataType& literal, const arrow::DataType& type) {
  switch (literal.id()) {
    case Id::BOOL: return type.id() == Id::BOOL;
    case Id::INT8:
    case Id::INT16:
    case Id::INT32:
    case Id::UINT8:
    case Id::UINT16:
    case Id::UINT32:
    case Id::UINT64: return IsInteger(type) || IsFloat(type);
    case Id::INT64: return IsNumber(type) || type.id() == Id::TIME32;
    case Id::HALF_FLOAT:
    case Id::FLOAT:
    case Id::DOUBLE: return IsFloat(type);
    case Id::STRING:
    case Id::LARGE_STRING: return IsText(type);
    case Id::BINARY: return IsBytes(type);
    case Id::DATE32:
    case Id::DATE64: return arrow::is_date(type.id());
    case Id::TIME32:
    case Id::TIME64: return arrow::is_time(type.id());
    case Id::DECIMAL128:
    case Id::DECIMAL256:
    case Id::TIMESTAMP:
    case Id::DURATION: return type.id() == literal.id();
    case Id::LIST:
    case Id::LARGE_LIST:
    case Id::FIXED_SIZE_LIST: return IsList(type);
    default: return false;
  }
}

// The value as DataFusion prints it: Int64(7), Utf8("x").
std::string LiteralName(const arrow::Scalar& literal) {
  const bool quoted = literal.type->id() == Id::STRING;
  const std::string quote = quoted ? "\"" : "";
  return TypeName(*literal.type) + "(" + quote + literal.ToString() + quote + ")";
}

// A half has so few digits that a number may turn into 0 or infinity, which nobody means.
bool LeavesHalf(const arrow::Scalar& literal, const arrow::DataType& type) {
  if (type.id() != Id::HALF_FLOAT) return false;
  const auto cast = arrow::compute::Cast(arrow::Datum(literal.GetSharedPtr()), arrow::float64());
  if (!cast.ok()) return true;
  const double value = cast->scalar_as<arrow::DoubleScalar>().value;
  return std::isfinite(value) &&
         (std::abs(value) >= 65520 || (value != 0 && std::abs(value) < 3e-8));
}

TypePtr Integer(int bits, bool is_signed) {
  switch (bits) {
    case 8: return is_signed ? arrow::int8() : arrow::uint8();
    case 16: return is_signed ? arrow::int16() : arrow::uint16();
    case 32: return is_signed ? arrow::int32() : arrow::uint32();
    default: return is_signed ? arrow::int64() : arrow::uint64();
  }
}

// Decimals where it takes both the sign and 64 bits.
TypePtr CommonInteger(const arrow::DataType& left, const arrow::DataType& right) {
  const bool left_signed = arrow::is_signed_integer(left.id());
  const bool right_signed = arrow::is_signed_integer(right.id());
  const int left_bits = left.bit_width();
  const int right_bits = right.bit_width();
  if (left_signed == right_signed) return Integer(std::max(left_bits, right_bits), left_signed);
  const int unsigned_bits = left_signed ? right_bits : left_bits;
  const int signed_bits = left_signed ? left_bits : right_bits;
  if (unsigned_bits == 64) return arrow::decimal128(20, 0);
  return Integer(std::max(signed_bits, 2 * unsigned_bits), true);
}

TypePtr CommonDecimal(const arrow::DecimalType& left, const arrow::DecimalType& right) {
  const int scale = std::max(left.scale(), right.scale());
  const int whole = std::max(left.precision() - left.scale(), right.precision() - right.scale());
  const bool wide = left.id() == Id::DECIMAL256 || right.id() == Id::DECIMAL256;
  const int most =
      wide ? arrow::Decimal256Type::kMaxPrecision : arrow::Decimal128Type::kMaxPrecision;
  const int precision = std::min(whole + scale, most);
  return wide ? arrow::decimal256(precision, scale) : arrow::decimal128(precision, scale);
}

// The zone is the left one's where one value is chosen, and the right one's where they are
// compared.
TypePtr CommonStamp(const TypePtr& left, const TypePtr& right, bool is_union) {
  const auto& a = static_cast<const arrow::TimestampType&>(*left);
  const auto& b = static_cast<const arrow::TimestampType&>(*right);
  const bool takes_left = b.timezone().empty() || (is_union && !a.timezone().empty());
  return arrow::timestamp(std::min(a.unit(), b.unit()), takes_left ? a.timezone() : b.timezone());
}

TypePtr CommonTime(const TypePtr& left, const TypePtr& right, bool is_union) {
  if (IsStamp(*left) && IsStamp(*right)) return CommonStamp(left, right, is_union);
  const auto is_day = [](const arrow::DataType& type) { return arrow::is_date(type.id()); };
  if (is_day(*left) && is_day(*right)) return arrow::date64();
  if ((is_day(*left) && IsStamp(*right)) || (IsStamp(*left) && is_day(*right))) {
    return arrow::timestamp(arrow::TimeUnit::NANO);
  }
  return nullptr;
}

TypePtr CommonDuration(const TypePtr& left, const TypePtr& right) {
  const auto is_interval = [](const TypePtr& type) {
    return type->id() == Id::INTERVAL_MONTH_DAY_NANO;
  };
  const auto is_span = [&](const TypePtr& type) {
    return type->id() == Id::DURATION || is_interval(type);
  };
  if (!is_span(left) || !is_span(right)) return nullptr;
  if (is_interval(left) || is_interval(right)) return arrow::month_day_nano_interval();
  return arrow::duration(std::max(UnitOf(*left), UnitOf(*right)));
}

TypePtr CommonText(const TypePtr& left, const TypePtr& right) {
  if (!IsText(*left) || !IsText(*right)) return nullptr;
  const auto is_large = [](const arrow::DataType& type) { return type.id() == Id::LARGE_STRING; };
  return is_large(*left) || is_large(*right) ? arrow::large_utf8() : arrow::utf8();
}

TypePtr CommonList(const TypePtr& left, const TypePtr& right, Meet meet) {
  if (!IsList(*left) || !IsList(*right)) return nullptr;
  const TypePtr values = meet(left->field(0)->type(), right->field(0)->type());
  if (values == nullptr) return nullptr;
  const auto field = left->field(0)->WithType(values)->WithNullable(true);
  const auto is_large = [](const arrow::DataType& type) { return type.id() == Id::LARGE_LIST; };
  return is_large(*left) || is_large(*right) ? arrow::large_list(field) : arrow::list(field);
}

TypePtr TextAsTime(const TypePtr& text, const TypePtr& other) {
  if (!IsText(*text)) return nullptr;
  if (arrow::is_date(other->id()) || arrow::is_time(other->id())) return other;
  if (!IsStamp(*other)) return nullptr;
  return arrow::timestamp(arrow::TimeUnit::NANO,
                          static_cast<const arrow::TimestampType&>(*other).timezone());
}

TypePtr CommonBytes(const TypePtr& left, const TypePtr& right) {
  const bool either = IsBytes(*left) || IsBytes(*right);
  const auto fits = [](const arrow::DataType& type) { return IsBytes(type) || IsText(type); };
  if (!either || !fits(*left) || !fits(*right)) return nullptr;
  const auto is_large = [](const arrow::DataType& type) {
    return type.id() == Id::LARGE_BINARY || type.id() == Id::LARGE_STRING;
  };
  return is_large(*left) || is_large(*right) ? arrow::large_binary() : arrow::binary();
}

TypePtr Common(const TypePtr& left, const TypePtr& right, Meet meet, bool texts_win) {
  if (left->Equals(*right)) return left;
  if (IsNumber(*left) && IsNumber(*right)) return NumberType(left, right);
  if (TypePtr time = CommonTime(left, right, texts_win)) return time;
  if (TypePtr time = CommonDuration(left, right)) return time;
  if (TypePtr text = CommonText(left, right)) return text;
  if (TypePtr list = CommonList(left, right, meet)) return list;
  if (left->id() == Id::NA) return right;
  if (right->id() == Id::NA) return left;
  if (IsNumber(*left) && IsText(*right)) return texts_win ? right : left;
  if (IsText(*left) && IsNumber(*right)) return texts_win ? left : right;
  if (TypePtr time = TextAsTime(left, right)) return time;
  if (TypePtr time = TextAsTime(right, left)) return time;
  return CommonBytes(left, right);
}

}  // namespace

bool IsNumber(const arrow::DataType& type) {
  return IsInteger(type) || IsFloat(type) || IsDecimal(type);
}
bool IsText(const arrow::DataType& type) { return arrow::is_string(type.id()); }
bool IsList(const arrow::DataType& type) {
  return type.id() == Id::LIST || type.id() == Id::LARGE_LIST || type.id() == Id::FIXED_SIZE_LIST;
}

arrow::Result<std::shared_ptr<arrow::Scalar>> LiteralAs(
    const std::shared_ptr<arrow::Scalar>& literal, const TypePtr& type) {
  if (literal->type->id() == Id::NA) return arrow::MakeNullScalar(type);
  if (literal->type->Equals(*type)) return literal;
  if (MayBecome(*literal->type, *type) && !LeavesHalf(*literal, *type)) {
    // A float is as near as it can be, and times lose what is finer; all else is exact.
    auto options = IsFloat(*type) ? arrow::compute::CastOptions::Unsafe(type)
                                  : arrow::compute::CastOptions::Safe(type);
    options.allow_time_truncate = true;
    arrow::Datum value(literal);
    if (type->id() == Id::TIME32 && literal->type->id() == Id::INT64) {  // a number of its ticks
      ARROW_ASSIGN_OR_RAISE(value, CastValue(value, arrow::int32(), /*is_try=*/false));
    }
    auto cast = IsDecimal(*type) || type->id() == Id::TIME32
                    ? CastValue(value, type, /*is_try=*/false)
                    : arrow::compute::Cast(arrow::Datum(literal), options);
    if (cast.ok()) return cast->scalar();
  }
  return InvalidInput("Received literal {} and could not convert to literal of type '{}'",
                      LiteralName(*literal), TypeName(*type));
}

TypePtr NumberType(const TypePtr& left, const TypePtr& right) {
  if (left->Equals(*right)) return left;
  const auto has = [&](Id::type id) { return left->id() == id || right->id() == id; };
  // Unlike DataFusion's, decimals beside floats are compared as floats: none of them overflows.
  if (has(Id::DOUBLE)) return arrow::float64();
  if (IsFloat(*left) || IsFloat(*right)) {
    if (IsDecimal(*left) || IsDecimal(*right)) return arrow::float64();
    return has(Id::FLOAT) ? arrow::float32() : arrow::float16();
  }
  if (IsInteger(*left) && IsInteger(*right)) return CommonInteger(*left, *right);
  return CommonDecimal(static_cast<const arrow::DecimalType&>(*AsDecimal(left)),
                       static_cast<const arrow::DecimalType&>(*AsDecimal(right)));
}

TypePtr AsDecimal(const TypePtr& type) {
  if (IsDecimal(*type)) return type;
  static constexpr std::array kDigits = {3, 5, 10, 20};  // of 1, 2, 4 and 8 bytes
  const int bytes = type->byte_width();
  return arrow::decimal128(kDigits[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3], 0);
}

TypePtr ComparisonType(const TypePtr& left, const TypePtr& right) {
  return Common(left, right, &ComparisonType, /*texts_win=*/false);
}

TypePtr UnionType(const TypePtr& left, const TypePtr& right) {
  return Common(left, right, &UnionType, /*texts_win=*/true);
}

}  // namespace glaive::query
