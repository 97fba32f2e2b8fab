#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <arrow/compute/cast.h>
#include <arrow/type_traits.h>
#include <arrow/util/float16.h>

#include "query/cast/kinds.h"
#include "query/values/checked_array.h"
#include "query/values/text_values.h"

// Booleans, integers and floats.
namespace glaive::query {
namespace {

namespace cp = arrow::compute;

// By Arrow, where nothing can fail or the caller looks at what did.
arrow::Result<ArrayPtr> Plain(const ArrayPtr& array, const TypePtr& type, bool is_safe) {
  const auto options = is_safe ? cp::CastOptions::Safe(type) : cp::CastOptions::Unsafe(type);
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum cast, cp::Cast(arrow::Datum(array), options));
  return cast.make_array();
}

std::optional<bool> ParseBool(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(begin);
  text = text.substr(0, text.find_last_not_of(kBlanks) + 1);
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  static constexpr std::array<std::string_view, 9> kTrue = {"t",  "tr",  "tru", "true", "y",
                                                            "ye", "yes", "on",  "1"};
  static constexpr std::array<std::string_view, 10> kFalse = {"f", "fa", "fal", "fals", "false",
                                                              "n", "no", "of",  "off",  "0"};
  if (std::ranges::find(kTrue, lower) != kTrue.end()) return true;
  if (std::ranges::find(kFalse, lower) != kFalse.end()) return false;
  return std::nullopt;
}

template <typename T>
std::optional<T> ParseInteger(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  // "-0" is a number of unsigned types, too.
  if (std::is_unsigned_v<T> && text.starts_with('-')) {
    text.remove_prefix(1);
    if (text.empty() || text.find_first_not_of('0') != text.npos) return std::nullopt;
  }
  T value{};
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (at != end || error != std::errc()) return std::nullopt;
  return value;
}

template <typename T>
std::optional<T> ParseFloat(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  if (text.ends_with(')')) return std::nullopt;  // nan(...)
  T value{};
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (at != end || text.empty()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    return static_cast<T>(std::strtod(std::string(text).c_str(), nullptr));
  }
  if (error != std::errc()) return std::nullopt;
  return value;
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
arrow::Result<ArrayPtr> ToInteger(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  using Builder = typename arrow::CTypeTraits<T>::BuilderType;
  if (arrow::is_string(array->type_id())) {
    const TextValues text(*array);
    return CastRows<Builder>(*array, type, is_try,
                             [&](int64_t i) { return ParseInteger<T>(text[i]); });
  }
  if (arrow::is_floating(array->type_id())) {
    ARROW_ASSIGN_OR_RAISE(const auto doubles, Plain(array, arrow::float64(), false));
    const auto& values = ArrayAs<arrow::DoubleArray>(*doubles);
    return CastRows<Builder>(*array, type, is_try,
                             [&](int64_t i) { return Truncate<T>(values.Value(i)); });
  }
  const auto fit = [](auto value) {
    return std::in_range<T>(value) ? std::optional(static_cast<T>(value)) : std::nullopt;
  };
  if (arrow::is_unsigned_integer(array->type_id())) {
    ARROW_ASSIGN_OR_RAISE(const auto wide, Plain(array, arrow::uint64(), false));
    const auto& values = ArrayAs<arrow::UInt64Array>(*wide);
    return CastRows<Builder>(*array, type, is_try, [&](int64_t i) { return fit(values.Value(i)); });
  }
  ARROW_ASSIGN_OR_RAISE(const auto wide, Plain(array, arrow::int64(), false));
  const auto& values = ArrayAs<arrow::Int64Array>(*wide);
  return CastRows<Builder>(*array, type, is_try, [&](int64_t i) { return fit(values.Value(i)); });
}

}  // namespace

arrow::Result<ArrayPtr> WidenHalves(const arrow::Array& array) {
  const auto& halves = ArrayAs<arrow::HalfFloatArray>(array);
  return CastRows<arrow::FloatBuilder>(array, arrow::float32(), false, [&](int64_t i) {
    return std::optional(arrow::util::Float16::FromBits(halves.Value(i)).ToFloat());
  });
}

arrow::Result<ArrayPtr> CastToBool(const ArrayPtr& array, bool is_try) {
  if (!arrow::is_string(array->type_id())) return Plain(array, arrow::boolean(), true);
  const TextValues text(*array);
  return CastRows<arrow::BooleanBuilder>(*array, arrow::boolean(), is_try,
                                         [&](int64_t i) { return ParseBool(text[i]); });
}

arrow::Result<ArrayPtr> CastToInteger(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  const auto from = array->type_id();
  if (array->type()->Equals(*type)) return array;
  if (from == arrow::Type::BOOL) return Plain(array, type, true);
  if (arrow::is_decimal(from)) return CastDecimalToInteger(*array, type, is_try);
  if (IsTime(*array->type())) {
    ARROW_ASSIGN_OR_RAISE(const auto ticks, TicksOf(array));
    return CastToInteger(ticks, type, is_try);
  }
  if (arrow::is_integer(from)) {
    auto plain = Plain(array, type, true);
    if (plain.ok()) return plain;
  }
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

arrow::Result<ArrayPtr> CastToFloat(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  const auto from = array->type_id();
  if (array->type()->Equals(*type)) return array;
  if (type->id() == arrow::Type::HALF_FLOAT) {
    ARROW_ASSIGN_OR_RAISE(const auto floats, CastToFloat(array, arrow::float32(), is_try));
    const auto& values = ArrayAs<arrow::FloatArray>(*floats);
    return CastRows<arrow::HalfFloatBuilder>(*floats, type, is_try, [&](int64_t i) {
      return std::optional(arrow::util::Float16::FromFloat(values.Value(i)).bits());
    });
  }
  if (from == arrow::Type::BOOL) {  // Arrow casts booleans to integers and integers to floats
    ARROW_ASSIGN_OR_RAISE(const auto bits, Plain(array, arrow::int8(), true));
    return Plain(bits, type, false);
  }
  if (arrow::is_decimal(from)) {
    ARROW_ASSIGN_OR_RAISE(const auto doubles, CastDecimalToDouble(*array));
    return CastToFloat(doubles, type, is_try);
  }
  if (IsTime(*array->type())) {
    ARROW_ASSIGN_OR_RAISE(const auto ticks, TicksOf(array));
    return Plain(ticks, type, false);
  }
  if (!arrow::is_string(from)) return Plain(array, type, false);
  const TextValues text(*array);
  if (type->id() == arrow::Type::FLOAT) {
    return CastRows<arrow::FloatBuilder>(*array, type, is_try,
                                         [&](int64_t i) { return ParseFloat<float>(text[i]); });
  }
  return CastRows<arrow::DoubleBuilder>(*array, type, is_try,
                                        [&](int64_t i) { return ParseFloat<double>(text[i]); });
}

}  // namespace glaive::query
