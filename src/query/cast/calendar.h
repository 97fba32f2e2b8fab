#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/array.h>
#include <arrow/result.h>
#include <arrow/type.h>

// Days, times of day and zones, with the years that pylance's calendar has.
namespace glaive::query {

constexpr int64_t kSecondsOfDay = 86'400;
constexpr int64_t kNanosOfSecond = 1'000'000'000;

// How many of a unit make a second.
int64_t PerSecond(arrow::TimeUnit::type unit);
// The unit of a time, timestamp or duration. Dates of 64 bits count milliseconds.
arrow::TimeUnit::type UnitOf(const arrow::DataType& type);

// The quotient toward minus infinity, as before 1970; the rest is not negative.
constexpr int64_t FloorDivide(int64_t value, int64_t divisor) noexcept {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}
constexpr int64_t FloorRest(int64_t value, int64_t divisor) noexcept {
  const int64_t rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}

struct CivilDay {
  int64_t year;
  int month;
  int day;
};
// Of the proleptic Gregorian calendar, by days since 1970-01-01.
CivilDay CivilDayOf(int64_t days);
// Nothing if there is no such day, or its year is not among those from -262143 to 262142.
std::optional<int64_t> DaysOf(int64_t year, int month, int day);
// Whether a calendar has the day with that number.
bool IsCalendarDay(int64_t days);

// A number that is not negative, with zeros in front up to so many digits.
void AppendPadded(int64_t value, size_t width, std::string* text);
// 2024-03-05, -0001-12-31, +12345-01-01.
void AppendDay(int64_t days, std::string* text);
// 14:00:00, with as many digits of a second as it takes, in threes.
void AppendClock(int64_t second_of_day, int64_t nanos, std::string* text);

// An instant as a text gives it.
struct ParsedTime {
  int64_t seconds;  // since 1970-01-01T00:00:00, by the clock of the zone
  int64_t nanos;    // a leap second has more than 999,999,999
  // Where the text names no zone, the clock is that of the column.
  std::optional<std::string> zone;
};
// 2024-03-05, 2024-03-05T14:00:00.123456+01:00, 2024-03-05 14:00:00 Europe/Berlin.
std::optional<ParsedTime> ParseTime(std::string_view text);
// Days since 1970 of 2024-03-05, 2024-3-5, 20240305, +12345-01-01, or of an instant by UTC.
std::optional<int64_t> ParseDay(std::string_view text);
// Nanoseconds since midnight of 14:00, 14:00:00.5, 2:00 PM.
std::optional<int64_t> ParseClock(std::string_view text);

// 1 year 2 months -3 days 4.5 hours; a number alone counts months. Nothing if it is no interval, or
// one that does not fit.
std::optional<arrow::MonthDayNanoIntervalType::MonthDayNanos> ParseInterval(std::string_view text);

// The seconds that a zone is ahead of UTC, or nothing if its name is no such offset: UTC, +05:30.
std::optional<int64_t> FixedOffset(std::string_view zone);
// Those that it is ahead at each instant, given in seconds since 1970. Nulls stay. Errors: the zone
// is not known.
arrow::Result<std::shared_ptr<arrow::Int64Array>> OffsetsAt(const arrow::Int64Array& seconds,
                                                            const std::string& zone);
// That at one instant, or nothing if the zone is not known.
std::optional<int64_t> OffsetAt(int64_t seconds, const std::string& zone);
// That at one local time, or nothing, as below.
std::optional<int64_t> OffsetOfLocal(int64_t seconds, const std::string& zone);
// Those at each local time. Null where a clock that is put forward skips it, or one that is put
// back shows it twice.
arrow::Result<std::shared_ptr<arrow::Int64Array>> OffsetsOfLocal(const arrow::Int64Array& seconds,
                                                                 const std::string& zone);

}  // namespace glaive::query
