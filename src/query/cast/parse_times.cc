#include <cstddef>

#include "query/cast/calendar.h"

// Texts of days, instants and times of day.
namespace glaive::query {
namespace {

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

}  // namespace

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

}  // namespace glaive::query
