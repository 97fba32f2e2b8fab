#include <charconv>
#include <functional>
#include <utility>

#include <arrow/compute/cast.h>
#include <arrow/type_traits.h>

#include "query/cast/calendar.h"
#include "query/cast/kinds.h"
#include "query/values/checked_array.h"
#include "query/values/text_values.h"

// Dates, times of day, timestamps, durations and intervals, among each other and from numbers.
namespace glaive::query {
namespace {

using Id = arrow::Type;
using MonthDayNanos = arrow::MonthDayNanoIntervalType::MonthDayNanos;
using IntervalBuilder = arrow::MonthDayNanoIntervalBuilder;

constexpr int64_t kMillisOfDay = kSecondsOfDay * 1'000;

std::optional<int64_t> Times(int64_t value, int64_t factor) {
  int64_t product = 0;
  if (__builtin_mul_overflow(value, factor, &product)) return std::nullopt;
  return product;
}

std::optional<int64_t> Plus(int64_t value, int64_t more) {
  int64_t sum = 0;
  if (__builtin_add_overflow(value, more, &sum)) return std::nullopt;
  return sum;
}

// Toward zero where the unit gets coarser, as pylance has it.
std::optional<int64_t> Rescaled(int64_t ticks, int64_t from, int64_t to) {
  return from > to ? std::optional(ticks / (from / to)) : Times(ticks, to / from);
}

arrow::Result<ArrayPtr> FromTicks(const ArrayPtr& ticks, const TypePtr& type, bool is_try) {
  if (type->byte_width() == 8) return ticks->View(type);
  ARROW_ASSIGN_OR_RAISE(const auto narrow, CastToInteger(ticks, arrow::int32(), is_try));
  return narrow->View(type);
}

arrow::Result<ArrayPtr> ByTicks(const ArrayPtr& array, const TypePtr& type, bool is_try,
                                const std::function<std::optional<int64_t>(int64_t)>& convert) {
  ARROW_ASSIGN_OR_RAISE(const auto ticks, TicksOf(array));
  const auto& values = ArrayAs<arrow::Int64Array>(*ticks);
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(array->length()));
  for (int64_t i = 0; i < array->length(); ++i) {
    const auto value = values.IsNull(i) ? std::nullopt : convert(values.Value(i));
    if (!value && !values.IsNull(i) && !is_try) return CannotCast(*array, i, *type);
    if (value) {
      builder.UnsafeAppend(*value);
    } else {
      builder.UnsafeAppendNull();
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto converted, builder.Finish());
  return FromTicks(converted, type, is_try);
}

const std::string& ZoneOf(const arrow::DataType& type) {
  return static_cast<const arrow::TimestampType&>(type).timezone();
}

arrow::Result<std::shared_ptr<arrow::Int64Array>> SecondsOf(const arrow::Int64Array& ticks,
                                                            int64_t per_second) {
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(ticks.length()));
  for (int64_t i = 0; i < ticks.length(); ++i) {
    if (ticks.IsNull(i)) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(FloorDivide(ticks.Value(i), per_second));
    }
  }
  std::shared_ptr<arrow::Int64Array> seconds;
  ARROW_RETURN_NOT_OK(builder.Finish(&seconds));
  return seconds;
}

// Timestamps without a zone that get one are taken as local to it.
arrow::Result<ArrayPtr> LocalToZone(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  ARROW_ASSIGN_OR_RAISE(const auto ticks, array->View(arrow::int64()));
  const auto& values = ArrayAs<arrow::Int64Array>(*ticks);
  const int64_t per_second = PerSecond(UnitOf(*type));
  ARROW_ASSIGN_OR_RAISE(const auto seconds, SecondsOf(values, per_second));
  ARROW_ASSIGN_OR_RAISE(const auto offsets, OffsetsOfLocal(*seconds, ZoneOf(*type)));
  ARROW_ASSIGN_OR_RAISE(
      const auto instants,
      (CastRows<arrow::Int64Builder>(*array, arrow::int64(), is_try, [&](int64_t i) {
        const int64_t local = seconds->Value(i);
        const bool has_days = offsets->IsValid(i) &&
                              IsCalendarDay(FloorDivide(local, kSecondsOfDay)) &&
                              IsCalendarDay(FloorDivide(local - offsets->Value(i), kSecondsOfDay));
        return has_days ? Plus(values.Value(i), -offsets->Value(i) * per_second) : std::nullopt;
      })));
  return instants->View(type);
}

arrow::Result<ArrayPtr> StampToStamp(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  const auto& from = static_cast<const arrow::TimestampType&>(*array->type());
  const bool gets_zone = from.timezone().empty() && !ZoneOf(*type).empty();
  const TypePtr scaled =
      gets_zone ? arrow::timestamp(UnitOf(*type)) : type;  // else the instants stay
  const int64_t from_per = PerSecond(from.unit());
  const int64_t to_per = PerSecond(UnitOf(*type));
  ARROW_ASSIGN_OR_RAISE(const auto ticks, ByTicks(array, scaled, is_try, [&](int64_t value) {
                          return Rescaled(value, from_per, to_per);
                        }));
  return gets_zone ? LocalToZone(ticks, type, is_try) : ticks;
}

// What the clock of the column's zone shows: a day or a time of day.
arrow::Result<ArrayPtr> StampToLocal(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  ARROW_ASSIGN_OR_RAISE(const auto ticks, TicksOf(array));
  const auto& values = ArrayAs<arrow::Int64Array>(*ticks);
  const int64_t per_second = PerSecond(UnitOf(*array->type()));
  ARROW_ASSIGN_OR_RAISE(const auto seconds, SecondsOf(values, per_second));
  const std::string& zone = ZoneOf(*array->type());
  ARROW_ASSIGN_OR_RAISE(const auto offsets, OffsetsAt(*seconds, zone.empty() ? "UTC" : zone));
  const bool to_day = type->id() == Id::DATE32;
  const int64_t to_per = to_day ? 1 : PerSecond(UnitOf(*type));
  ARROW_ASSIGN_OR_RAISE(
      const auto local,
      (CastRows<arrow::Int64Builder>(
          *array, arrow::int64(), is_try, [&](int64_t i) -> std::optional<int64_t> {
            if (!IsCalendarDay(FloorDivide(seconds->Value(i), kSecondsOfDay))) return std::nullopt;
            const int64_t shown = seconds->Value(i) + offsets->Value(i);
            const int64_t day = FloorDivide(shown, kSecondsOfDay);
            if (to_day) return IsCalendarDay(day) ? std::optional(day) : std::nullopt;
            const int64_t rest = FloorRest(values.Value(i), per_second);
            const int64_t clock = FloorRest(shown, kSecondsOfDay) * to_per;
            return clock + (to_per > per_second ? rest * (to_per / per_second)
                                                : rest / (per_second / to_per));
          })));
  return FromTicks(local, type, is_try);
}

arrow::Result<ArrayPtr> DateToStamp(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  const bool is_day = array->type_id() == Id::DATE32;
  const int64_t to_per = PerSecond(UnitOf(*type));
  const auto plain = arrow::timestamp(UnitOf(*type));
  ARROW_ASSIGN_OR_RAISE(const auto ticks, ByTicks(array, plain, is_try, [&](int64_t value) {
                          return is_day ? Times(value, kSecondsOfDay * to_per)
                                        : Rescaled(value, 1'000, to_per);
                        }));
  return ZoneOf(*type).empty() ? ticks : LocalToZone(ticks, type, is_try);
}

arrow::Result<ArrayPtr> ToDate(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  const auto from = array->type_id();
  if (from == Id::TIMESTAMP && type->id() == Id::DATE32) return StampToLocal(array, type, is_try);
  if (from == Id::TIMESTAMP) {  // a date of 64 bits keeps the time of day, by UTC
    const int64_t from_per = PerSecond(UnitOf(*array->type()));
    return ByTicks(array, type, is_try,
                   [&](int64_t value) { return Rescaled(value, from_per, 1'000); });
  }
  if (type->id() == Id::DATE64) {
    return ByTicks(array, type, is_try, [](int64_t value) { return Times(value, kMillisOfDay); });
  }
  return ByTicks(array, type, is_try,
                 [](int64_t value) { return std::optional(value / kMillisOfDay); });
}

arrow::Result<ArrayPtr> DurationToInterval(const ArrayPtr& array, bool is_try) {
  const int64_t scale = kNanosOfSecond / PerSecond(UnitOf(*array->type()));
  ARROW_ASSIGN_OR_RAISE(const auto ticks, TicksOf(array));
  const auto& values = ArrayAs<arrow::Int64Array>(*ticks);
  return CastRows<IntervalBuilder>(
      *array, arrow::month_day_nano_interval(), is_try, [&](int64_t i) {
        const auto nanos = Times(values.Value(i), scale);
        return nanos ? std::optional(MonthDayNanos{0, 0, *nanos}) : std::nullopt;
      });
}

arrow::Result<ArrayPtr> IntervalToDuration(const arrow::Array& array, const TypePtr& type,
                                           bool is_try) {
  const int64_t scale = kNanosOfSecond / PerSecond(UnitOf(*type));
  const auto& intervals = ArrayAs<arrow::MonthDayNanoIntervalArray>(array);
  return CastRows<arrow::DurationBuilder>(array, type, is_try, [&](int64_t i) {
    const MonthDayNanos interval = intervals.Value(i);
    const bool is_plain = interval.months == 0 && interval.days == 0;
    return is_plain ? std::optional(interval.nanoseconds / scale) : std::nullopt;
  });
}

// A number of the type's ticks.
arrow::Result<ArrayPtr> NumberToTime(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  if (type->id() == Id::DATE64 && array->type_id() == Id::INT32) {  // which counts days
    ARROW_ASSIGN_OR_RAISE(const auto days, array->View(arrow::date32()));
    return ToDate(days, type, is_try);
  }
  const bool is_narrow = type->byte_width() == 4;
  ARROW_ASSIGN_OR_RAISE(const auto ticks,
                        CastToInteger(array, is_narrow ? arrow::int32() : arrow::int64(), is_try));
  return ticks->View(type);
}

// In the unit, if that can hold it.
std::optional<int64_t> InTicks(const ParsedTime& time, int64_t offset, int64_t per_second) {
  const auto seconds = Times(time.seconds - offset + (time.seconds < offset ? 1 : 0), per_second);
  if (!seconds) return std::nullopt;
  // Whole seconds know no leap second.
  const int64_t more = per_second == 1 ? 0 : time.nanos / (kNanosOfSecond / per_second);
  // Before 1970 by way of the second after, so that the smallest value is not passed.
  return Plus(*seconds, more - (time.seconds < offset ? per_second : 0));
}

arrow::Result<ArrayPtr> TextToStamp(const arrow::Array& array, const TypePtr& type, bool is_try) {
  const TextValues texts(array);
  std::vector<std::optional<ParsedTime>> times(static_cast<size_t>(array.length()));
  arrow::Int64Builder local;
  ARROW_RETURN_NOT_OK(local.Reserve(array.length()));
  for (int64_t i = 0; i < array.length(); ++i) {
    auto& time = times[static_cast<size_t>(i)];
    if (array.IsValid(i)) time = ParseTime(texts[i]);
    if (time && !time->zone) {
      local.UnsafeAppend(time->seconds);
    } else {
      local.UnsafeAppendNull();
    }
  }
  std::shared_ptr<arrow::Int64Array> seconds;
  ARROW_RETURN_NOT_OK(local.Finish(&seconds));
  const std::string& zone = ZoneOf(*type);
  ARROW_ASSIGN_OR_RAISE(const auto offsets, OffsetsOfLocal(*seconds, zone.empty() ? "UTC" : zone));
  const int64_t per_second = PerSecond(UnitOf(*type));
  return CastRows<arrow::TimestampBuilder>(
      array, type, is_try, [&](int64_t i) -> std::optional<int64_t> {
        const auto& time = times[static_cast<size_t>(i)];
        if (!time) return std::nullopt;
        if (!time->zone) {
          if (offsets->IsNull(i)) return std::nullopt;
          return InTicks(*time, offsets->Value(i), per_second);
        }
        const auto offset = OffsetOfLocal(time->seconds, *time->zone);
        return offset ? InTicks(*time, *offset, per_second) : std::nullopt;
      });
}

template <typename Builder>
arrow::Result<ArrayPtr> TextToClock(const arrow::Array& array, const TypePtr& type, bool is_try) {
  using Value = typename Builder::value_type;
  const TextValues texts(array);
  const int64_t nanos_of_tick = kNanosOfSecond / PerSecond(UnitOf(*type));
  return CastRows<Builder>(array, type, is_try, [&](int64_t i) -> std::optional<Value> {
    std::string_view text = texts[i];
    if (const auto nanos = ParseClock(text)) return static_cast<Value>(*nanos / nanos_of_tick);
    // A number of ticks.
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    Value ticks = 0;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, ticks);
    return at == end && error == std::errc() ? std::optional(ticks) : std::nullopt;
  });
}

}  // namespace

arrow::Result<ArrayPtr> TicksOf(const ArrayPtr& array) {
  if (array->type_id() == Id::INT64) return array;
  if (arrow::bit_width(array->type_id()) == 64) return array->View(arrow::int64());
  ARROW_ASSIGN_OR_RAISE(const auto narrow, array->View(arrow::int32()));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum wide,
                        arrow::compute::Cast(arrow::Datum(narrow), arrow::int64()));
  return wide.make_array();
}

arrow::Result<ArrayPtr> CastTextToTime(const arrow::Array& array, const TypePtr& type,
                                       bool is_try) {
  const TextValues texts(array);
  switch (type->id()) {
    case Id::DATE32:
      return CastRows<arrow::Date32Builder>(array, type, is_try,
                                            [&](int64_t i) -> std::optional<int32_t> {
                                              const auto days = ParseDay(texts[i]);
                                              if (!days) return std::nullopt;
                                              return static_cast<int32_t>(*days);
                                            });
    case Id::DATE64:
      return CastRows<arrow::Date64Builder>(
          array, type, is_try, [&](int64_t i) -> std::optional<int64_t> {
            if (texts[i].size() <= 10) {
              const auto days = ParseDay(texts[i]);
              return days ? Times(*days, kMillisOfDay) : std::nullopt;
            }
            const auto time = ParseTime(texts[i]);
            if (!time) return std::nullopt;
            const auto offset = OffsetOfLocal(time->seconds, time->zone.value_or("UTC"));
            return offset ? InTicks(*time, *offset, 1'000) : std::nullopt;
          });
    case Id::TIME32: return TextToClock<arrow::Time32Builder>(array, type, is_try);
    case Id::TIME64: return TextToClock<arrow::Time64Builder>(array, type, is_try);
    case Id::TIMESTAMP: return TextToStamp(array, type, is_try);
    default:
      return CastRows<IntervalBuilder>(array, type, is_try,
                                       [&](int64_t i) { return ParseInterval(texts[i]); });
  }
}

arrow::Result<ArrayPtr> CastToTime(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  const auto from = array->type_id();
  if (arrow::is_string(from)) return CastTextToTime(*array, type, is_try);
  if (!IsTime(*array->type())) return NumberToTime(array, type, is_try);
  if (from == Id::INTERVAL_MONTH_DAY_NANO) return IntervalToDuration(*array, type, is_try);
  switch (type->id()) {
    case Id::INTERVAL_MONTH_DAY_NANO: return DurationToInterval(array, is_try);
    case Id::DATE32:
    case Id::DATE64: return ToDate(array, type, is_try);
    case Id::TIMESTAMP:
      return from == Id::TIMESTAMP ? StampToStamp(array, type, is_try)
                                   : DateToStamp(array, type, is_try);
    default: break;
  }
  if (from == Id::TIMESTAMP) return StampToLocal(array, type, is_try);  // to a time of day
  const int64_t from_per = PerSecond(UnitOf(*array->type()));
  const int64_t to_per = PerSecond(UnitOf(*type));
  return ByTicks(array, type, is_try,
                 [&](int64_t value) { return Rescaled(value, from_per, to_per); });
}

}  // namespace glaive::query
