#include "query/calendar.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <arrow/builder.h>
#include <arrow/compute/api.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "query/checked_array.h"

namespace glaive::query {
namespace {

namespace cp = arrow::compute;

constexpr int64_t kMaxYear = 262'142;
constexpr int64_t kMinYear = -262'143;
constexpr int64_t kMinDay = -96'465'292;  // -262143-01-01
constexpr int64_t kMaxDay = 95'026'236;   // 262142-12-31
// Arrow's calendar has these years; beyond them no zone changes any more.
constexpr int64_t kMostZoneSeconds = int64_t{30'000} * 365 * kSecondsOfDay;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Reads from the front of a text; each step says whether it was there.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::string_view rest() const { return text_; }
  bool AtEnd() const { return text_.empty(); }
  bool Skip(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  size_t CountDigits() const {
    size_t count = 0;
    while (count < text_.size() && IsDigit(text_[count])) ++count;
    return count;
  }
  // A number of exactly so many digits.
  bool Number(size_t digits, int* value) {
    if (CountDigits() < digits) return false;
    *value = 0;
    for (const char c : text_.substr(0, digits)) *value = *value * 10 + (c - '0');
    text_.remove_prefix(digits);
    return true;
  }
  // Digits after a point, of which those past the ninth do not count.
  bool Fraction(int64_t* nanos) {
    const size_t digits = CountDigits();
    if (digits == 0) return false;
    *nanos = 0;
    for (size_t i = 0; i < 9; ++i) *nanos = *nanos * 10 + (i < digits ? text_[i] - '0' : 0);
    text_.remove_prefix(digits);
    return true;
  }

 private:
  std::string_view text_;
};

// A second of 60 is a leap second: the one before with a second more.
std::optional<int64_t> SecondOfDay(int hour, int minute, int second, int64_t* nanos) {
  if (second == 60) {
    second = 59;
    *nanos += kNanosOfSecond;
  }
  if (hour > 23 || minute > 59 || second > 59) return std::nullopt;
  return (int64_t{hour} * 60 + minute) * 60 + second;
}

// 14:00:00.123 or 140000; the zone is left in the reader.
std::optional<int64_t> ReadClock(Reader* reader, int64_t* nanos) {
  int hour = 0;
  int minute = 0;
  int second = 0;
  *nanos = 0;
  if (reader->CountDigits() == 6) {
    reader->Number(2, &hour);
    reader->Number(2, &minute);
    reader->Number(2, &second);
    return SecondOfDay(hour, minute, second, nanos);
  }
  if (reader->CountDigits() != 2 || !reader->Number(2, &hour) || !reader->Skip(':') ||
      reader->CountDigits() != 2 || !reader->Number(2, &minute) || !reader->Skip(':') ||
      reader->CountDigits() != 2 || !reader->Number(2, &second)) {
    return std::nullopt;
  }
  if (reader->Skip('.') && !reader->Fraction(nanos)) return std::nullopt;
  return SecondOfDay(hour, minute, second, nanos);
}

std::optional<int64_t> ReadDay(Reader* reader) {
  int year = 0;
  int month = 0;
  int day = 0;
  if (reader->CountDigits() != 4 || !reader->Number(4, &year) || !reader->Skip('-') ||
      reader->CountDigits() != 2 || !reader->Number(2, &month) || !reader->Skip('-') ||
      reader->CountDigits() != 2 || !reader->Number(2, &day)) {
    return std::nullopt;
  }
  return DaysOf(year, month, day);
}

// +12345-01-01, -0044-03-15
std::optional<int64_t> ParseSignedDay(std::string_view text) {
  const bool is_negative = text.front() == '-';
  Reader reader(text.substr(1));
  const size_t digits = reader.CountDigits();
  int year = 0;
  int month = 0;
  int day = 0;
  if (digits < 4 || digits > 9 || !reader.Number(digits, &year) || !reader.Skip('-')) {
    return std::nullopt;
  }
  const auto read_part = [&](int* value) {
    const size_t size = reader.CountDigits();
    return size > 0 && size < 9 && reader.Number(size, value);
  };
  if (!read_part(&month) || !reader.Skip('-') || !read_part(&day) || !reader.AtEnd()) {
    return std::nullopt;
  }
  return DaysOf(is_negative ? -year : year, month, day);
}

void AppendPadded(int64_t value, int width, std::string* text) {
  const std::string digits = std::to_string(value);
  text->append(static_cast<size_t>(std::max(0, width - static_cast<int>(digits.size()))), '0');
  *text += digits;
}

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

arrow::Result<std::shared_ptr<arrow::Int64Array>> Difference(const arrow::Array& left,
                                                             const arrow::Array& right) {
  const auto& a = ArrayAs<arrow::Int64Array>(left);
  const auto& b = ArrayAs<arrow::Int64Array>(right);
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(a.length()));
  for (int64_t i = 0; i < a.length(); ++i) {
    if (a.IsNull(i) || b.IsNull(i)) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(a.Value(i) - b.Value(i));
    }
  }
  std::shared_ptr<arrow::Int64Array> difference;
  ARROW_RETURN_NOT_OK(builder.Finish(&difference));
  return difference;
}

arrow::Result<std::shared_ptr<arrow::Int64Array>> Repeated(const arrow::Int64Array& like,
                                                           int64_t value) {
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(like.length()));
  for (int64_t i = 0; i < like.length(); ++i) {
    if (like.IsNull(i)) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(value);
    }
  }
  std::shared_ptr<arrow::Int64Array> repeated;
  ARROW_RETURN_NOT_OK(builder.Finish(&repeated));
  return repeated;
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

std::optional<ParsedTime> ParseTime(std::string_view text) {
  Reader reader(text);
  const auto days = ReadDay(&reader);
  if (!days) return std::nullopt;
  ParsedTime time{*days * kSecondsOfDay, 0, std::nullopt};
  if (reader.AtEnd()) return time;
  if (!reader.Skip('T') && !reader.Skip('t') && !reader.Skip(' ')) return std::nullopt;
  const auto second_of_day = ReadClock(&reader, &time.nanos);
  if (!second_of_day) return std::nullopt;
  time.seconds += *second_of_day;
  if (reader.AtEnd()) return time;
  if (reader.rest() == "Z" || reader.rest() == "z") {
    time.zone = "UTC";
    return time;
  }
  while (reader.Skip(' ')) {
  }
  time.zone = std::string(reader.rest());
  return time;
}

std::optional<int64_t> ParseDay(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) return ParseSignedDay(text);
  if (text.size() > 10) {
    const auto time = ParseTime(text);
    if (!time) return std::nullopt;
    const auto offset = OffsetOfLocal(time->seconds, time->zone.value_or("UTC"));
    if (!offset) return std::nullopt;
    return FloorDivide(time->seconds - *offset, kSecondsOfDay);
  }
  Reader reader(text);
  int year = 0;
  int month = 0;
  int day = 0;
  if (reader.CountDigits() == 8 && text.size() == 8) {
    reader.Number(4, &year);
    reader.Number(2, &month);
    reader.Number(2, &day);
    return DaysOf(year, month, day);
  }
  const auto read_part = [&](int* value) {
    const size_t size = reader.CountDigits();
    return (size == 1 || size == 2) && reader.Number(size, value);
  };
  if (reader.CountDigits() != 4 || !reader.Number(4, &year) || !reader.Skip('-') ||
      !read_part(&month) || !reader.Skip('-') || !read_part(&day) || !reader.AtEnd()) {
    return std::nullopt;
  }
  return DaysOf(year, month, day);
}

std::optional<int64_t> ParseClock(std::string_view text) {
  bool is_am = false;
  bool is_pm = false;
  if (text.size() >= 3 && text[text.size() - 3] == ' ' && (text.back() | 0x20) == 'm') {
    const char half = static_cast<char>(text[text.size() - 2] | 0x20);
    is_am = half == 'a';
    is_pm = half == 'p';
    if (is_am || is_pm) text.remove_suffix(3);
  }
  Reader reader(text);
  int hour = 0;
  int minute = 0;
  int second = 0;
  int64_t nanos = 0;
  const size_t size = reader.CountDigits();
  if (size < 1 || size > 2 || !reader.Number(size, &hour) || !reader.Skip(':') ||
      !reader.Number(2, &minute)) {
    return std::nullopt;
  }
  if (reader.Skip(':')) {
    if (!reader.Number(2, &second)) return std::nullopt;
    if (reader.Skip('.') && !reader.Fraction(&nanos)) return std::nullopt;
  }
  if (!reader.AtEnd()) return std::nullopt;
  if (is_am || is_pm) {
    if (hour < 1 || hour > 12) return std::nullopt;
    hour = hour % 12 + (is_pm ? 12 : 0);
  }
  const auto second_of_day = SecondOfDay(hour, minute, second, &nanos);
  if (!second_of_day) return std::nullopt;
  return *second_of_day * kNanosOfSecond + nanos;
}

std::optional<int64_t> FixedOffset(std::string_view zone) {
  if (zone == "UTC" || zone == "Etc/UTC" || zone == "Z") return 0;
  if (!zone.starts_with('+') && !zone.starts_with('-')) return std::nullopt;
  Reader reader(zone.substr(1));
  int hours = 0;
  int minutes = 0;
  const size_t digits = reader.CountDigits();
  if ((digits != 2 && digits != 4) || !reader.Number(2, &hours)) return std::nullopt;
  if (reader.Skip(':') || digits == 4) {
    if (!reader.Number(2, &minutes)) return std::nullopt;
  }
  if (!reader.AtEnd() || hours > 23) return std::nullopt;
  const int64_t seconds = int64_t{hours} * 3'600 + int64_t{minutes} * 60;
  return zone.front() == '-' ? -seconds : seconds;
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
  return Difference(*shown, *instants);
}

std::optional<int64_t> OffsetOfLocal(int64_t seconds, const std::string& zone) {
  if (const auto offset = FixedOffset(zone)) return offset;
  arrow::Int64Builder builder;
  std::shared_ptr<arrow::Int64Array> one;
  if (!builder.Append(seconds).ok() || !builder.Finish(&one).ok()) return std::nullopt;
  const auto offsets = OffsetsOfLocal(*one, zone);
  if (!offsets.ok() || (*offsets)->IsNull(0)) return std::nullopt;
  return (*offsets)->Value(0);
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
  const auto& a = ArrayAs<arrow::Int64Array>(*early);
  const auto& b = ArrayAs<arrow::Int64Array>(*late);
  const auto& local_seconds = ArrayAs<arrow::Int64Array>(*shown);
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(a.length()));
  for (int64_t i = 0; i < a.length(); ++i) {
    if (a.IsNull(i) || a.Value(i) != b.Value(i)) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(local_seconds.Value(i) - a.Value(i));
    }
  }
  std::shared_ptr<arrow::Int64Array> offsets;
  ARROW_RETURN_NOT_OK(builder.Finish(&offsets));
  return offsets;
}

}  // namespace glaive::query
