#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>

#include "query/cast/calendar.h"

namespace glaive::query {
namespace {

using MonthDayNanos = arrow::MonthDayNanoIntervalType::MonthDayNanos;

__extension__ using Wide = __int128;

constexpr int64_t kFractionDigits = 15;
constexpr int64_t kFractionOne = 1'000'000'000'000'000;

// What one of a unit is. A fraction of it counts in the next smaller one: those of a month as days
// of which it has thirty.
struct Unit {
  std::array<std::string_view, 4> names;  // singular
  int64_t months;
  int64_t days;
  int64_t nanos;
};
constexpr int64_t kMinute = 60 * kNanosOfSecond;
constexpr std::array<Unit, 12> kUnits = {{
    {{"century", "centurie", "cent", "c"}, 1200, 0, 0},
    {{"decade", "dec", "", ""}, 120, 0, 0},
    {{"year", "yr", "y", ""}, 12, 0, 0},
    {{"month", "mon", "", ""}, 1, 0, 0},
    {{"week", "w", "", ""}, 0, 7, 0},
    {{"day", "d", "", ""}, 0, 1, 0},
    {{"hour", "hr", "h", ""}, 0, 0, 60 * kMinute},
    {{"minute", "min", "m", ""}, 0, 0, kMinute},
    {{"second", "sec", "s", ""}, 0, 0, kNanosOfSecond},
    {{"millisecond", "msecond", "msec", "ms"}, 0, 0, 1'000'000},
    {{"microsecond", "usecond", "usec", "us"}, 0, 0, 1'000},
    {{"nanosecond", "", "", ""}, 0, 0, 1},
}};

const Unit* UnitNamed(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  const auto is_named = [&](const Unit& unit) {
    return std::ranges::any_of(unit.names, [&](std::string_view name) {
      if (name.empty()) return false;
      return lower == name || (name.size() > 1 && lower == std::string(name) + "s");
    });
  };
  const auto* found = std::ranges::find_if(kUnits, is_named);
  return found == kUnits.end() ? nullptr : found;
}

// 12, -1.5, .5: whole and a fraction of the same sign, in 10^-15.
bool ParseAmount(std::string_view text, int64_t* whole, int64_t* fraction) {
  const bool is_negative = text.starts_with('-');
  const size_t point = std::min(text.find('.'), text.size());
  std::string_view digits = text.substr(0, point);
  *whole = 0;
  *fraction = 0;
  const bool has_fraction = point < text.size();
  if (!has_fraction || (!digits.empty() && digits != "-")) {
    const char* end = digits.data() + digits.size();
    const auto [at, error] = std::from_chars(digits.data(), end, *whole);
    if (at != end || error != std::errc()) return false;
  }
  if (!has_fraction) return true;
  digits = text.substr(point + 1);
  if (digits.empty() || digits.size() > kFractionDigits ||
      digits.find_first_not_of("0123456789") != digits.npos) {
    return false;
  }
  for (int64_t i = 0; i < kFractionDigits; ++i) {
    const auto at = static_cast<size_t>(i);
    *fraction = *fraction * 10 + (at < digits.size() ? digits[at] - '0' : 0);
  }
  if (is_negative) *fraction = -*fraction;
  return true;
}

// The whole part of so many times the fraction; what is beyond 128 bits cannot be.
int64_t OfFraction(int64_t fraction, int64_t times) {
  return static_cast<int64_t>(static_cast<Wide>(fraction) * times / kFractionOne);
}

template <typename T>
bool AddTo(T* sum, Wide more) {
  const Wide result = *sum + more;
  *sum = static_cast<T>(result);
  return *sum == result;
}

bool Add(MonthDayNanos* sum, int64_t whole, int64_t fraction, const Unit& unit) {
  Wide months = static_cast<Wide>(whole) * unit.months;
  Wide days = static_cast<Wide>(whole) * unit.days;
  Wide nanos = static_cast<Wide>(whole) * unit.nanos;
  if (unit.months > 1) months += OfFraction(fraction, unit.months);
  if (unit.months == 1) days += OfFraction(fraction, 30);
  if (unit.days > 0) nanos += OfFraction(fraction, unit.days * kSecondsOfDay * kNanosOfSecond);
  if (unit.nanos > 0) nanos += OfFraction(fraction, unit.nanos);
  return AddTo(&sum->months, months) && AddTo(&sum->days, days) && AddTo(&sum->nanoseconds, nanos);
}

}  // namespace

std::optional<MonthDayNanos> ParseInterval(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  MonthDayNanos interval{0, 0, 0};
  uint32_t seen = 0;
  for (bool at_end = false; !at_end;) {
    const auto next_word = [&] {
      const size_t end = std::min(text.find_first_of(kBlanks), text.size());
      const std::string_view word = text.substr(0, end);
      at_end = end == text.size();
      text.remove_prefix(std::min(end + 1, text.size()));
      return word;
    };
    std::string_view amount = next_word();
    const Unit* unit = &kUnits[3];
    const size_t split = amount.find_first_not_of("0123456789.-");
    if (split != amount.npos) {  // 5days
      unit = UnitNamed(amount.substr(split));
      amount = amount.substr(0, split);
    } else if (!at_end) {
      unit = UnitNamed(next_word());
    }
    int64_t whole = 0;
    int64_t fraction = 0;
    if (unit == nullptr || !ParseAmount(amount, &whole, &fraction)) return std::nullopt;
    const uint32_t bit = 1u << (unit - kUnits.data());
    if ((seen & bit) != 0 || !Add(&interval, whole, fraction, *unit)) return std::nullopt;
    seen |= bit;
  }
  return interval;
}

}  // namespace glaive::query
