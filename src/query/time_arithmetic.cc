#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "query/binder.h"
#include "query/checked_array.h"
#include "query/coercion.h"

namespace glaive::query {
namespace {

using sql::BinaryOperator;
using TypePtr = std::shared_ptr<arrow::DataType>;
using MonthDayNanos = arrow::MonthDayNanoIntervalType::MonthDayNanos;

bool IsDate(const BoundPtr& node) { return arrow::is_date(node->type()->id()); }
bool IsStamp(const BoundPtr& node) { return node->type()->id() == arrow::Type::TIMESTAMP; }
bool IsInterval(const BoundPtr& node) {
  return node->type()->id() == arrow::Type::INTERVAL_MONTH_DAY_NANO;
}
bool IsDuration(const BoundPtr& node) { return node->type()->id() == arrow::Type::DURATION; }

// The same day of another month, or that month's last.
std::chrono::sys_days AddMonths(std::chrono::sys_days day, int months) {
  using namespace std::chrono;
  const year_month_day from{day};
  const year_month month = year_month{from.year(), from.month()} + std::chrono::months{months};
  const year_month_day_last last{month.year(), month_day_last{month.month()}};
  return sys_days{year_month_day{month / std::min(from.day(), last.day())}};
}

constexpr int64_t kMillisOfDay = 86'400'000;

int64_t TicksOfDay(const arrow::DataType& type) {
  if (type.id() == arrow::Type::DATE32) return 1;
  if (type.id() == arrow::Type::DATE64) return kMillisOfDay;
  switch (static_cast<const arrow::TimestampType&>(type).unit()) {
    case arrow::TimeUnit::SECOND: return 86'400;
    case arrow::TimeUnit::MILLI: return kMillisOfDay;
    case arrow::TimeUnit::MICRO: return kMillisOfDay * 1'000;
    default: return kMillisOfDay * 1'000'000;
  }
}

std::optional<int64_t> AddInterval(int64_t ticks, const MonthDayNanos& interval, int sign,
                                   int64_t ticks_of_day) {
  constexpr int64_t kMostDays = 100'000'000;  // well within what a calendar can name
  constexpr int64_t kNanosOfDay = kMillisOfDay * 1'000'000;
  int64_t day = ticks / ticks_of_day - (ticks % ticks_of_day < 0 ? 1 : 0);
  const int64_t rest = ticks - day * ticks_of_day;
  if (interval.months != 0) {
    if (day < -kMostDays / 10 || day > kMostDays / 10) return std::nullopt;
    const std::chrono::sys_days from{std::chrono::days{static_cast<int>(day)}};
    const int64_t months = int64_t{sign} * interval.months;
    if (months < -1'000'000 || months > 1'000'000) return std::nullopt;
    day = AddMonths(from, static_cast<int>(months)).time_since_epoch().count();
  }
  day += int64_t{sign} * interval.days;
  if (day < -kMostDays * 2 || day > kMostDays * 2) return std::nullopt;
  const int64_t more = ticks_of_day >= kNanosOfDay
                           ? sign * interval.nanoseconds
                           : sign * (interval.nanoseconds / (kNanosOfDay / ticks_of_day));
  int64_t result = 0;
  if (__builtin_mul_overflow(day, ticks_of_day, &result) ||
      __builtin_add_overflow(result, rest, &result) ||
      __builtin_add_overflow(result, more, &result)) {
    return std::nullopt;
  }
  return result;
}

arrow::Result<arrow::Datum> AddIntervals(std::span<const arrow::Datum> sides, int64_t num_rows,
                                         int sign, const TypePtr& type) {
  // As plain numbers of their unit.
  const bool is_day = type->id() == arrow::Type::DATE32;
  const TypePtr counted = is_day ? arrow::int32() : arrow::int64();
  ARROW_ASSIGN_OR_RAISE(const auto array, ToArray(sides[0], num_rows));
  ARROW_ASSIGN_OR_RAISE(const auto numbers, array->View(counted));
  ARROW_ASSIGN_OR_RAISE(const auto intervals, ToArray(sides[1], num_rows));
  const auto& of_row = ArrayAs<arrow::MonthDayNanoIntervalArray>(*intervals);
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(num_rows));
  const int64_t ticks_of_day = TicksOfDay(*type);
  for (int64_t i = 0; i < num_rows; ++i) {
    if (numbers->IsNull(i) || intervals->IsNull(i)) {
      builder.UnsafeAppendNull();
      continue;
    }
    const int64_t ticks = is_day ? ArrayAs<arrow::Int32Array>(*numbers).Value(i)
                                 : ArrayAs<arrow::Int64Array>(*numbers).Value(i);
    const auto sum = AddInterval(ticks, of_row.Value(i), sign, ticks_of_day);
    if (!sum)
      return InvalidInput("a date beside an interval leaves what {} holds", TypeName(*type));
    builder.UnsafeAppend(*sum);
  }
  ARROW_ASSIGN_OR_RAISE(const auto sums, builder.Finish());
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum cast, arrow::compute::Cast(arrow::Datum(sums), counted));
  ARROW_ASSIGN_OR_RAISE(auto result, cast.make_array()->View(type));
  return arrow::Datum(std::move(result));
}

}  // namespace

arrow::Result<BoundPtr> BindTimeArithmetic(BinaryOperator op, const BoundPtr& left,
                                           const BoundPtr& right) {
  const bool adds = op == BinaryOperator::kAdd;
  if (!adds && op != BinaryOperator::kSubtract) return nullptr;
  if ((IsDate(left) || IsStamp(left)) && IsInterval(right)) {
    const TypePtr type = left->type();
    const Kernel kernel = [sign = adds ? 1 : -1, type](std::span<const arrow::Datum> sides,
                                                       int64_t num_rows) {
      return AddIntervals(sides, num_rows, sign, type);
    };
    return MakeKernel(kernel, {left, right}, type);
  }
  if (adds && IsInterval(left) && (IsDate(right) || IsStamp(right))) {
    return BindTimeArithmetic(op, right, left);
  }
  if (!adds && IsDate(left) && IsDate(right)) {
    const auto days = [&](const BoundPtr& node) {
      return MakeCast(MakeCast(MakeCast(node, arrow::date32()), arrow::int32()), arrow::int64());
    };
    return MakeCall("subtract", {days(left), days(right)}, arrow::int64());
  }
  const bool times = (IsDate(left) || IsStamp(left)) && (IsDate(right) || IsStamp(right));
  if (!adds && times) {
    const TypePtr type = ComparisonType(left->type(), right->type());
    const auto unit = static_cast<const arrow::TimestampType&>(*type).unit();
    return MakeCall("subtract", {MakeCast(left, type), MakeCast(right, type)},
                    arrow::duration(unit));
  }
  if (IsStamp(left) && IsDuration(right)) {
    const auto unit = static_cast<const arrow::TimestampType&>(*left->type()).unit();
    return MakeCall(adds ? "add" : "subtract", {left, MakeCast(right, arrow::duration(unit))},
                    left->type());
  }
  return nullptr;
}

}  // namespace glaive::query
