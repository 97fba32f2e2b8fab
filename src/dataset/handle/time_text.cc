#include "dataset/handle/time_text.h"

#include <array>
#include <charconv>
#include <chrono>
#include <limits>

#include <fmt/core.h>

namespace glaive::dataset {
namespace {

constexpr int64_t kNanos = 1'000'000'000;

// Takes a number of `width` digits off the front.
std::optional<int64_t> TakeDigits(std::string_view& text, size_t width) {
  int64_t value = 0;
  if (text.size() < width) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + width, value);
  if (error != std::errc() || end != text.data() + width || value < 0) return std::nullopt;
  text.remove_prefix(width);
  return value;
}

bool Take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<int64_t> TakeFraction(std::string_view& text) {
  if (!Take(text, ".")) return 0;
  int64_t nanos = 0;
  int64_t unit = kNanos / 10;
  bool any = false;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    nanos += unit * (text.front() - '0');
    unit /= 10;
    text.remove_prefix(1);
    any = true;
  }
  return any ? std::optional(nanos) : std::nullopt;
}

// Seconds east of UTC.
std::optional<int64_t> TakeOffset(std::string_view& text) {
  if (Take(text, "Zz")) return 0;
  const bool west = !text.empty() && text.front() == '-';
  if (!Take(text, "+-")) return std::nullopt;
  const auto hours = TakeDigits(text, 2);
  if (!hours || !Take(text, ":")) return std::nullopt;
  const auto minutes = TakeDigits(text, 2);
  if (!minutes) return std::nullopt;
  const int64_t seconds = *hours * 3600 + *minutes * 60;
  return west ? -seconds : seconds;
}

struct Unit {
  std::string_view name;
  uint64_t nanos;
};

constexpr uint64_t kSecond = kNanos;
constexpr std::array<Unit, 6> kFormatted = {{{"year", 31'557'600 * kSecond},
                                             {"month", 2'630'016 * kSecond},
                                             {"day", 86'400 * kSecond},
                                             {"h", 3'600 * kSecond},
                                             {"m", 60 * kSecond},
                                             {"s", kSecond}}};
constexpr std::array<Unit, 35> kParsed = {{
    {"nanos", 1},
    {"nsec", 1},
    {"ns", 1},
    {"usec", 1'000},
    {"us", 1'000},
    {"millis", 1'000'000},
    {"msec", 1'000'000},
    {"ms", 1'000'000},
    {"seconds", kSecond},
    {"second", kSecond},
    {"secs", kSecond},
    {"sec", kSecond},
    {"s", kSecond},
    {"minutes", 60 * kSecond},
    {"minute", 60 * kSecond},
    {"mins", 60 * kSecond},
    {"min", 60 * kSecond},
    {"m", 60 * kSecond},
    {"hours", 3'600 * kSecond},
    {"hour", 3'600 * kSecond},
    {"hrs", 3'600 * kSecond},
    {"hr", 3'600 * kSecond},
    {"h", 3'600 * kSecond},
    {"days", 86'400 * kSecond},
    {"day", 86'400 * kSecond},
    {"d", 86'400 * kSecond},
    {"weeks", 604'800 * kSecond},
    {"week", 604'800 * kSecond},
    {"w", 604'800 * kSecond},
    {"months", 2'630'016 * kSecond},
    {"month", 2'630'016 * kSecond},
    {"M", 2'630'016 * kSecond},
    {"years", 31'557'600 * kSecond},
    {"year", 31'557'600 * kSecond},
    {"y", 31'557'600 * kSecond},
}};

std::optional<uint64_t> NanosOf(std::string_view name) {
  for (const Unit& unit : kParsed) {
    if (unit.name == name) return unit.nanos;
  }
  return std::nullopt;
}

}  // namespace

std::string FormatTime(int64_t time_ns) {
  using std::chrono::floor;
  const std::chrono::sys_time<std::chrono::nanoseconds> time{std::chrono::nanoseconds(time_ns)};
  const auto day = floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::optional<int64_t> ParseTime(std::string_view text) {
  const auto year = TakeDigits(text, 4);
  if (!year || !Take(text, "-")) return std::nullopt;
  const auto month = TakeDigits(text, 2);
  if (!month || !Take(text, "-")) return std::nullopt;
  const auto day = TakeDigits(text, 2);
  if (!day || !Take(text, "Tt ")) return std::nullopt;
  const auto hour = TakeDigits(text, 2);
  if (!hour || !Take(text, ":")) return std::nullopt;
  const auto minute = TakeDigits(text, 2);
  if (!minute || !Take(text, ":")) return std::nullopt;
  const auto second = TakeDigits(text, 2);
  if (!second) return std::nullopt;
  const auto nanos = TakeFraction(text);
  if (!nanos) return std::nullopt;
  const auto offset = TakeOffset(text);
  if (!offset || !text.empty()) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t seconds = days * 86'400 + *hour * 3'600 + *minute * 60 + *second - *offset;
  int64_t time = 0;
  if (__builtin_mul_overflow(seconds, kNanos, &time)) return std::nullopt;
  if (__builtin_add_overflow(time, *nanos, &time)) return std::nullopt;
  return time;
}

std::string FormatDuration(uint64_t seconds) {
  std::string text;
  for (const Unit& unit : kFormatted) {
    const uint64_t size = unit.nanos / kSecond;
    const uint64_t count = seconds / size;
    seconds %= size;
    if (count == 0) continue;
    const bool plural = count > 1 && unit.name.size() > 1;
    text += fmt::format("{}{}{}{}", text.empty() ? "" : " ", count, unit.name, plural ? "s" : "");
  }
  return text.empty() ? "0s" : text;
}

std::optional<int64_t> ParseDurationNs(std::string_view text) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  uint64_t total = 0;
  bool any = false;
  while (true) {
    while (Take(text, " ")) continue;
    if (text.empty()) break;
    uint64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    while (Take(text, " ")) continue;
    size_t length = 0;
    while (length < text.size() && text[length] != ' ' &&
           (text[length] < '0' || text[length] > '9'))
      ++length;
    const auto unit = NanosOf(text.substr(0, length));
    if (!unit || count > kMost / *unit || total > kMost - count * *unit) return std::nullopt;
    total += count * *unit;
    text.remove_prefix(length);
    any = true;
  }
  return any ? std::optional(static_cast<int64_t>(total)) : std::nullopt;
}

}  // namespace glaive::dataset
