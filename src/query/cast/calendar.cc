#include "query/cast/calendar.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <arrow/builder.h>
#include <arrow/compute/api.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "query/cast/zone_rule.h"
#include "query/values/checked_array.h"

namespace glaive::query {
namespace {

namespace cp = arrow::compute;

constexpr int64_t kMaxYear = 262'142;
constexpr int64_t kMinYear = -262'143;
constexpr int64_t kMinDay = -96'465'292;  // -262143-01-01
constexpr int64_t kMaxDay = 95'026'236;   // 262142-12-31
// Arrow's calendar has these years; beyond them no zone changes any more.
constexpr int64_t kMostZoneSeconds = int64_t{30'000} * 365 * kSecondsOfDay;

// By Arrow, which knows the zones: what the clock shows, or shows what, in seconds.
arrow::Result<std::shared_ptr<arrow::Array>> ZoneSeconds(const arrow::Int64Array& seconds) {
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(seconds.length()));
  for (int64_t i = 0; i < seconds.length(); ++i) {
    if (seconds.IsNull(i)) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(std::clamp(seconds.Value(i), -kMostZoneSeconds, kMostZoneSeconds));
    }
  }
  return builder.Finish();
}

// By row; null where there is nothing to look at, or no offset.
template <typename OffsetOf>
arrow::Result<std::shared_ptr<arrow::Int64Array>> EachOffset(const arrow::Int64Array& seconds,
                                                             const OffsetOf& offset_of) {
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(seconds.length()));
  for (int64_t i = 0; i < seconds.length(); ++i) {
    const auto offset = seconds.IsNull(i) ? std::nullopt : offset_of(i);
    if (offset) {
      builder.UnsafeAppend(*offset);
    } else {
      builder.UnsafeAppendNull();
    }
  }
  std::shared_ptr<arrow::Int64Array> offsets;
  ARROW_RETURN_NOT_OK(builder.Finish(&offsets));
  return offsets;
}

arrow::Result<std::shared_ptr<arrow::Int64Array>> Repeated(const arrow::Int64Array& seconds,
                                                           int64_t offset) {
  return EachOffset(seconds, [&](int64_t) { return std::optional(offset); });
}

using OffsetsOf = arrow::Result<std::shared_ptr<arrow::Int64Array>>(const arrow::Int64Array&,
                                                                    const std::string&);

std::optional<int64_t> OfOne(int64_t seconds, const std::string& zone, OffsetsOf* offsets_of) {
  if (const auto offset = FixedOffset(zone)) return offset;
  arrow::Int64Builder builder;
  std::shared_ptr<arrow::Int64Array> one;
  if (!builder.Append(seconds).ok() || !builder.Finish(&one).ok()) return std::nullopt;
  const auto offsets = offsets_of(*one, zone);
  if (!offsets.ok() || (*offsets)->IsNull(0)) return std::nullopt;
  return (*offsets)->Value(0);
}

}  // namespace

int64_t PerSecond(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND: return 1;
    case arrow::TimeUnit::MILLI: return 1'000;
    case arrow::TimeUnit::MICRO: return 1'000'000;
    default: return kNanosOfSecond;
  }
}

arrow::TimeUnit::type UnitOf(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::TIMESTAMP: return static_cast<const arrow::TimestampType&>(type).unit();
    case arrow::Type::TIME32:
    case arrow::Type::TIME64: return static_cast<const arrow::TimeType&>(type).unit();
    case arrow::Type::DURATION: return static_cast<const arrow::DurationType&>(type).unit();
    default: return arrow::TimeUnit::MILLI;
  }
}

// Both by eras of 400 years, whose first day is a first of March.
CivilDay CivilDayOf(int64_t days) {
  days += 719'468;
  const int64_t era = FloorDivide(days, 146'097);
  const int64_t of_era = days - era * 146'097;
  const int64_t year = (of_era - of_era / 1'460 + of_era / 36'524 - of_era / 146'096) / 365;
  const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  const auto from_march = static_cast<int>((5 * of_year + 2) / 153);
  const auto day = static_cast<int>(of_year - (153 * from_march + 2) / 5 + 1);
  const int month = from_march < 10 ? from_march + 3 : from_march - 9;
  return {year + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

std::optional<int64_t> DaysOf(int64_t year, int month, int day) {
  static constexpr int kLengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year < kMinYear || year > kMaxYear || month < 1 || month > 12 || day < 1) return std::nullopt;
  const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  if (day > kLengths[month - 1] + (month == 2 && is_leap ? 1 : 0)) return std::nullopt;
  if (month <= 2) --year;
  const int64_t era = FloorDivide(year, 400);
  const int64_t of_era = year - era * 400;
  const int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

bool IsCalendarDay(int64_t days) { return days >= kMinDay && days <= kMaxDay; }

void AppendPadded(int64_t value, size_t width, std::string* text) {
  const std::string digits = std::to_string(value);
  if (digits.size() < width) text->append(width - digits.size(), '0');
  *text += digits;
}

void AppendDay(int64_t days, std::string* text) {
  const CivilDay civil = CivilDayOf(days);
  if (civil.year < 0) *text += '-';
  if (civil.year > 9999) *text += '+';
  AppendPadded(std::abs(civil.year), 4, text);
  *text += '-';
  AppendPadded(civil.month, 2, text);
  *text += '-';
  AppendPadded(civil.day, 2, text);
}

void AppendClock(int64_t second_of_day, int64_t nanos, std::string* text) {
  AppendPadded(second_of_day / 3'600, 2, text);
  *text += ':';
  AppendPadded(second_of_day / 60 % 60, 2, text);
  *text += ':';
  AppendPadded(second_of_day % 60, 2, text);
  if (nanos == 0) return;
  *text += '.';
  if (nanos % 1'000'000 == 0) {
    AppendPadded(nanos / 1'000'000, 3, text);
  } else if (nanos % 1'000 == 0) {
    AppendPadded(nanos / 1'000, 6, text);
  } else {
    AppendPadded(nanos, 9, text);
  }
}

arrow::Result<std::shared_ptr<arrow::Int64Array>> OffsetsAt(const arrow::Int64Array& seconds,
                                                            const std::string& zone) {
  if (const auto offset = FixedOffset(zone)) return Repeated(seconds, *offset);
  ARROW_ASSIGN_OR_RAISE(const auto instants, ZoneSeconds(seconds));
  ARROW_ASSIGN_OR_RAISE(const auto zoned,
                        instants->View(arrow::timestamp(arrow::TimeUnit::SECOND, zone)));
  auto local = cp::CallFunction("local_timestamp", {arrow::Datum(zoned)});
  if (!local.ok()) return InvalidInput("{}", local.status().message());
  ARROW_ASSIGN_OR_RAISE(const auto shown, local->make_array()->View(arrow::int64()));
  const auto& shown_seconds = ArrayAs<arrow::Int64Array>(*shown);
  const auto& asked = ArrayAs<arrow::Int64Array>(*instants);
  const auto rule = ZoneRule::Of(zone);
  return EachOffset(seconds, [&](int64_t i) -> std::optional<int64_t> {
    if (rule != nullptr && seconds.Value(i) >= rule->begins()) {
      return rule->OffsetAt(seconds.Value(i));
    }
    return shown_seconds.Value(i) - asked.Value(i);
  });
}

std::optional<int64_t> OffsetAt(int64_t seconds, const std::string& zone) {
  return OfOne(seconds, zone, &OffsetsAt);
}

std::optional<int64_t> OffsetOfLocal(int64_t seconds, const std::string& zone) {
  return OfOne(seconds, zone, &OffsetsOfLocal);
}

arrow::Result<std::shared_ptr<arrow::Int64Array>> OffsetsOfLocal(const arrow::Int64Array& seconds,
                                                                 const std::string& zone) {
  if (const auto offset = FixedOffset(zone)) return Repeated(seconds, *offset);
  ARROW_ASSIGN_OR_RAISE(const auto shown, ZoneSeconds(seconds));
  ARROW_ASSIGN_OR_RAISE(const auto local, shown->View(arrow::timestamp(arrow::TimeUnit::SECOND)));
  using Options = cp::AssumeTimezoneOptions;
  const auto resolve =
      [&](Options::Ambiguous ambiguous,
          Options::Nonexistent nonexistent) -> arrow::Result<std::shared_ptr<arrow::Array>> {
    const auto instants =
        cp::AssumeTimezone(arrow::Datum(local), Options(zone, ambiguous, nonexistent));
    if (!instants.ok()) return InvalidInput("{}", instants.status().message());
    return instants->make_array()->View(arrow::int64());
  };
  ARROW_ASSIGN_OR_RAISE(const auto early,
                        resolve(Options::AMBIGUOUS_EARLIEST, Options::NONEXISTENT_EARLIEST));
  ARROW_ASSIGN_OR_RAISE(const auto late,
                        resolve(Options::AMBIGUOUS_LATEST, Options::NONEXISTENT_LATEST));
  const auto& earlier = ArrayAs<arrow::Int64Array>(*early);
  const auto& later = ArrayAs<arrow::Int64Array>(*late);
  const auto& asked = ArrayAs<arrow::Int64Array>(*shown);
  const auto rule = ZoneRule::Of(zone);
  return EachOffset(seconds, [&](int64_t i) -> std::optional<int64_t> {
    // No zone is more than a day ahead or behind.
    if (rule != nullptr && seconds.Value(i) >= rule->begins() + kSecondsOfDay) {
      return rule->OffsetOfLocal(seconds.Value(i));
    }
    if (earlier.Value(i) != later.Value(i)) return std::nullopt;
    return asked.Value(i) - earlier.Value(i);
  });
}

}  // namespace glaive::query
