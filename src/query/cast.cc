#include "query/cast.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/builder.h>
#include <arrow/compute/api.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/decimal.h>

#include "core/error.h"
#include "query/coercion.h"
#include "query/text_values.h"

namespace glaive::query {
namespace {

namespace cp = arrow::compute;
using TypePtr = std::shared_ptr<arrow::DataType>;

// How the digits of a shortest representation are laid out: plain where the decimal point is at
// most so many digits to the right or left of the first one, else with an exponent.
std::string LayOut(std::string_view scientific, int max_plain, int min_plain) {
  std::string text;
  if (scientific.front() == '-') {
    text = "-";
    scientific.remove_prefix(1);
  }
  const size_t e = scientific.find('e');
  std::string digits(1, scientific.front());
  if (e > 2) digits += scientific.substr(2, e - 2);
  int exponent = 0;
  const char* begin = scientific.data() + e + 1;
  std::from_chars(*begin == '+' ? begin + 1 : begin, scientific.data() + scientific.size(),
                  exponent);
  const int point = exponent + 1;  // digits before the decimal point
  const int size = static_cast<int>(digits.size());
  if (point > max_plain || point <= min_plain) {
    text += digits.substr(0, 1);
    if (size > 1) text += "." + digits.substr(1);
    return text + "e" + std::to_string(exponent);
  }
  if (point <= 0) return text + "0." + std::string(static_cast<size_t>(-point), '0') + digits;
  if (point >= size) {
    return text + digits + std::string(static_cast<size_t>(point - size), '0') + ".0";
  }
  return text + digits.substr(0, static_cast<size_t>(point)) + "." +
         digits.substr(static_cast<size_t>(point));
}

template <typename T>
std::string TextOf(T value, int max_plain, int min_plain) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (value == 0) return std::signbit(value) ? "-0.0" : "0.0";
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
  return LayOut({buffer, static_cast<size_t>(end.ptr - buffer)}, max_plain, min_plain);
}

arrow::Status CannotCast(std::string_view value, const arrow::DataType& type) {
  return InvalidInput("Cast error: Cannot cast value '{}' to value of {} type", value,
                      TypeName(type));
}

// One value of each row, as `convert` has it; nothing is null, or an error.
template <typename Builder, typename Convert>
arrow::Result<std::shared_ptr<arrow::Array>> Rows(const arrow::Array& array, const TypePtr& type,
                                                  bool is_try, const Convert& convert) {
  Builder builder(type, arrow::default_memory_pool());
  ARROW_RETURN_NOT_OK(builder.Reserve(array.length()));
  for (int64_t i = 0; i < array.length(); ++i) {
    if (array.IsNull(i)) {
      ARROW_RETURN_NOT_OK(builder.AppendNull());
      continue;
    }
    const auto value = convert(i);
    if (value) {
      ARROW_RETURN_NOT_OK(builder.Append(*value));
    } else if (is_try) {
      ARROW_RETURN_NOT_OK(builder.AppendNull());
    } else {
      ARROW_ASSIGN_OR_RAISE(const auto scalar, array.GetScalar(i));
      return CannotCast(scalar->ToString(), *type);
    }
  }
  return builder.Finish();
}

template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value{};
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (at != end || text.empty()) return std::nullopt;
  if (error == std::errc::result_out_of_range && std::is_floating_point_v<T>) {
    const double wide = std::strtod(std::string(text).c_str(), nullptr);
    return static_cast<T>(wide);
  }
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::optional<bool> ParseBool(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  static constexpr std::array<std::string_view, 8> kTrue = {"t", "tr",  "tru", "true",
                                                            "y", "yes", "on",  "1"};
  static constexpr std::array<std::string_view, 8> kFalse = {"f", "fa", "fals", "false",
                                                             "n", "no", "off",  "0"};
  if (std::ranges::find(kTrue, lower) != kTrue.end()) return true;
  if (std::ranges::find(kFalse, lower) != kFalse.end()) return false;
  return std::nullopt;
}

// The whole part, if the integer type holds it.
template <typename T>
std::optional<T> Truncate(double value) {
  const double whole = std::trunc(value);
  constexpr double kLimit = -2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
  if (!(whole >= (std::is_signed_v<T> ? kLimit : 0.0)) || !(whole < -kLimit)) return std::nullopt;
  return static_cast<T>(whole);
}

template <typename T>
arrow::Result<std::shared_ptr<arrow::Array>> ToInteger(const arrow::Array& array,
                                                       const TypePtr& type, bool is_try) {
  using Builder = typename arrow::CTypeTraits<T>::BuilderType;
  if (arrow::is_string(array.type_id())) {
    const TextValues text(array);
    return Rows<Builder>(array, type, is_try, [&](int64_t i) { return ParseNumber<T>(text[i]); });
  }
  if (array.type_id() == arrow::Type::FLOAT) {
    const auto& values = static_cast<const arrow::FloatArray&>(array);
    return Rows<Builder>(array, type, is_try, [&](int64_t i) {
      return Truncate<T>(static_cast<double>(values.Value(i)));
    });
  }
  const auto& values = static_cast<const arrow::DoubleArray&>(array);
  return Rows<Builder>(array, type, is_try,
                       [&](int64_t i) { return Truncate<T>(values.Value(i)); });
}

arrow::Result<std::shared_ptr<arrow::Array>> ToIntegers(const arrow::Array& array,
                                                        const TypePtr& type, bool is_try) {
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

// 2024-03-05T14:00:00.123Z: with as many digits of a second as it takes, in threes.
std::string TrimFraction(std::string_view text) {
  std::string out(text);
  const size_t space = out.find(' ');
  if (space != std::string::npos) out[space] = 'T';
  const size_t dot = out.find('.');
  if (dot == std::string::npos) return out;
  const size_t end = std::min(out.find_first_not_of("0123456789", dot + 1), out.size());
  size_t kept = end - dot - 1;
  while (kept >= 3 && out.compare(dot + 1 + kept - 3, 3, "000") == 0) kept -= 3;
  return out.substr(0, kept == 0 ? dot : dot + 1 + kept) + out.substr(end);
}

bool IsStamp(const arrow::DataType& type) { return type.id() == arrow::Type::TIMESTAMP; }
bool IsClock(const arrow::DataType& type) { return arrow::is_time(type.id()); }

arrow::Result<std::shared_ptr<arrow::Array>> ToText(const arrow::Array& array,
                                                    const TypePtr& type) {
  arrow::LargeStringBuilder builder;
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum plain,
                        IsStamp(*array.type()) || IsClock(*array.type())
                            ? cp::Cast(arrow::Datum(array.data()), arrow::large_utf8())
                            : arrow::Result<arrow::Datum>(arrow::Datum(array.data())));
  const auto texts = plain.make_array();
  for (int64_t i = 0; i < array.length(); ++i) {
    if (array.IsNull(i)) {
      ARROW_RETURN_NOT_OK(builder.AppendNull());
    } else if (array.type_id() == arrow::Type::FLOAT) {
      ARROW_RETURN_NOT_OK(
          builder.Append(FloatText(static_cast<const arrow::FloatArray&>(array).Value(i))));
    } else if (array.type_id() == arrow::Type::DOUBLE) {
      ARROW_RETURN_NOT_OK(
          builder.Append(FloatText(static_cast<const arrow::DoubleArray&>(array).Value(i))));
    } else {
      ARROW_RETURN_NOT_OK(builder.Append(
          TrimFraction(static_cast<const arrow::LargeStringArray&>(*texts).GetView(i))));
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto built, builder.Finish());
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum text, cp::Cast(arrow::Datum(built), type));
  return text.make_array();
}

// A date is read of a time too, and a time of more digits than the type holds.
arrow::Result<arrow::Datum> ParseTimes(const arrow::Datum& value, const TypePtr& type) {
  auto parsed = cp::Cast(value, type);
  if (parsed.ok()) return parsed;
  const auto options = cp::CastOptions::Unsafe(type);
  const auto finest = arrow::is_time(type->id()) ? arrow::time64(arrow::TimeUnit::NANO)
                                                 : arrow::timestamp(arrow::TimeUnit::NANO);
  auto fine = cp::Cast(value, finest);
  if (fine.ok()) return cp::Cast(*fine, options);
  // With a zone of its own: Z or +01:00.
  const auto zoned = arrow::timestamp(arrow::TimeUnit::NANO, "UTC");
  auto utc = cp::Cast(value, zoned);
  if (!utc.ok() || arrow::is_time(type->id())) return parsed.status();
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum counted, cp::Cast(*utc, arrow::int64()));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum bare, cp::Cast(counted, finest));
  return cp::Cast(bare, options);
}

// A time of no zone that gets one is local to it.
arrow::Result<arrow::Datum> ToZone(const arrow::Datum& value, const TypePtr& type) {
  const auto& zoned = static_cast<const arrow::TimestampType&>(*type);
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum bare,
                        cp::Cast(value, cp::CastOptions::Unsafe(arrow::timestamp(zoned.unit()))));
  const std::string& zone = zoned.timezone();
  if (zone == "UTC" || zone == "+00:00" || zone == "Z" || zone == "Etc/UTC") {
    return cp::Cast(bare, cp::CastOptions::Unsafe(type));
  }
  ARROW_ASSIGN_OR_RAISE(
      const arrow::Datum local,
      cp::AssumeTimezone(
          bare, cp::AssumeTimezoneOptions(zone, cp::AssumeTimezoneOptions::AMBIGUOUS_EARLIEST,
                                          cp::AssumeTimezoneOptions::NONEXISTENT_EARLIEST)));
  return local;
}

// Rounds half away from zero where the scale gets less.
template <typename Decimal>
arrow::Result<std::shared_ptr<arrow::Array>> Rescale(const arrow::Array& array, const TypePtr& type,
                                                     bool is_try) {
  const auto& from = static_cast<const arrow::DecimalType&>(*array.type());
  const auto& to = static_cast<const arrow::DecimalType&>(*type);
  using Builder = std::conditional_t<std::is_same_v<Decimal, arrow::Decimal128>,
                                     arrow::Decimal128Builder, arrow::Decimal256Builder>;
  const auto& values = static_cast<const arrow::FixedSizeBinaryArray&>(array);
  const int reduce_by = from.scale() - to.scale();
  return Rows<Builder>(array, type, is_try, [&](int64_t i) -> std::optional<Decimal> {
    const Decimal value(values.GetValue(i));
    const Decimal scaled = reduce_by > 0 ? Decimal(value.ReduceScaleBy(reduce_by, /*round=*/true))
                                         : Decimal(value.IncreaseScaleBy(-reduce_by));
    if (!scaled.FitsInPrecision(to.precision())) return std::nullopt;
    if (reduce_by < 0 && Decimal(scaled.ReduceScaleBy(-reduce_by, false)) != value) {
      return std::nullopt;
    }
    return scaled;
  });
}

// The nearest to a whole number over a power of ten, which most decimals are in a double.
arrow::Result<std::shared_ptr<arrow::Array>> DecimalToFloat(const arrow::Array& array,
                                                            const TypePtr& type) {
  const double divisor =
      std::pow(10.0, static_cast<const arrow::DecimalType&>(*array.type()).scale());
  const auto& values = static_cast<const arrow::FixedSizeBinaryArray&>(array);
  const bool wide = array.type_id() == arrow::Type::DECIMAL256;
  ARROW_ASSIGN_OR_RAISE(const auto doubles,
                        (Rows<arrow::DoubleBuilder>(array, arrow::float64(), false, [&](int64_t i) {
                          const uint8_t* bytes = values.GetValue(i);
                          const double whole = wide ? arrow::Decimal256(bytes).ToDouble(0)
                                                    : arrow::Decimal128(bytes).ToDouble(0);
                          return std::optional<double>(whole / divisor);
                        })));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum cast, cp::Cast(arrow::Datum(doubles), type));
  return cast.make_array();
}

// What Arrow's own cast does as well.
arrow::Result<arrow::Datum> Plain(const arrow::Datum& value, const TypePtr& type) {
  cp::CastOptions options = cp::CastOptions::Safe(type);
  options.allow_time_truncate = true;
  options.allow_decimal_truncate = true;
  options.allow_float_truncate = true;
  return cp::Cast(value, options);
}

// Where some value cannot be cast: each by itself.
arrow::Result<arrow::Datum> OneByOne(const arrow::Array& array, const TypePtr& type) {
  arrow::ArrayVector pieces;
  for (int64_t i = 0; i < array.length(); ++i) {
    auto cast = CastValue(arrow::Datum(array.Slice(i, 1)), type, /*is_try=*/false);
    if (cast.ok()) {
      pieces.push_back(cast->make_array());
    } else {
      ARROW_ASSIGN_OR_RAISE(pieces.emplace_back(), arrow::MakeArrayOfNull(type, 1));
    }
  }
  ARROW_ASSIGN_OR_RAISE(auto whole, arrow::Concatenate(pieces));
  return arrow::Datum(std::move(whole));
}

arrow::Result<arrow::Datum> CastArray(const arrow::Array& array, const TypePtr& type, bool is_try) {
  const arrow::DataType& from = *array.type();
  const bool from_text = arrow::is_string(from.id());
  if (arrow::is_integer(type->id()) && (from_text || arrow::is_floating(from.id()))) {
    return ToIntegers(array, type, is_try);
  }
  if (from_text && arrow::is_floating(type->id())) {
    const TextValues text(array);
    if (type->id() == arrow::Type::FLOAT) {
      return Rows<arrow::FloatBuilder>(array, type, is_try,
                                       [&](int64_t i) { return ParseNumber<float>(text[i]); });
    }
    return Rows<arrow::DoubleBuilder>(array, type, is_try,
                                      [&](int64_t i) { return ParseNumber<double>(text[i]); });
  }
  if (from_text && type->id() == arrow::Type::BOOL) {
    const TextValues text(array);
    return Rows<arrow::BooleanBuilder>(array, type, is_try,
                                       [&](int64_t i) { return ParseBool(text[i]); });
  }
  if (arrow::is_string(type->id()) &&
      (from.id() == arrow::Type::FLOAT || from.id() == arrow::Type::DOUBLE || IsStamp(from) ||
       IsClock(from))) {
    return ToText(array, type);
  }
  if (from.id() == type->id() && from.id() == arrow::Type::DECIMAL128) {
    return Rescale<arrow::Decimal128>(array, type, is_try);
  }
  if (from.id() == type->id() && from.id() == arrow::Type::DECIMAL256) {
    return Rescale<arrow::Decimal256>(array, type, is_try);
  }
  const arrow::Datum value(array.data());
  if (arrow::is_integer(from.id()) && arrow::is_decimal(type->id())) {
    // By way of one that has room for all of them, as Arrow asks for.
    const TypePtr exact =
        type->id() == arrow::Type::DECIMAL128 ? arrow::decimal128(20, 0) : arrow::decimal256(20, 0);
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum whole, cp::Cast(value, exact));
    return CastValue(whole, type, is_try);
  }
  if (arrow::is_decimal(from.id()) && arrow::is_floating(type->id())) {
    return DecimalToFloat(array, type);
  }
  const bool counts = IsStamp(*type) || arrow::is_time(type->id()) || arrow::is_date(type->id());
  if (counts && arrow::is_integer(from.id())) {
    // A number of the type's ticks, of as many bits.
    const TypePtr ticks = type->byte_width() == 4 ? arrow::int32() : arrow::int64();
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum number, CastValue(value, ticks, is_try));
    return cp::Cast(number, type);
  }
  if (IsStamp(from) && IsStamp(*type) &&
      static_cast<const arrow::TimestampType&>(from).timezone().empty() &&
      !static_cast<const arrow::TimestampType&>(*type).timezone().empty()) {
    return ToZone(value, type);
  }
  auto cast =
      from_text && arrow::is_temporal(type->id()) ? ParseTimes(value, type) : Plain(value, type);
  if (!cast.ok() && is_try && array.length() > 1) return OneByOne(array, type);
  if (!cast.ok() && is_try) {
    ARROW_ASSIGN_OR_RAISE(auto nulls, arrow::MakeArrayOfNull(type, array.length()));
    return arrow::Datum(std::move(nulls));
  }
  if (!cast.ok()) return InvalidInput("Cast error: {}", cast.status().message());
  return cast;
}

}  // namespace

std::string FloatText(double value) { return TextOf(value, 16, -5); }
std::string FloatText(float value) { return TextOf(value, 13, -6); }

arrow::Result<arrow::Datum> CastValue(const arrow::Datum& value, const TypePtr& type, bool is_try) {
  if (value.type()->Equals(*type)) return value;
  if (!value.is_scalar()) return CastArray(*value.make_array(), type, is_try);
  if (!value.scalar()->is_valid) return arrow::Datum(arrow::MakeNullScalar(type));
  ARROW_ASSIGN_OR_RAISE(const auto one, arrow::MakeArrayFromScalar(*value.scalar(), 1));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum cast, CastArray(*one, type, is_try));
  ARROW_ASSIGN_OR_RAISE(auto scalar, cast.make_array()->GetScalar(0));
  return arrow::Datum(std::move(scalar));
}

}  // namespace glaive::query
