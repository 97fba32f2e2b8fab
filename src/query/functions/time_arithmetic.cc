#include <chrono>
#include <cstdlib>
#include <optional>
#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "query/cast/calendar.h"
#include "query/cast/cast.h"
#include "query/cast/coercion.h"
#include "query/cast/kinds.h"
#include "query/nodes/binder.h"
#include "query/values/checked_array.h"

namespace glaive::query {
namespace {

using sql::BinaryOperator;
using Id = arrow::Type;
using MonthDayNanos = arrow::MonthDayNanoIntervalType::MonthDayNanos;
using Seconds = std::shared_ptr<arrow::Int64Array>;

constexpr int64_t kMillisOfDay = kSecondsOfDay * 1'000;

bool IsDate(const BoundPtr& node) { return arrow::is_date(node->type()->id()); }
bool IsStamp(const BoundPtr& node) { return node->type()->id() == Id::TIMESTAMP; }
bool IsInterval(const BoundPtr& node) { return node->type()->id() == Id::INTERVAL_MONTH_DAY_NANO; }
bool IsDuration(const BoundPtr& node) { return node->type()->id() == Id::DURATION; }
bool IsClock(const BoundPtr& node) { return arrow::is_time(node->type()->id()); }
bool IsInteger(const BoundPtr& node) { return arrow::is_integer(node->type()->id()); }

arrow::Status LeavesType(const arrow::DataType& type) {
  return InvalidInput("a date beside an interval leaves what {} holds", TypeName(type));
}

// The same day of another month, or that month's last.
std::optional<int64_t> AddMonths(int64_t days, int64_t months) {
  if (!IsCalendarDay(days)) return std::nullopt;
  const CivilDay from = CivilDayOf(days);
  const int64_t sum = from.year * 12 + (from.month - 1) + months;
  const int64_t year = FloorDivide(sum, 12);
  const int month = static_cast<int>(FloorRest(sum, 12)) + 1;
  for (int day = from.day; day > 27; --day) {
    if (const auto found = DaysOf(year, month, day)) return found;
  }
  return DaysOf(year, month, from.day);
}

std::optional<int64_t> AddDays(int64_t days, int64_t more) {
  if (!IsCalendarDay(days) || !IsCalendarDay(days + more)) return std::nullopt;
  return days + more;
}

// A sum by the calendar of the column's zone, in the two steps that go by its clock: months, then
// days. Both give nothing where the clock does not show the time on that day, or shows it twice.
struct Step {
  std::optional<int64_t> (*add)(int64_t days, int64_t more);
  int64_t (*part)(const MonthDayNanos& interval);
};
constexpr Step kSteps[] = {
    {&AddMonths, [](const MonthDayNanos& interval) { return int64_t{interval.months}; }},
    {&AddDays, [](const MonthDayNanos& interval) { return int64_t{interval.days}; }},
};

template <typename Value>
arrow::Result<Seconds> EachRow(int64_t num_rows, const Value& value) {
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(num_rows));
  for (int64_t i = 0; i < num_rows; ++i) {
    if (const std::optional<int64_t> one = value(i)) {
      builder.UnsafeAppend(*one);
    } else {
      builder.UnsafeAppendNull();
    }
  }
  Seconds seconds;
  ARROW_RETURN_NOT_OK(builder.Finish(&seconds));
  return seconds;
}

// Where the interval has such a part; the other rows stay. `seconds` are instants.
arrow::Result<Seconds> AddPart(const Step& step, const Seconds& seconds,
                               const arrow::MonthDayNanoIntervalArray& intervals, int sign,
                               const std::string& zone, const arrow::DataType& type) {
  bool any = false;
  for (int64_t i = 0; i < seconds->length() && !any; ++i) {
    any = seconds->IsValid(i) && step.part(intervals.Value(i)) != 0;
  }
  if (!any) return seconds;
  ARROW_ASSIGN_OR_RAISE(const Seconds before, OffsetsAt(*seconds, zone));
  bool all_fit = true;
  ARROW_ASSIGN_OR_RAISE(
      const Seconds local, EachRow(seconds->length(), [&](int64_t i) -> std::optional<int64_t> {
        if (seconds->IsNull(i) || step.part(intervals.Value(i)) == 0) return std::nullopt;
        const int64_t shown = seconds->Value(i) + before->Value(i);
        const auto day =
            step.add(FloorDivide(shown, kSecondsOfDay), sign * step.part(intervals.Value(i)));
        all_fit = all_fit && day.has_value();
        if (!day) return std::nullopt;
        return *day * kSecondsOfDay + FloorRest(shown, kSecondsOfDay);
      }));
  if (!all_fit) return LeavesType(type);
  ARROW_ASSIGN_OR_RAISE(const Seconds after, OffsetsOfLocal(*local, zone));
  ARROW_ASSIGN_OR_RAISE(const Seconds sums,
                        EachRow(seconds->length(), [&](int64_t i) -> std::optional<int64_t> {
                          if (seconds->IsNull(i)) return std::nullopt;
                          if (step.part(intervals.Value(i)) == 0) return seconds->Value(i);
                          if (after->IsNull(i)) return std::nullopt;
                          return local->Value(i) - after->Value(i);
                        }));
  if (sums->null_count() != seconds->null_count()) {
    return InvalidInput(
        "a timestamp beside an interval is a local time that {} does not show, or "
        "shows twice",
        TypeName(type));
  }
  return sums;
}

// Of nanoseconds and an instant, in the unit, toward minus infinity.
std::optional<int64_t> InTicks(int64_t seconds, int64_t nanos, int64_t per_second) {
  int64_t ticks = 0;
  const int64_t whole = seconds + FloorDivide(nanos, kNanosOfSecond);
  const int64_t rest = FloorRest(nanos, kNanosOfSecond) / (kNanosOfSecond / per_second);
  // By way of the second after, so that the smallest value is not passed.
  const int64_t up = whole < 0 ? 1 : 0;
  if (__builtin_mul_overflow(whole + up, per_second, &ticks) ||
      __builtin_add_overflow(ticks, rest - up * per_second, &ticks)) {
    return std::nullopt;
  }
  return ticks;
}

arrow::Result<ArrayPtr> AddToStamps(const ArrayPtr& stamps,
                                    const arrow::MonthDayNanoIntervalArray& intervals, int sign) {
  const arrow::DataType& type = *stamps->type();
  const std::string& zone = static_cast<const arrow::TimestampType&>(type).timezone();
  const int64_t per_second = PerSecond(UnitOf(type));
  ARROW_ASSIGN_OR_RAISE(const auto array, TicksOf(stamps));
  const auto& ticks = ArrayAs<arrow::Int64Array>(*array);
  ARROW_ASSIGN_OR_RAISE(Seconds seconds,
                        EachRow(ticks.length(), [&](int64_t i) -> std::optional<int64_t> {
                          if (ticks.IsNull(i) || intervals.IsNull(i)) return std::nullopt;
                          return FloorDivide(ticks.Value(i), per_second);
                        }));
  for (const Step& step : kSteps) {
    ARROW_ASSIGN_OR_RAISE(
        seconds, AddPart(step, seconds, intervals, sign, zone.empty() ? "UTC" : zone, type));
  }
  bool all_fit = true;
  ARROW_ASSIGN_OR_RAISE(
      const Seconds sums, EachRow(ticks.length(), [&](int64_t i) -> std::optional<int64_t> {
        if (seconds->IsNull(i)) return std::nullopt;
        int64_t nanos = FloorRest(ticks.Value(i), per_second) * (kNanosOfSecond / per_second);
        const int64_t more = intervals.Value(i).nanoseconds;
        // In whole seconds and the rest, which cannot overflow.
        int64_t sum = seconds->Value(i) + sign * (more / kNanosOfSecond);
        nanos += sign * (more % kNanosOfSecond);
        const auto result = InTicks(sum, nanos, per_second);
        const bool has_day = IsCalendarDay(FloorDivide(seconds->Value(i), kSecondsOfDay)) &&
                             IsCalendarDay(FloorDivide(sum, kSecondsOfDay));
        all_fit = all_fit && result && has_day;
        return result;
      }));
  if (!all_fit) return LeavesType(type);
  return sums->View(stamps->type());
}

// Dates are whole days, of an interval's nanoseconds too.
arrow::Result<ArrayPtr> AddToDates(const ArrayPtr& dates,
                                   const arrow::MonthDayNanoIntervalArray& intervals, int sign) {
  constexpr int64_t kNanosOfDay = kSecondsOfDay * kNanosOfSecond;
  const bool is_wide = dates->type_id() == Id::DATE64;
  ARROW_ASSIGN_OR_RAISE(const auto array, TicksOf(dates));
  const auto& ticks = ArrayAs<arrow::Int64Array>(*array);
  bool all_fit = true;
  ARROW_ASSIGN_OR_RAISE(
      const Seconds sums, EachRow(ticks.length(), [&](int64_t i) -> std::optional<int64_t> {
        if (ticks.IsNull(i) || intervals.IsNull(i)) return std::nullopt;
        const MonthDayNanos interval = intervals.Value(i);
        auto day = std::optional(is_wide ? ticks.Value(i) / kMillisOfDay : ticks.Value(i));
        day = AddMonths(*day, int64_t{sign} * interval.months);
        if (day) day = AddDays(*day, int64_t{sign} * interval.days);
        if (day) day = AddDays(*day, sign * (interval.nanoseconds / kNanosOfDay));
        all_fit = all_fit && day.has_value();
        if (!day) return std::nullopt;
        return is_wide ? *day * kMillisOfDay : *day;
      }));
  if (!all_fit) return LeavesType(*dates->type());
  if (is_wide) return sums->View(dates->type());
  ARROW_ASSIGN_OR_RAISE(const auto narrow, CastToInteger(sums, arrow::int32(), false));
  return narrow->View(dates->type());
}

BoundPtr AddIntervals(const BoundPtr& times, const BoundPtr& intervals, int sign) {
  const Kernel kernel = [sign](std::span<const arrow::Datum> sides,
                               int64_t num_rows) -> arrow::Result<arrow::Datum> {
    ARROW_ASSIGN_OR_RAISE(const auto left, ToArray(sides[0], num_rows));
    ARROW_ASSIGN_OR_RAISE(const auto right, ToArray(sides[1], num_rows));
    const auto& of_row = ArrayAs<arrow::MonthDayNanoIntervalArray>(*right);
    ARROW_ASSIGN_OR_RAISE(auto sums, left->type_id() == Id::TIMESTAMP
                                         ? AddToStamps(left, of_row, sign)
                                         : AddToDates(left, of_row, sign));
    return arrow::Datum(std::move(sums));
  };
  return MakeKernel(kernel, {times, intervals}, times->type());
}

// A number beside a date counts days.
BoundPtr DaysAsInterval(const BoundPtr& number) {
  const Kernel kernel = [](std::span<const arrow::Datum> values,
                           int64_t num_rows) -> arrow::Result<arrow::Datum> {
    ARROW_ASSIGN_OR_RAISE(const auto array, ToArray(values[0], num_rows));
    const auto& days = ArrayAs<arrow::Int32Array>(*array);
    ARROW_ASSIGN_OR_RAISE(auto intervals,
                          (CastRows<arrow::MonthDayNanoIntervalBuilder>(
                              days, arrow::month_day_nano_interval(), false, [&](int64_t i) {
                                return std::optional(MonthDayNanos{0, days.Value(i), 0});
                              })));
    return arrow::Datum(std::move(intervals));
  };
  return MakeKernel(kernel, {MakeCast(number, arrow::int32())}, arrow::month_day_nano_interval());
}

// A time of day is the nanoseconds since midnight.
BoundPtr AsInterval(const BoundPtr& node) {
  if (!IsClock(node)) return MakeCast(node, arrow::month_day_nano_interval());
  const auto nanos = arrow::time64(arrow::TimeUnit::NANO);
  const auto plain = arrow::duration(arrow::TimeUnit::NANO);
  return MakeCast(MakeCast(MakeCast(MakeCast(node, nanos), arrow::int64()), plain),
                  arrow::month_day_nano_interval());
}

BoundPtr SumOfIntervals(const BoundPtr& left, const BoundPtr& right, int sign) {
  const Kernel kernel = [sign](std::span<const arrow::Datum> sides,
                               int64_t num_rows) -> arrow::Result<arrow::Datum> {
    ARROW_ASSIGN_OR_RAISE(const auto first, ToArray(sides[0], num_rows));
    ARROW_ASSIGN_OR_RAISE(const auto second, ToArray(sides[1], num_rows));
    const auto& a = ArrayAs<arrow::MonthDayNanoIntervalArray>(*first);
    const auto& b = ArrayAs<arrow::MonthDayNanoIntervalArray>(*second);
    arrow::MonthDayNanoIntervalBuilder builder;
    ARROW_RETURN_NOT_OK(builder.Reserve(num_rows));
    for (int64_t i = 0; i < num_rows; ++i) {
      if (a.IsNull(i) || b.IsNull(i)) {
        ARROW_RETURN_NOT_OK(builder.AppendNull());
        continue;
      }
      const MonthDayNanos x = a.Value(i);
      const MonthDayNanos y = b.Value(i);
      MonthDayNanos sum{};
      const auto add = [sign](auto value, auto more, auto* result) {
        return sign > 0 ? __builtin_add_overflow(value, more, result)
                        : __builtin_sub_overflow(value, more, result);
      };
      if (add(x.months, y.months, &sum.months) || add(x.days, y.days, &sum.days) ||
          add(x.nanoseconds, y.nanoseconds, &sum.nanoseconds)) {
        return InvalidInput("the sum of two intervals leaves what an interval holds");
      }
      ARROW_RETURN_NOT_OK(builder.Append(sum));
    }
    ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
    return arrow::Datum(std::move(result));
  };
  return MakeKernel(kernel, {AsInterval(left), AsInterval(right)},
                    arrow::month_day_nano_interval());
}

// Sums and differences that the unit cannot hold are errors. Arrow's kernels look at what lies
// behind nulls, too.
BoundPtr Checked(bool adds, BoundPtr left, BoundPtr right, const TypePtr& type) {
  const Kernel kernel = [adds, type](std::span<const arrow::Datum> sides,
                                     int64_t num_rows) -> arrow::Result<arrow::Datum> {
    ARROW_ASSIGN_OR_RAISE(const auto a, ToArray(sides[0], num_rows));
    ARROW_ASSIGN_OR_RAISE(const auto b, ToArray(sides[1], num_rows));
    const auto* left_ticks = a->data()->GetValues<int64_t>(1);
    const auto* right_ticks = b->data()->GetValues<int64_t>(1);
    arrow::Int64Builder builder;
    ARROW_RETURN_NOT_OK(builder.Reserve(num_rows));
    for (int64_t i = 0; i < num_rows; ++i) {
      int64_t ticks = 0;
      if (a->IsNull(i) || b->IsNull(i)) {
        builder.UnsafeAppendNull();
        continue;
      }
      if (adds ? __builtin_add_overflow(left_ticks[i], right_ticks[i], &ticks)
               : __builtin_sub_overflow(left_ticks[i], right_ticks[i], &ticks)) {
        return InvalidInput("overflow: {} {} {} is more than {} holds", left_ticks[i],
                            adds ? '+' : '-', right_ticks[i], TypeName(*type));
      }
      builder.UnsafeAppend(ticks);
    }
    ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
    ARROW_ASSIGN_OR_RAISE(auto typed, result->View(type));
    return arrow::Datum(std::move(typed));
  };
  return MakeKernel(kernel, {std::move(left), std::move(right)}, type);
}

}  // namespace

arrow::Result<BoundPtr> BindTimeArithmetic(BinaryOperator op, const BoundPtr& left,
                                           const BoundPtr& right) {
  const bool adds = op == BinaryOperator::kAdd;
  if (!adds && op != BinaryOperator::kSubtract) return nullptr;
  const int sign = adds ? 1 : -1;
  const bool is_time = IsDate(left) || IsStamp(left);
  if (is_time && IsInterval(right)) return AddIntervals(left, right, sign);
  if (IsDate(left) && IsInteger(right)) return AddIntervals(left, DaysAsInterval(right), sign);
  if (adds && (IsDate(right) || IsStamp(right)) &&
      (IsInterval(left) || IsDuration(left) || (IsInteger(left) && IsDate(right)))) {
    return BindTimeArithmetic(op, right, left);
  }
  if (!adds && IsDate(left) && IsDate(right) &&
      (left->type()->id() == Id::DATE64 || right->type()->id() == Id::DATE64)) {
    // Dates of 64 bits may hold a time of day: the whole days between them count.
    const auto millis = Checked(adds, MakeCast(left, arrow::date64()),
                                MakeCast(right, arrow::date64()), arrow::int64());
    const auto day = MakeLiteral(arrow::MakeScalar(kMillisOfDay));
    return MakeCall("divide", {millis, day}, arrow::int64());
  }
  if (!adds && IsDate(left) && IsDate(right)) {
    const auto days = [&](const BoundPtr& node) {
      return MakeCast(MakeCast(MakeCast(node, arrow::date32()), arrow::int32()), arrow::int64());
    };
    return MakeCall("subtract", {days(left), days(right)}, arrow::int64());
  }
  if (!adds && is_time && (IsDate(right) || IsStamp(right))) {
    const TypePtr type = ComparisonType(left->type(), right->type());
    return Checked(adds, MakeCast(left, type), MakeCast(right, type),
                   arrow::duration(UnitOf(*type)));
  }
  if (IsStamp(left) && IsDuration(right)) {
    return Checked(adds, left, MakeCast(right, arrow::duration(UnitOf(*left->type()))),
                   left->type());
  }
  if (IsDuration(left) && IsDuration(right) && left->type()->Equals(*right->type())) {
    return Checked(adds, left, right, left->type());
  }
  const bool of_clocks = IsClock(left) && (IsClock(right) || IsInterval(right));
  if (of_clocks || (IsDuration(left) && (IsDuration(right) || IsInterval(right))) ||
      (IsInterval(left) && (IsInterval(right) || IsDuration(right) || IsClock(right)))) {
    return SumOfIntervals(left, right, sign);
  }
  return nullptr;
}

}  // namespace glaive::query
