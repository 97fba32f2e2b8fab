#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include <arrow/type_traits.h>
#include <arrow/util/decimal.h>

#include "core/error.h"
#include "query/cast/kinds.h"
#include "query/values/checked_array.h"
#include "query/values/text_values.h"

// To and from decimals. The precision is checked whatever they are made of, and what goes away is
// rounded half away from zero.
namespace glaive::query {
namespace {

using arrow::Decimal128;
using arrow::Decimal256;

template <typename Decimal>
using BuilderOf = std::conditional_t<std::is_same_v<Decimal, Decimal128>, arrow::Decimal128Builder,
                                     arrow::Decimal256Builder>;

template <typename Decimal>
constexpr int kMaxPrecision =
    std::is_same_v<Decimal, Decimal128> ? arrow::Decimal128Type::kMaxPrecision
                                        : arrow::Decimal256Type::kMaxPrecision;

// Times a power of ten, or over one for negative `up`; nothing where it has more digits than the
// precision allows. Scales lie within 76 digits of zero.
template <typename Decimal>
std::optional<Decimal> Shift(const Decimal& value, int up, int precision) {
  if (up < 0) {
    if (-up > kMaxPrecision<Decimal>) return Decimal(0);
    const Decimal rounded(value.ReduceScaleBy(-up, /*round=*/true));
    return rounded.FitsInPrecision(precision) ? std::optional(rounded) : std::nullopt;
  }
  if (up <= kMaxPrecision<Decimal> && value == Decimal(0)) return value;
  // What fits afterwards fitted before with so many digits less: nothing overflows on the way.
  if (up >= precision || !value.FitsInPrecision(precision - up)) return std::nullopt;
  return Decimal(value.IncreaseScaleBy(up));
}

// Of a decimal of any width; Decimal256 where it takes that.
Decimal256 WideValue(const arrow::FixedSizeBinaryArray& values, bool is_wide, int64_t row) {
  const uint8_t* bytes = values.GetValue(row);
  return is_wide ? Decimal256(bytes) : Decimal256(Decimal128(bytes));
}

Decimal128 Narrow(const Decimal256& value) {
  const auto& words = value.little_endian_array();
  return Decimal128(static_cast<int64_t>(words[1]), words[0]);
}

template <typename Decimal>
std::optional<Decimal> Narrowed(const std::optional<Decimal256>& value) {
  if constexpr (std::is_same_v<Decimal, Decimal256>) {
    return value;
  } else {
    return value ? std::optional(Narrow(*value)) : std::nullopt;
  }
}

// Ten to some power as Rust's powi() has it, which is what pylance multiplies with: from 1e23 on it
// may be another double than the literal.
double PowerOfTen(int exponent) {
  double result = 1;
  double base = 10;
  for (int rest = std::abs(exponent); rest != 0; rest /= 2) {
    if (rest % 2 != 0) result *= base;
    base *= base;
  }
  return exponent < 0 ? 1 / result : result;
}

// A whole number as a decimal of 256 bits.
std::optional<Decimal256> FromWhole(double whole) {
  if (!std::isfinite(whole) || std::abs(whole) >= 0x1p255) return std::nullopt;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(whole), &exponent);
  if (exponent <= 62) return Decimal256(static_cast<int64_t>(whole));
  Decimal256 value(static_cast<int64_t>(std::ldexp(fraction, 62)));
  value <<= static_cast<uint32_t>(exponent - 62);
  return whole < 0 ? Decimal256(-value) : value;
}

bool IsDigits(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Nothing if there are too many.
std::optional<Decimal256> FromDigits(std::string_view digits) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return Decimal256(0);
  if (digits.size() > arrow::Decimal256Type::kMaxPrecision) return std::nullopt;
  const auto value = Decimal256::FromString(digits);
  return value.ok() ? std::optional(*value) : std::nullopt;
}

// "-12.345"; no exponent. No digits at all count as zero, unless the type has no fraction either.
std::optional<Decimal256> ParseDecimal(std::string_view text, int precision, int scale) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  text = text.substr(0, text.find_last_not_of(kBlanks) + 1);
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction = point == text.size() ? "" : text.substr(point + 1);
  if (!IsDigits(whole) || !IsDigits(fraction)) return std::nullopt;
  if (whole.empty() && fraction.empty() && scale == 0) return std::nullopt;
  const auto kept = static_cast<size_t>(scale);
  if (fraction.size() > kept && !FromDigits(fraction)) return std::nullopt;
  std::string digits(whole);
  digits += fraction.substr(0, kept);
  digits.append(kept - std::min(kept, fraction.size()), '0');
  auto value = FromDigits(digits);
  if (!value) return std::nullopt;
  // One digit more than is kept says how to round.
  if (fraction.size() > kept && fraction[kept] >= '5') *value += Decimal256(1);
  if (!value->FitsInPrecision(precision)) return std::nullopt;
  return is_negative ? Decimal256(-*value) : *value;
}

template <typename Decimal>
arrow::Result<ArrayPtr> ToDecimal(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  using Builder = BuilderOf<Decimal>;
  const auto& to = static_cast<const arrow::DecimalType&>(*type);
  const int precision = to.precision();
  const int scale = to.scale();
  if (arrow::is_string(array->type_id())) {
    const TextValues text(*array);
    return CastRows<Builder>(*array, type, is_try, [&](int64_t i) {
      return Narrowed<Decimal>(scale < 0 ? std::nullopt : ParseDecimal(text[i], precision, scale));
    });
  }
  if (arrow::is_floating(array->type_id())) {
    ARROW_ASSIGN_OR_RAISE(const auto doubles, CastToFloat(array, arrow::float64(), is_try));
    const auto& values = ArrayAs<arrow::DoubleArray>(*doubles);
    const double up = PowerOfTen(scale);
    return CastRows<Builder>(*array, type, is_try, [&](int64_t i) {
      auto whole = FromWhole(std::round(up * values.Value(i)));
      if (whole && !whole->FitsInPrecision(precision)) whole = std::nullopt;
      return Narrowed<Decimal>(whole);
    });
  }
  if (arrow::is_decimal(array->type_id())) {
    const int from_scale = static_cast<const arrow::DecimalType&>(*array->type()).scale();
    const bool is_wide = array->type_id() == arrow::Type::DECIMAL256;
    const auto& values = ArrayAs<arrow::FixedSizeBinaryArray>(*array);
    if (std::is_same_v<Decimal, Decimal128> && !is_wide) {  // no need of the wider, slower one
      return CastRows<Builder>(*array, type, is_try, [&](int64_t i) {
        return Shift(Decimal(values.GetValue(i)), scale - from_scale, precision);
      });
    }
    return CastRows<Builder>(*array, type, is_try, [&](int64_t i) {
      return Narrowed<Decimal>(Shift(WideValue(values, is_wide, i), scale - from_scale, precision));
    });
  }
  const auto from_integers = [&](const auto& values) {
    return CastRows<Builder>(*array, type, is_try, [&](int64_t i) {
      const auto number = values.Value(i);
      if (scale < 0) {  // integers lose digits without being rounded
        const Decimal256 divisor(Decimal256::GetScaleMultiplier(-scale));
        return Narrowed<Decimal>(Decimal256(Decimal256(number) / divisor));
      }
      return Shift(Decimal(number), scale, precision);
    });
  };
  if (arrow::is_unsigned_integer(array->type_id())) {
    ARROW_ASSIGN_OR_RAISE(const auto wide, CastToInteger(array, arrow::uint64(), is_try));
    return from_integers(ArrayAs<arrow::UInt64Array>(*wide));
  }
  ARROW_ASSIGN_OR_RAISE(const auto wide, CastToInteger(array, arrow::int64(), is_try));
  return from_integers(ArrayAs<arrow::Int64Array>(*wide));
}

template <typename T>
arrow::Result<ArrayPtr> ToInteger(const arrow::Array& array, const TypePtr& type, bool is_try) {
  const int scale = static_cast<const arrow::DecimalType&>(*array.type()).scale();
  const bool is_wide = array.type_id() == arrow::Type::DECIMAL256;
  const auto& values = ArrayAs<arrow::FixedSizeBinaryArray>(array);
  const Decimal256 power(Decimal256::GetScaleMultiplier(std::abs(scale)));
  const auto to_whole = [&](int64_t i) -> std::optional<Decimal256> {
    const Decimal256 value = WideValue(values, is_wide, i);
    if (scale > 0) return Decimal256(value / power);
    return Shift(value, -scale, arrow::Decimal256Type::kMaxPrecision);
  };
  using Builder = typename arrow::CTypeTraits<T>::BuilderType;
  return CastRows<Builder>(array, type, is_try, [&](int64_t i) -> std::optional<T> {
    const auto whole = to_whole(i);
    if (!whole || !whole->FitsInPrecision(arrow::Decimal128Type::kMaxPrecision)) {
      return std::nullopt;
    }
    const Decimal128 narrow = Narrow(*whole);
    const bool fits = narrow >= Decimal128(std::numeric_limits<T>::min()) &&
                      narrow <= Decimal128(std::numeric_limits<T>::max());
    return fits ? std::optional(static_cast<T>(narrow.low_bits())) : std::nullopt;
  });
}

// The nearest double.
double ToDouble(const Decimal256& value) {
  const bool is_negative = value.IsNegative();
  const auto words = Decimal256(Decimal256::Abs(value)).little_endian_array();
  size_t top = 3;
  while (top > 0 && words[top] == 0) --top;
  if (top == 0) return is_negative ? -static_cast<double>(words[0]) : static_cast<double>(words[0]);
  // The highest 64 bits, of which the lowest tells whether there is more below: so the one rounding
  // is right.
  const int shift = __builtin_clzll(words[top]);
  uint64_t high = words[top] << shift;
  if (shift > 0) high |= words[top - 1] >> (64 - shift);
  bool more = shift > 0 ? (words[top - 1] << shift) != 0 : words[top - 1] != 0;
  for (size_t i = 0; i + 1 < top; ++i) more = more || words[i] != 0;
  const double rounded = static_cast<double>(high | static_cast<uint64_t>(more));
  const double scaled = std::ldexp(rounded, static_cast<int>(top) * 64 - shift);
  return is_negative ? -scaled : scaled;
}

}  // namespace

arrow::Result<ArrayPtr> CastToDecimal(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  if (IsTime(*array->type())) {
    ARROW_ASSIGN_OR_RAISE(const auto ticks, TicksOf(array));
    return CastToDecimal(ticks, type, is_try);
  }
  return type->id() == arrow::Type::DECIMAL128 ? ToDecimal<Decimal128>(array, type, is_try)
                                               : ToDecimal<Decimal256>(array, type, is_try);
}

arrow::Result<ArrayPtr> CastDecimalToInteger(const arrow::Array& array, const TypePtr& type,
                                             bool is_try) {
  switch (type->id()) {
    case arrow::Type::INT8: return ToInteger<int8_t>(array, type, is_try);
    case arrow::Type::INT16: return ToInteger<int16_t>(array, type, is_try);
    case arrow::Type::INT32: return ToInteger<int32_t>(array, type, is_try);
    case arrow::Type::INT64: return ToInteger<int64_t>(array, type, is_try);
    case arrow::Type::UINT8: return ToInteger<uint8_t>(array, type, is_try);
    case arrow::Type::UINT16: return ToInteger<uint16_t>(array, type, is_try);
    case arrow::Type::UINT32: return ToInteger<uint32_t>(array, type, is_try);
    default: return ToInteger<uint64_t>(array, type, is_try);
  }
}

arrow::Result<ArrayPtr> CastDecimalToDouble(const arrow::Array& array) {
  const double divisor = PowerOfTen(static_cast<const arrow::DecimalType&>(*array.type()).scale());
  const bool is_wide = array.type_id() == arrow::Type::DECIMAL256;
  const auto& values = ArrayAs<arrow::FixedSizeBinaryArray>(array);
  return CastRows<arrow::DoubleBuilder>(array, arrow::float64(), false, [&](int64_t i) {
    return std::optional(ToDouble(WideValue(values, is_wide, i)) / divisor);
  });
}

}  // namespace glaive::query
