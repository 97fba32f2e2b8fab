#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include <arrow/compute/cast.h>
#include <arrow/type_traits.h>
#include <arrow/util/decimal.h>
#include <arrow/util/float16.h>
#include <arrow/util/utf8.h>

#include "core/error.h"
#include "query/cast/calendar.h"
#include "query/cast/cast.h"
#include "query/cast/kinds.h"
#include "query/values/checked_array.h"
#include "query/values/list_values.h"
#include "query/values/text_values.h"

// Values as the texts that pylance prints of them.
namespace glaive::query {
namespace {

using Id = arrow::Type;

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

// Halves have neither an exponent nor a point that nothing follows.
std::string HalfText(uint16_t bits) {
  const float value = arrow::util::Float16::FromBits(bits).ToFloat();
  if (std::isnan(value)) return "NaN";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed);
  return {buffer, static_cast<size_t>(end.ptr - buffer)};
}

// All digits: of 12.30 to the scale, of 1200 with a negative one the zeros.
std::string DecimalText(std::string digits, int scale) {
  const bool is_negative = digits.starts_with('-');
  if (is_negative) digits.erase(0, 1);
  if (scale < 0) {
    digits.append(static_cast<size_t>(-scale), '0');
  } else if (scale > 0) {
    const auto after = static_cast<size_t>(scale);
    if (digits.size() <= after) digits.insert(0, after + 1 - digits.size(), '0');
    digits.insert(digits.size() - after, ".");
  }
  return is_negative ? "-" + digits : digits;
}

// 2 days 0 hours -3 mins -4.500 secs: every part has the sign of the whole.
std::string DurationText(int64_t ticks, int64_t per_second, int digits) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  // Those are longer than what pylance counts with.
  const bool has_text = per_second == 1       ? ticks >= -kMax / 1'000 && ticks <= kMax / 1'000
                        : per_second == 1'000 ? ticks >= -kMax
                                              : true;
  if (!has_text) return "<invalid>";
  const int64_t seconds = ticks / per_second;
  const int64_t rest = ticks % per_second;
  const int64_t minutes = seconds / 60;
  const int64_t hours = minutes / 60;
  std::string text = std::to_string(hours / 24) + " days " + std::to_string(hours % 24) +
                     " hours " + std::to_string(minutes % 60) + " mins ";
  if (digits == 0) return text + std::to_string(seconds % 60) + " secs";
  if (rest < 0) text += '-';
  text += std::to_string(rest < 0 ? -(seconds % 60) : seconds % 60) + ".";
  AppendPadded(rest < 0 ? -rest : rest, static_cast<size_t>(digits), &text);
  return text + " secs";
}

// 1 mons 2 days 3 hours 4 mins 5.678000000 secs: what is zero is left out.
std::string IntervalText(const arrow::MonthDayNanoIntervalType::MonthDayNanos& interval) {
  std::string text;
  const auto append = [&](const std::string& part) {
    if (!text.empty()) text += ' ';
    text += part;
  };
  if (interval.months != 0) append(std::to_string(interval.months) + " mons");
  if (interval.days != 0) append(std::to_string(interval.days) + " days");
  const int64_t seconds = interval.nanoseconds / kNanosOfSecond;
  const int64_t nanos = interval.nanoseconds % kNanosOfSecond;
  const int64_t minutes = seconds / 60;
  if (minutes / 60 != 0) append(std::to_string(minutes / 60) + " hours");
  if (minutes % 60 != 0) append(std::to_string(minutes % 60) + " mins");
  if (seconds % 60 != 0 || nanos != 0) {
    std::string part = seconds % 60 < 0 || nanos < 0 ? "-" : "";
    part += std::to_string(std::abs(seconds % 60)) + ".";
    AppendPadded(std::abs(nanos), 9, &part);
    append(part + " secs");
  }
  return text.empty() ? "0 secs" : text;
}

// Appends the text of a row's value, or says that it has none: a day that no calendar names.
using Printer = std::function<bool(int64_t row, std::string* text)>;

arrow::Result<Printer> MakePrinter(const ArrayPtr& array);

template <typename ArrayType>
Printer NumberPrinter(const ArrayPtr& array) {
  return [array, &values = ArrayAs<ArrayType>(*array)](int64_t row, std::string* text) {
    *text += std::to_string(values.Value(row));
    return true;
  };
}

template <typename ArrayType>
Printer FloatPrinter(const ArrayPtr& array) {
  return [array, &values = ArrayAs<ArrayType>(*array)](int64_t row, std::string* text) {
    *text += FloatText(values.Value(row));
    return true;
  };
}

template <typename Decimal>
Printer DecimalPrinter(const ArrayPtr& array) {
  const int scale = static_cast<const arrow::DecimalType&>(*array->type()).scale();
  return [array, scale, &values = ArrayAs<arrow::FixedSizeBinaryArray>(*array)](int64_t row,
                                                                                std::string* text) {
    *text += DecimalText(Decimal(values.GetValue(row)).ToIntegerString(), scale);
    return true;
  };
}

arrow::Result<Printer> StampPrinter(const ArrayPtr& array) {
  ARROW_ASSIGN_OR_RAISE(const auto ticks, TicksOf(array));
  const bool is_stamp = array->type_id() == Id::TIMESTAMP;
  const int64_t per_second = PerSecond(UnitOf(*array->type()));
  const std::string zone =
      is_stamp ? static_cast<const arrow::TimestampType&>(*array->type()).timezone() : "";
  std::shared_ptr<arrow::Int64Array> offsets;
  if (!zone.empty()) {
    arrow::Int64Builder builder;
    ARROW_RETURN_NOT_OK(builder.Reserve(array->length()));
    const auto& values = ArrayAs<arrow::Int64Array>(*ticks);
    for (int64_t i = 0; i < array->length(); ++i) {
      if (values.IsNull(i)) {
        builder.UnsafeAppendNull();
      } else {
        builder.UnsafeAppend(FloorDivide(values.Value(i), per_second));
      }
    }
    std::shared_ptr<arrow::Int64Array> seconds;
    ARROW_RETURN_NOT_OK(builder.Finish(&seconds));
    ARROW_ASSIGN_OR_RAISE(offsets, OffsetsAt(*seconds, zone));
  }
  return [ticks, offsets, per_second](int64_t row, std::string* text) {
    const int64_t value = ArrayAs<arrow::Int64Array>(*ticks).Value(row);
    const int64_t offset = offsets == nullptr ? 0 : offsets->Value(row);
    if (!IsCalendarDay(FloorDivide(FloorDivide(value, per_second), kSecondsOfDay))) return false;
    const int64_t seconds = FloorDivide(value, per_second) + offset;
    if (!IsCalendarDay(FloorDivide(seconds, kSecondsOfDay))) return false;
    AppendDay(FloorDivide(seconds, kSecondsOfDay), text);
    *text += 'T';
    AppendClock(FloorRest(seconds, kSecondsOfDay),
                FloorRest(value, per_second) * (kNanosOfSecond / per_second), text);
    if (offsets == nullptr) return true;
    if (offset == 0) {
      *text += 'Z';
      return true;
    }
    const int64_t minutes = (std::abs(offset) + 30) / 60;
    *text += offset < 0 ? '-' : '+';
    AppendPadded(minutes / 60, 2, text);
    *text += ':';
    AppendPadded(minutes % 60, 2, text);
    return true;
  };
}

arrow::Result<Printer> TicksPrinter(const ArrayPtr& array) {
  ARROW_ASSIGN_OR_RAISE(const auto ticks, TicksOf(array));
  const auto& values = ArrayAs<arrow::Int64Array>(*ticks);
  if (array->type_id() == Id::DATE32) {
    return [ticks, &values](int64_t row, std::string* text) {
      if (!IsCalendarDay(values.Value(row))) return false;
      AppendDay(values.Value(row), text);
      return true;
    };
  }
  const int64_t per_second = PerSecond(UnitOf(*array->type()));
  if (array->type_id() == Id::DURATION) {
    const int digits = per_second == 1           ? 0
                       : per_second == 1'000     ? 3
                       : per_second == 1'000'000 ? 6
                                                 : 9;
    return [ticks, &values, per_second, digits](int64_t row, std::string* text) {
      *text += DurationText(values.Value(row), per_second, digits);
      return true;
    };
  }
  return [ticks, &values, per_second](int64_t row, std::string* text) {  // a time of day
    const int64_t value = values.Value(row);
    if (value < 0 || value / per_second >= kSecondsOfDay) return false;
    AppendClock(value / per_second, value % per_second * (kNanosOfSecond / per_second), text);
    return true;
  };
}

// [1, , 3]
arrow::Result<Printer> ListPrinter(const ArrayPtr& array) {
  ARROW_ASSIGN_OR_RAISE(auto lists, ListValues::Make(arrow::Datum(array), array->length()));
  ARROW_ASSIGN_OR_RAISE(auto items, MakePrinter(lists.values()));
  return
      [array, lists = std::move(lists), items = std::move(items)](int64_t row, std::string* text) {
        *text += '[';
        const auto [begin, end] = lists[row];
        for (int64_t i = begin; i < end; ++i) {
          if (i > begin) *text += ", ";
          if (lists.values()->IsValid(i) && !items(i, text)) return false;
        }
        *text += ']';
        return true;
      };
}

arrow::Result<Printer> MakePrinter(const ArrayPtr& array) {
  switch (array->type_id()) {
    case Id::NA: return [](int64_t, std::string*) { return true; };
    case Id::BOOL:
      return
          [array, &values = ArrayAs<arrow::BooleanArray>(*array)](int64_t row, std::string* text) {
            *text += values.Value(row) ? "true" : "false";
            return true;
          };
    case Id::INT8: return NumberPrinter<arrow::Int8Array>(array);
    case Id::INT16: return NumberPrinter<arrow::Int16Array>(array);
    case Id::INT32: return NumberPrinter<arrow::Int32Array>(array);
    case Id::INT64: return NumberPrinter<arrow::Int64Array>(array);
    case Id::UINT8: return NumberPrinter<arrow::UInt8Array>(array);
    case Id::UINT16: return NumberPrinter<arrow::UInt16Array>(array);
    case Id::UINT32: return NumberPrinter<arrow::UInt32Array>(array);
    case Id::UINT64: return NumberPrinter<arrow::UInt64Array>(array);
    case Id::HALF_FLOAT:
      return [array, &values = ArrayAs<arrow::HalfFloatArray>(*array)](int64_t row,
                                                                       std::string* text) {
        *text += HalfText(values.Value(row));
        return true;
      };
    case Id::FLOAT: return FloatPrinter<arrow::FloatArray>(array);
    case Id::DOUBLE: return FloatPrinter<arrow::DoubleArray>(array);
    case Id::DECIMAL128: return DecimalPrinter<arrow::Decimal128>(array);
    case Id::DECIMAL256: return DecimalPrinter<arrow::Decimal256>(array);
    case Id::STRING:
    case Id::LARGE_STRING:
      return [array, texts = TextValues(*array)](int64_t row, std::string* text) {
        *text += texts[row];
        return true;
      };
    case Id::BINARY:
    case Id::LARGE_BINARY:  // items of lists: in hexadecimal
      return [array, bytes = TextValues(*array)](int64_t row, std::string* text) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        for (const char c : bytes[row]) {
          *text += kDigits[static_cast<unsigned char>(c) / 16];
          *text += kDigits[static_cast<unsigned char>(c) % 16];
        }
        return true;
      };
    case Id::TIMESTAMP:
    case Id::DATE64: return StampPrinter(array);
    case Id::DATE32:
    case Id::TIME32:
    case Id::TIME64:
    case Id::DURATION: return TicksPrinter(array);
    case Id::INTERVAL_MONTH_DAY_NANO:
      return [array, &values = ArrayAs<arrow::MonthDayNanoIntervalArray>(*array)](
                 int64_t row, std::string* text) {
        *text += IntervalText(values.Value(row));
        return true;
      };
    case Id::LIST:
    case Id::LARGE_LIST:
    case Id::FIXED_SIZE_LIST: return ListPrinter(array);
    default: return Unsupported("values of type {} cannot be printed", array->type()->ToString());
  }
}

template <typename Builder>
arrow::Result<ArrayPtr> Print(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  ARROW_ASSIGN_OR_RAISE(const Printer print, MakePrinter(array));
  std::string text;
  return CastRows<Builder>(*array, type, is_try, [&](int64_t i) -> std::optional<std::string_view> {
    text.clear();
    if (!print(i, &text)) return std::nullopt;
    return text;
  });
}

template <typename Builder>
arrow::Result<ArrayPtr> DecodeBytes(const arrow::Array& array, const TypePtr& type, bool is_try) {
  arrow::util::InitializeUTF8();
  const TextValues bytes(array);
  return CastRows<Builder>(array, type, is_try, [&](int64_t i) -> std::optional<std::string_view> {
    if (!arrow::util::ValidateUTF8(bytes[i])) return std::nullopt;
    return bytes[i];
  });
}

template <typename Builder>
arrow::Result<ArrayPtr> RawBytes(const arrow::Array& array, const TypePtr& type) {
  const auto width = static_cast<size_t>(array.type()->byte_width());
  const auto* bytes = reinterpret_cast<const char*>(array.data()->buffers[1]->data()) +
                      static_cast<size_t>(array.offset()) * width;
  return CastRows<Builder>(array, type, false, [&](int64_t i) {
    return std::optional(std::string_view(bytes + static_cast<size_t>(i) * width, width));
  });
}

}  // namespace

std::string FloatText(double value) { return TextOf(value, 16, -5); }
std::string FloatText(float value) { return TextOf(value, 13, -6); }

arrow::Result<ArrayPtr> CastToText(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  const bool is_large = type->id() == Id::LARGE_STRING;
  if (arrow::is_string(array->type_id())) {
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum cast, arrow::compute::Cast(arrow::Datum(array), type));
    return cast.make_array();
  }
  if (arrow::is_binary(array->type_id())) {
    return is_large ? DecodeBytes<arrow::LargeStringBuilder>(*array, type, is_try)
                    : DecodeBytes<arrow::StringBuilder>(*array, type, is_try);
  }
  return is_large ? Print<arrow::LargeStringBuilder>(array, type, is_try)
                  : Print<arrow::StringBuilder>(array, type, is_try);
}

arrow::Result<ArrayPtr> CastToBytes(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  if (type->id() == Id::FIXED_SIZE_BINARY) {
    const TextValues bytes(*array);
    const auto width = static_cast<size_t>(type->byte_width());
    return CastRows<arrow::FixedSizeBinaryBuilder>(
        *array, type, is_try, [&](int64_t i) -> std::optional<std::string_view> {
          if (bytes[i].size() != width) return std::nullopt;
          return bytes[i];
        });
  }
  if (arrow::is_base_binary_like(array->type_id())) {
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum cast, arrow::compute::Cast(arrow::Datum(array), type));
    return cast.make_array();
  }
  return type->id() == Id::LARGE_BINARY ? RawBytes<arrow::LargeBinaryBuilder>(*array, type)
                                        : RawBytes<arrow::BinaryBuilder>(*array, type);
}

}  // namespace glaive::query
