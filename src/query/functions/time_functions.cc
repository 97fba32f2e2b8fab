#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/clock.h"
#include "core/error.h"
#include "query/cast/calendar.h"
#include "query/cast/coercion.h"
#include "query/functions/functions.h"

namespace glaive::query {
namespace {

namespace cp = arrow::compute;
using Arguments = std::vector<BoundPtr>;
using TypePtr = std::shared_ptr<arrow::DataType>;

std::string ToLower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// A date or a time; texts are read as one.
arrow::Status TakeTime(std::string_view function, BoundPtr* argument) {
  const arrow::DataType& type = *(*argument)->type();
  if (arrow::is_date(type.id()) || type.id() == arrow::Type::TIMESTAMP) return arrow::Status::OK();
  if (IsText(type) || IsNull(*argument)) {
    *argument = MakeCast(std::move(*argument), arrow::timestamp(arrow::TimeUnit::NANO));
    return arrow::Status::OK();
  }
  return InvalidInput("Function '{}' requires a date or a timestamp, but received {}", function,
                      TypeName(type));
}

// Seconds and what is finer count from the minute.
BoundPtr OfMinute(BoundPtr time, int64_t per_second) {
  const Kernel kernel = [per_second](std::span<const arrow::Datum> values,
                                     int64_t) -> arrow::Result<arrow::Datum> {
    const auto count = [&](const char* part, int64_t factor) -> arrow::Result<arrow::Datum> {
      ARROW_ASSIGN_OR_RAISE(const arrow::Datum counted, CallArrow(part, {values[0]}));
      return CallArrow("multiply", {counted, arrow::Datum(factor)});
    };
    ARROW_ASSIGN_OR_RAISE(arrow::Datum sum, count("second", per_second));
    int64_t unit = 1'000;
    for (const char* part : {"millisecond", "microsecond", "nanosecond"}) {
      if (per_second < unit) break;
      ARROW_ASSIGN_OR_RAISE(const arrow::Datum more, count(part, per_second / unit));
      ARROW_ASSIGN_OR_RAISE(sum, CallArrow("add", {sum, more}));
      unit *= 1'000;
    }
    return sum;
  };
  return MakeKernel(kernel, {std::move(time)}, arrow::int64());
}

BoundPtr Epoch(const BoundPtr& time) {
  TypePtr type = time->type();
  BoundPtr stamp = time;
  if (arrow::is_date(type->id())) {
    type = arrow::timestamp(arrow::TimeUnit::SECOND);
    stamp = MakeCast(time, type);
  }
  static constexpr std::array kTicks = {1.0, 1e3, 1e6, 1e9};
  const auto unit = static_cast<size_t>(static_cast<const arrow::TimestampType&>(*type).unit());
  return MakeCall("divide",
                  {MakeCast(MakeCast(std::move(stamp), arrow::int64()), arrow::float64()),
                   MakeLiteral(arrow::MakeScalar(kTicks[unit]))},
                  arrow::float64());
}

// A time of day on the first day of 1970.
BoundPtr AsStamp(BoundPtr clock) {
  const auto unit = static_cast<const arrow::TimeType&>(*clock->type()).unit();
  const bool is_short = clock->type()->id() == arrow::Type::TIME32;
  clock = MakeCast(std::move(clock), is_short ? arrow::int32() : arrow::int64());
  return MakeCast(MakeCast(std::move(clock), arrow::int64()), arrow::timestamp(unit));
}

int64_t FloorTo(int64_t value, int64_t step) {
  const int64_t rest = value % step;
  return rest < 0 ? value - rest - step : value - rest;
}

// The calendar begins anew after 400 years.
constexpr int64_t kCycleSeconds = int64_t{146'097} * kSecondsOfDay;
// Arrow knows 32,767 years: later times go back, and earlier ones forward, by some cycles.
int64_t CyclesBeyond(int64_t seconds) {
  constexpr int64_t kNear = 75 * kCycleSeconds;
  return seconds > -kNear && seconds < kNear ? 0 : FloorDivide(seconds, kCycleSeconds);
}

// What the clock and the calendar of the zone show, as the count of it that `make` makes of the
// ticks of an instant, its local second and the ticks of a second. Null for days that no calendar
// has.
template <typename MakeCount>
arrow::Result<std::shared_ptr<arrow::Array>> ShownTimes(const arrow::Datum& value, int64_t num_rows,
                                                        const TypePtr& result,
                                                        const MakeCount& make) {
  ARROW_ASSIGN_OR_RAISE(const auto times, ToArray(value, num_rows));
  const auto& type = static_cast<const arrow::TimestampType&>(*times->type());
  const int64_t per_second = PerSecond(type.unit());
  const auto* ticks = times->data()->GetValues<int64_t>(1);
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(num_rows));
  for (int64_t i = 0; i < num_rows; ++i) {
    if (times->IsNull(i)) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(FloorDivide(ticks[i], per_second));
    }
  }
  std::shared_ptr<arrow::Int64Array> seconds;
  ARROW_RETURN_NOT_OK(builder.Finish(&seconds));
  auto offsets = std::shared_ptr<arrow::Int64Array>();
  if (!type.timezone().empty()) {
    ARROW_ASSIGN_OR_RAISE(offsets, OffsetsAt(*seconds, type.timezone()));
  }
  ARROW_RETURN_NOT_OK(builder.Reserve(num_rows));
  for (int64_t i = 0; i < num_rows; ++i) {
    const int64_t day = times->IsNull(i) ? 0 : FloorDivide(seconds->Value(i), kSecondsOfDay);
    if (times->IsNull(i) || !IsCalendarDay(day)) {
      builder.UnsafeAppendNull();
    } else {
      const int64_t offset = offsets == nullptr ? 0 : offsets->Value(i);
      builder.UnsafeAppend(make(ticks[i], seconds->Value(i) + offset, offset, per_second));
    }
  }
  std::shared_ptr<arrow::Int64Array> counts;
  ARROW_RETURN_NOT_OK(builder.Finish(&counts));
  return counts->View(result);
}

// The same without a zone, within the years that Arrow knows.
BoundPtr Shown(BoundPtr time) {
  const auto unit = static_cast<const arrow::TimestampType&>(*time->type()).unit();
  const TypePtr naive = arrow::timestamp(unit);
  const Kernel kernel = [naive](std::span<const arrow::Datum> values,
                                int64_t num_rows) -> arrow::Result<arrow::Datum> {
    const auto near = [](int64_t tick, int64_t second, int64_t offset, int64_t per_second) {
      return tick + (offset - CyclesBeyond(second) * kCycleSeconds) * per_second;
    };
    ARROW_ASSIGN_OR_RAISE(auto shown, ShownTimes(values[0], num_rows, naive, near));
    return arrow::Datum(std::move(shown));
  };
  return MakeKernel(kernel, {std::move(time)}, naive);
}

// The year of a day; that of the ISO is its week's, which is where the Thursday lies.
BoundPtr YearOf(BoundPtr time, bool of_week) {
  const Kernel kernel = [of_week](std::span<const arrow::Datum> values,
                                  int64_t num_rows) -> arrow::Result<arrow::Datum> {
    const auto year = [of_week](int64_t, int64_t second, int64_t, int64_t) {
      int64_t day = FloorDivide(second, kSecondsOfDay);
      if (of_week) day += 3 - FloorRest(day + 3, 7);
      return CivilDayOf(day).year;
    };
    ARROW_ASSIGN_OR_RAISE(auto years, ShownTimes(values[0], num_rows, arrow::int64(), year));
    return arrow::Datum(std::move(years));
  };
  return MakeCast(MakeKernel(kernel, {std::move(time)}, arrow::int64()), arrow::int32());
}

struct Part {
  std::string_view name;  // singular
  const char* kernel;
};
constexpr std::array<Part, 9> kParts = {{{"quarter", "quarter"},
                                         {"month", "month"},
                                         {"week", "iso_week"},
                                         {"day", "day"},
                                         {"doy", "day_of_year"},
                                         {"hour", "hour"},
                                         {"minute", "minute"},
                                         {"dow", "day_of_week"},
                                         {"isodow", "day_of_week"}}};

arrow::Result<BoundPtr> BindPart(std::string_view name, Arguments arguments) {
  ARROW_ASSIGN_OR_RAISE(std::string part, TakeLiteral(name, arguments[0]));
  part = ToLower(std::move(part));
  BoundPtr time = std::move(arguments[1]);
  if (arrow::is_time(time->type()->id())) {
    static constexpr std::array<std::string_view, 7> kOfClock = {
        "hour", "minute", "second", "millisecond", "microsecond", "nanosecond", "epoch"};
    const std::string_view singular =
        part.ends_with('s') ? std::string_view(part).substr(0, part.size() - 1) : part;
    if (std::ranges::find(kOfClock, singular) == kOfClock.end()) {
      return InvalidInput("a time of day has no {}", part);
    }
    time = AsStamp(std::move(time));
  }
  ARROW_RETURN_NOT_OK(TakeTime(name, &time));
  if (part == "epoch") return Epoch(time);
  if (part.size() > 3 && part.ends_with('s')) part.pop_back();
  const bool of_day = arrow::is_date(time->type()->id());
  // Days have no hours.
  if (of_day) time = MakeCast(std::move(time), arrow::timestamp(arrow::TimeUnit::SECOND));
  if (part == "year" || part == "isoyear") return YearOf(std::move(time), part == "isoyear");
  time = Shown(std::move(time));
  if (part == "second") return MakeCast(MakeCall("second", {time}, arrow::int64()), arrow::int32());
  if (part == "millisecond") return MakeCast(OfMinute(time, 1'000), arrow::int32());
  if (part == "microsecond") return MakeCast(OfMinute(time, 1'000'000), arrow::int32());
  if (part == "nanosecond") return OfMinute(time, 1'000'000'000);
  for (const Part& known : kParts) {
    if (part != known.name) continue;
    std::shared_ptr<cp::FunctionOptions> options;
    // From Sunday, which is 0; for the ISO from Monday, which is 1.
    if (part == "dow") options = std::make_shared<cp::DayOfWeekOptions>(true, 7);
    if (part == "isodow") options = std::make_shared<cp::DayOfWeekOptions>(false, 1);
    return MakeCast(MakeCall(known.kernel, {std::move(time)}, arrow::int64(), options),
                    arrow::int32());
  }
  return InvalidInput("Date part '{}' not supported", part);
}

struct Grain {
  std::string_view name;
  cp::CalendarUnit unit;
};
constexpr std::array<Grain, 10> kGrains = {{
    {"microsecond", cp::CalendarUnit::MICROSECOND},
    {"millisecond", cp::CalendarUnit::MILLISECOND},
    {"second", cp::CalendarUnit::SECOND},
    {"minute", cp::CalendarUnit::MINUTE},
    {"hour", cp::CalendarUnit::HOUR},
    {"day", cp::CalendarUnit::DAY},
    {"week", cp::CalendarUnit::WEEK},
    {"month", cp::CalendarUnit::MONTH},
    {"quarter", cp::CalendarUnit::QUARTER},
    {"year", cp::CalendarUnit::YEAR},
}};

// Those that follow no calendar and no clock of a zone.
bool IsFine(cp::CalendarUnit unit) { return unit <= cp::CalendarUnit::MINUTE; }

// The same ticks as another type of 64 bits.
std::shared_ptr<arrow::Array> TicksAs(const arrow::Array& array, const TypePtr& type) {
  auto data = array.data()->Copy();
  data->type = type;
  return arrow::MakeArray(std::move(data));
}

template <typename Map>
arrow::Result<std::shared_ptr<arrow::Int64Array>> MapTicks(const arrow::Array& ticks,
                                                           const Map& map) {
  const auto* values = ticks.data()->GetValues<int64_t>(1);
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(ticks.length()));
  for (int64_t i = 0; i < ticks.length(); ++i) {
    if (ticks.IsNull(i)) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(map(i, values[i]));
    }
  }
  ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
  return std::static_pointer_cast<arrow::Int64Array>(std::move(result));
}

// The ticks of units that are always of one length.
std::optional<int64_t> StepOf(cp::CalendarUnit unit, int64_t per_second) {
  static constexpr std::array<int64_t, 7> kSteps = {
      1, 1'000, 1'000'000, 1'000'000'000, 60'000'000'000, 3'600'000'000'000, 86'400'000'000'000};
  const auto at = static_cast<size_t>(unit);
  if (at >= kSteps.size()) return std::nullopt;
  return std::max<int64_t>(kSteps[at] / (1'000'000'000 / per_second), 1);
}

// Errors: InvalidInput for days that no calendar has, unless only days or less are cut off, and for
// times before the first one of the unit that the type holds.
arrow::Result<std::shared_ptr<arrow::Array>> FloorNaive(const std::shared_ptr<arrow::Array>& times,
                                                        cp::CalendarUnit unit) {
  const auto& type = static_cast<const arrow::TimestampType&>(*times->type());
  const int64_t per_second = PerSecond(type.unit());
  std::optional<int64_t> beyond;
  if (const auto step = StepOf(unit, per_second)) {
    ARROW_ASSIGN_OR_RAISE(const auto floored, MapTicks(*times, [&](int64_t, int64_t tick) {
                            if (tick < std::numeric_limits<int64_t>::min() + *step) {
                              if (tick % *step != 0) beyond = tick;
                              return tick;
                            }
                            return FloorTo(tick, *step);
                          }));
    if (beyond) return InvalidInput("Timestamp {} out of range", *beyond);
    return TicksAs(*floored, times->type());
  }
  ARROW_ASSIGN_OR_RAISE(const auto near, MapTicks(*times, [&](int64_t, int64_t tick) {
                          const int64_t second = FloorDivide(tick, per_second);
                          if (IsCalendarDay(FloorDivide(second, kSecondsOfDay))) {
                            return tick - CyclesBeyond(second) * kCycleSeconds * per_second;
                          }
                          beyond = tick;
                          return tick;
                        }));
  if (beyond) return InvalidInput("Timestamp {} out of range", *beyond);
  const cp::RoundTemporalOptions options(1, unit);
  ARROW_ASSIGN_OR_RAISE(
      const arrow::Datum floored,
      CallArrow("floor_temporal", {arrow::Datum(TicksAs(*near, times->type()))}, &options));
  const auto* original = times->data()->GetValues<int64_t>(1);
  ARROW_ASSIGN_OR_RAISE(const auto result,
                        MapTicks(*floored.make_array(), [&](int64_t i, int64_t tick) {
                          if (tick > near->Value(i)) beyond = original[i];  // it wrapped around
                          return tick + (original[i] - near->Value(i));
                        }));
  if (beyond) return InvalidInput("Timestamp {} out of range", *beyond);
  return TicksAs(*result, times->type());
}

// The offsets from UTC at local times, which `offsets` belonged to before they were floored. A time
// keeps its offset where the clock shows it at that offset; where clocks skip it, it has that of
// the day before.
arrow::Result<std::shared_ptr<arrow::Int64Array>> FlooredOffsets(const arrow::Int64Array& local,
                                                                 const arrow::Int64Array& offsets,
                                                                 const std::string& zone) {
  const auto instants = [&](int64_t earlier) {
    return MapTicks(local, [&offsets, earlier](int64_t i, int64_t second) {
      return second - offsets.Value(i) - earlier;
    });
  };
  ARROW_ASSIGN_OR_RAISE(const auto kept, instants(0));
  ARROW_ASSIGN_OR_RAISE(const auto there, OffsetsAt(*kept, zone));
  ARROW_ASSIGN_OR_RAISE(const auto known, OffsetsOfLocal(local, zone));
  ARROW_ASSIGN_OR_RAISE(const auto day_before, instants(86'400));
  ARROW_ASSIGN_OR_RAISE(const auto before, OffsetsAt(*day_before, zone));
  return MapTicks(local, [&](int64_t i, int64_t) {
    if (there->Value(i) == offsets.Value(i)) return offsets.Value(i);
    return known->IsNull(i) ? before->Value(i) : known->Value(i);
  });
}

// By the clock of the zone.
arrow::Result<std::shared_ptr<arrow::Array>> FloorZoned(const std::shared_ptr<arrow::Array>& times,
                                                        cp::CalendarUnit unit) {
  const auto& type = static_cast<const arrow::TimestampType&>(*times->type());
  const TypePtr naive = arrow::timestamp(type.unit());
  const int64_t per_second = PerSecond(type.unit());
  std::optional<int64_t> beyond;
  const auto to_seconds = [&](int64_t, int64_t tick) {
    const int64_t second = FloorDivide(tick, per_second);
    if (!IsCalendarDay(FloorDivide(second, kSecondsOfDay))) beyond = tick;
    return second;
  };
  ARROW_ASSIGN_OR_RAISE(const auto seconds, MapTicks(*times, to_seconds));
  if (beyond) return InvalidInput("Timestamp {} out of range", *beyond);
  ARROW_ASSIGN_OR_RAISE(const auto offsets, OffsetsAt(*seconds, type.timezone()));
  ARROW_ASSIGN_OR_RAISE(const auto local, MapTicks(*times, [&](int64_t i, int64_t tick) {
                          return tick + offsets->Value(i) * per_second;
                        }));
  ARROW_ASSIGN_OR_RAISE(const auto floored, FloorNaive(TicksAs(*local, naive), unit));
  ARROW_ASSIGN_OR_RAISE(const auto floored_seconds, MapTicks(*floored, to_seconds));
  ARROW_ASSIGN_OR_RAISE(const auto floored_offsets,
                        FlooredOffsets(*floored_seconds, *offsets, type.timezone()));
  ARROW_ASSIGN_OR_RAISE(const auto result, MapTicks(*floored, [&](int64_t i, int64_t tick) {
                          return tick - floored_offsets->Value(i) * per_second;
                        }));
  return TicksAs(*result, times->type());
}

arrow::Result<arrow::Datum> FloorTimes(const arrow::Datum& value, int64_t num_rows,
                                       cp::CalendarUnit unit) {
  ARROW_ASSIGN_OR_RAISE(const auto times, ToArray(value, num_rows));
  const auto& type = static_cast<const arrow::TimestampType&>(*times->type());
  if (type.timezone().empty()) return FloorNaive(times, unit);
  if (!IsFine(unit)) return FloorZoned(times, unit);
  ARROW_ASSIGN_OR_RAISE(const auto floored,
                        FloorNaive(TicksAs(*times, arrow::timestamp(type.unit())), unit));
  return TicksAs(*floored, times->type());
}

// Times of day have hours and what is finer.
arrow::Result<BoundPtr> BindTruncClock(BoundPtr time, const Grain& grain) {
  if (!IsFine(grain.unit) && grain.unit != cp::CalendarUnit::HOUR) {
    return InvalidInput("a time of day cannot be truncated to its {}", grain.name);
  }
  const TypePtr type = time->type();
  const TypePtr ticks = type->id() == arrow::Type::TIME32 ? arrow::int32() : arrow::int64();
  BoundPtr as_stamp = AsStamp(std::move(time));
  const TypePtr stamp = as_stamp->type();
  const Kernel kernel = [unit = grain.unit](std::span<const arrow::Datum> values,
                                            int64_t num_rows) {
    return FloorTimes(values[0], num_rows, unit);
  };
  BoundPtr floored = MakeKernel(kernel, {std::move(as_stamp)}, stamp);
  return MakeCast(MakeCast(MakeCast(std::move(floored), arrow::int64()), ticks), type);
}

arrow::Result<BoundPtr> BindTrunc(std::string_view name, Arguments arguments) {
  ARROW_ASSIGN_OR_RAISE(const std::string grain, TakeLiteral(name, arguments[0]));
  const auto* known = std::ranges::find(kGrains, ToLower(grain), &Grain::name);
  if (known == kGrains.end()) {
    return InvalidInput("Unsupported date_trunc granularity: '{}'", grain);
  }
  BoundPtr time = std::move(arguments[1]);
  if (arrow::is_time(time->type()->id())) return BindTruncClock(std::move(time), *known);
  ARROW_RETURN_NOT_OK(TakeTime(name, &time));
  if (arrow::is_date(time->type()->id())) {
    time = MakeCast(std::move(time), arrow::timestamp(arrow::TimeUnit::NANO));
  }
  TypePtr type = time->type();
  const Kernel kernel = [unit = known->unit](std::span<const arrow::Datum> values,
                                             int64_t num_rows) {
    return FloorTimes(values[0], num_rows, unit);
  };
  return MakeKernel(kernel, {std::move(time)}, std::move(type));
}

// What a literal interval is in nanoseconds. Errors: Unsupported for months and for what is no
// literal; InvalidInput for none.
arrow::Result<int64_t> TakeStride(std::string_view name, BoundPtr stride) {
  if (IsText(*stride->type()))
    stride = MakeCast(std::move(stride), arrow::month_day_nano_interval());
  const LiteralNode* literal = AsLiteral(stride);
  if (literal == nullptr || literal->value()->type->id() != arrow::Type::INTERVAL_MONTH_DAY_NANO ||
      !literal->value()->is_valid) {
    return Unsupported("{}() is built for literal intervals, not for {}", name,
                       TypeName(*stride->type()));
  }
  const auto interval =
      static_cast<const arrow::MonthDayNanoIntervalScalar&>(*literal->value()).value;
  if (interval.months != 0) return Unsupported("{}() by months is not built", name);
  int64_t nanoseconds = 0;
  if (__builtin_mul_overflow(int64_t{interval.days}, int64_t{86'400'000'000'000}, &nanoseconds) ||
      __builtin_add_overflow(nanoseconds, interval.nanoseconds, &nanoseconds)) {
    return InvalidInput("{}(): the interval is too long", name);
  }
  if (nanoseconds == 0) return InvalidInput("{}(): the interval must not be zero", name);
  return nanoseconds;
}

// The begin of the interval that a time is in; intervals follow each other from `origin` on, both
// ways. A negative stride goes toward the origin.
std::optional<int64_t> BinOf(int64_t time, int64_t stride, int64_t origin) {
  int64_t distance = 0;
  if (__builtin_sub_overflow(time, origin, &distance)) return std::nullopt;
  int64_t begin = stride == -1 ? distance : distance - distance % stride;
  if (distance < 0 && stride > 1 && begin != distance &&
      __builtin_sub_overflow(begin, stride, &begin)) {
    return std::nullopt;
  }
  if (__builtin_add_overflow(begin, origin, &begin)) return std::nullopt;
  return begin;
}

arrow::Result<BoundPtr> BindBin(std::string_view name, Arguments arguments) {
  ARROW_ASSIGN_OR_RAISE(const int64_t stride, TakeStride(name, std::move(arguments[0])));
  BoundPtr time = std::move(arguments[1]);
  ARROW_RETURN_NOT_OK(TakeTime(name, &time));
  const TypePtr nanoseconds = arrow::timestamp(arrow::TimeUnit::NANO);
  std::string zone;
  if (time->type()->id() == arrow::Type::TIMESTAMP) {
    zone = static_cast<const arrow::TimestampType&>(*time->type()).timezone();
  }
  int64_t origin = 0;
  if (arguments.size() > 2) {
    const BoundPtr bound = MakeCast(std::move(arguments[2]), nanoseconds);
    const LiteralNode* literal = AsLiteral(bound);
    if (literal == nullptr || !literal->value()->is_valid) {
      return Unsupported("{}() from an origin that is not a literal is not built", name);
    }
    origin = static_cast<const arrow::TimestampScalar&>(*literal->value()).value;
  }
  const bool keeps_unit =
      arguments.size() == 2 && zone.empty() && !arrow::is_date(time->type()->id());
  const TypePtr type = keeps_unit ? time->type() : arrow::timestamp(arrow::TimeUnit::NANO, zone);
  time = MakeCast(std::move(time), type);
  static constexpr std::array<int64_t, 4> kNanos = {1'000'000'000, 1'000'000, 1'000, 1};
  const int64_t scale =
      kNanos[static_cast<size_t>(static_cast<const arrow::TimestampType&>(*type).unit())];
  const Kernel kernel = [stride, origin, scale, type](
                            std::span<const arrow::Datum> values,
                            int64_t num_rows) -> arrow::Result<arrow::Datum> {
    ARROW_ASSIGN_OR_RAISE(const auto times, ToArray(values[0], num_rows));
    bool fits = true;
    ARROW_ASSIGN_OR_RAISE(const auto bins, MapTicks(*times, [&](int64_t, int64_t tick) {
                            int64_t nanos = 0;
                            if (__builtin_mul_overflow(tick, scale, &nanos)) {
                              fits = false;
                              return int64_t{0};
                            }
                            const auto bin = BinOf(nanos, stride, origin);
                            fits = fits && bin;
                            return bin.value_or(0) / scale;
                          }));
    if (!fits) return InvalidInput("date_bin(): a time is out of the range of nanoseconds");
    return arrow::Datum(TicksAs(*bins, type));
  };
  return MakeKernel(kernel, {std::move(time)}, type);
}

std::optional<arrow::TimeUnit::type> UnitOf(std::string_view function) {
  if (function.ends_with("_seconds")) return arrow::TimeUnit::SECOND;
  if (function.ends_with("_millis")) return arrow::TimeUnit::MILLI;
  if (function.ends_with("_micros")) return arrow::TimeUnit::MICRO;
  if (function.ends_with("_nanos")) return arrow::TimeUnit::NANO;
  return std::nullopt;
}

// What no timestamp holds is the last or the first one, and NaN is 1970.
BoundPtr StampOfSeconds(BoundPtr seconds, const TypePtr& nanoseconds) {
  const Kernel kernel = [nanoseconds](std::span<const arrow::Datum> values,
                                      int64_t num_rows) -> arrow::Result<arrow::Datum> {
    ARROW_ASSIGN_OR_RAISE(const auto array, ToArray(values[0], num_rows));
    const auto& reals = static_cast<const arrow::DoubleArray&>(*array);
    ARROW_ASSIGN_OR_RAISE(const auto ticks, MapTicks(*array, [&](int64_t i, int64_t) {
                            constexpr double kEnd = 9223372036854775808.0;
                            const double ns = reals.Value(i) * 1e9;
                            if (std::isnan(ns)) return int64_t{0};
                            if (ns >= kEnd) return INT64_MAX;
                            return ns < -kEnd ? INT64_MIN : static_cast<int64_t>(ns);
                          }));
    return arrow::Datum(TicksAs(*ticks, nanoseconds));
  };
  return MakeKernel(kernel, {std::move(seconds)}, nanoseconds);
}

// A number counts in the unit of the function's name; in to_timestamp() it counts seconds.
arrow::Result<BoundPtr> BindStamp(std::string_view name, Arguments arguments) {
  const auto unit = UnitOf(name);
  const TypePtr type = arrow::timestamp(unit.value_or(arrow::TimeUnit::NANO));
  BoundPtr value = std::move(arguments[0]);
  if (IsNumber(*value->type())) {
    if (!unit && !arrow::is_integer(value->type()->id())) {
      return StampOfSeconds(MakeCast(std::move(value), arrow::float64()), type);
    }
    if (!unit) {
      value = MakeCast(std::move(value), arrow::timestamp(arrow::TimeUnit::SECOND));
      return MakeCast(std::move(value), type);
    }
    return MakeCast(MakeCast(std::move(value), arrow::int64()), type);
  }
  ARROW_RETURN_NOT_OK(TakeTime(name, &value));
  return MakeCast(std::move(value), type);
}

arrow::Result<BoundPtr> BindFromUnix(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeInteger(name, &arguments[0]));
  return MakeCast(std::move(arguments[0]), arrow::timestamp(arrow::TimeUnit::SECOND));
}

arrow::Result<BoundPtr> BindToUnix(std::string_view name, Arguments arguments) {
  if (IsNumber(*arguments[0]->type())) return MakeCast(std::move(arguments[0]), arrow::int64());
  ARROW_RETURN_NOT_OK(TakeTime(name, &arguments[0]));
  const TypePtr seconds = arrow::timestamp(arrow::TimeUnit::SECOND);
  return MakeCast(MakeCast(std::move(arguments[0]), seconds), arrow::int64());
}

arrow::Result<BoundPtr> BindToDate(std::string_view, Arguments arguments) {
  BoundPtr value = std::move(arguments[0]);
  if (IsNumber(*value->type())) value = MakeCast(std::move(value), arrow::int32());
  return MakeCast(std::move(value), arrow::date32());
}

// The same for all rows: when the expression was bound.
arrow::Result<BoundPtr> BindNow(std::string_view name, Arguments) {
  BoundPtr stamp = MakeCast(MakeLiteral(arrow::MakeScalar(UnixNanoseconds())),
                            arrow::timestamp(arrow::TimeUnit::NANO));
  if (name == "now" || name == "current_timestamp") return stamp;
  return MakeCast(std::move(stamp), arrow::date32());
}

constexpr std::array<Function, 17> kFunctions = {{
    {"date_bin", 2, 3, &BindBin},
    {"date_part", 2, 2, &BindPart},
    {"datepart", 2, 2, &BindPart},
    {"date_trunc", 2, 2, &BindTrunc},
    {"datetrunc", 2, 2, &BindTrunc},
    {"to_timestamp", 1, 1, &BindStamp},
    {"to_timestamp_seconds", 1, 1, &BindStamp},
    {"to_timestamp_millis", 1, 1, &BindStamp},
    {"to_timestamp_micros", 1, 1, &BindStamp},
    {"to_timestamp_nanos", 1, 1, &BindStamp},
    {"from_unixtime", 1, 1, &BindFromUnix},
    {"to_unixtime", 1, 1, &BindToUnix},
    {"to_date", 1, 1, &BindToDate},
    {"now", 0, 0, &BindNow},
    {"current_timestamp", 0, 0, &BindNow},
    {"current_date", 0, 0, &BindNow},
    {"today", 0, 0, &BindNow},
}};

}  // namespace

std::span<const Function> TimeFunctions() { return kFunctions; }

}  // namespace glaive::query
