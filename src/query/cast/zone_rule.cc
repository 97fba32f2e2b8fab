#include "query/cast/zone_rule.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

namespace glaive::query {
namespace {

namespace chrono = std::chrono;

constexpr int64_t kSecondsOfDay = 86'400;
// The calendar begins anew after 400 years, also with the days of the week.
constexpr int64_t kCycle = int64_t{146'097} * kSecondsOfDay;
constexpr int64_t kHour = 3'600;
constexpr size_t kMostBytes = size_t{1} << 20;  // of a file; real ones have some thousands

int64_t DaysOf(chrono::sys_days day) { return day.time_since_epoch().count(); }

uint64_t BigEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

// Letters, digits and what else names of zones have: no way out of the folder.
bool IsName(std::string_view zone) {
  const auto may_be = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '+' || c == '/';
  };
  return !zone.empty() && zone.front() != '/' && std::ranges::all_of(zone, may_be);
}

std::string ReadZoneFile(const std::string& zone) {
  static constexpr std::array kFolders = {"/usr/share/zoneinfo/", "/usr/share/lib/zoneinfo/",
                                          "/usr/lib/zoneinfo/"};
  for (const char* folder : kFolders) {
    std::ifstream file(folder + zone, std::ios::binary);
    if (!file) continue;
    std::string bytes(kMostBytes, '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    return bytes;
  }
  return {};
}

// A header of 44 bytes: TZif, the version, 15 bytes of nothing, and how many of each there are.
struct Header {
  static constexpr size_t kBytes = 44;
  size_t num_utc, num_standard, num_leaps, num_times, num_types, num_letters;

  static std::optional<Header> Parse(std::string_view bytes) {
    if (bytes.size() < kBytes || !bytes.starts_with("TZif") || bytes[4] < '2') return std::nullopt;
    const auto count = [&](size_t at) { return BigEndian(bytes.substr(20 + 4 * at, 4)); };
    return Header{count(0), count(1), count(2), count(3), count(4), count(5)};
  }
  size_t DataBytes(size_t time_bytes) const {
    return num_times * (time_bytes + 1) + num_types * 6 + num_letters +
           num_leaps * (time_bytes + 4) + num_standard + num_utc;
  }
};

}  // namespace

// Reads from the front of a rule's text; each step says whether it was there.
struct ZoneRule::Reader {
  std::string_view text;

  bool Skip(char c) {
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
  }
  // CET, <+0330>
  bool Name() {
    const bool quoted = Skip('<');
    const auto ends = [&](char c) {
      return quoted ? c == '>' : !((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'));
    };
    const auto* const end = std::ranges::find_if(text, ends);
    const auto length = static_cast<size_t>(end - text.begin());
    text.remove_prefix(length);
    return length > 0 && (!quoted || Skip('>'));
  }
  bool Number(int* number) {
    const size_t before = text.size();
    for (*number = 0; !text.empty() && text[0] >= '0' && text[0] <= '9' && *number < 1'000;) {
      *number = *number * 10 + (text[0] - '0');
      text.remove_prefix(1);
    }
    return text.size() < before;
  }
  // [+-]hh[:mm[:ss]]
  bool Clock(int64_t* seconds) {
    const bool negative = Skip('-');
    if (!negative) Skip('+');
    int64_t unit = kHour;
    *seconds = 0;
    do {
      int number = 0;
      if (!Number(&number)) return false;
      *seconds += number * unit;
      unit /= 60;
    } while (unit > 0 && Skip(':'));
    if (negative) *seconds = -*seconds;
    return true;
  }
  // M3.5.0, J60, 59; then perhaps /2:00
  bool At(Change* change) {
    if (Skip('M')) {
      if (!Number(&change->month) || !Skip('.') || !Number(&change->week) || !Skip('.')) {
        return false;
      }
      const bool exist = change->month >= 1 && change->month <= 12 && change->week >= 1;
      if (!exist || change->week > 5) return false;
    } else {
      change->by = Skip('J') ? Change::By::kDayWithoutLeap : Change::By::kDay;
    }
    if (!Number(&change->day)) return false;
    if (change->by == Change::By::kWeekday && change->day > 6) return false;
    return !Skip('/') || Clock(&change->time);
  }
};

int64_t ZoneRule::Change::DayOf(int year) const {
  const chrono::year in{year};
  const auto first = chrono::sys_days(in / chrono::January / 1);
  if (by == By::kDay) return DaysOf(first) + day;
  if (by == By::kDayWithoutLeap) return DaysOf(first) + day - (in.is_leap() && day > 59 ? 0 : 1);
  const chrono::weekday weekday{static_cast<unsigned>(day)};
  const auto of_month = in / chrono::month{static_cast<unsigned>(month)};
  if (week == 5) return DaysOf(chrono::sys_days(of_month / weekday[chrono::last]));
  return DaysOf(chrono::sys_days(of_month / weekday[static_cast<unsigned>(week)]));
}

std::optional<ZoneRule> ZoneRule::Parse(std::string_view text, int64_t begins) {
  Reader reader{text};
  ZoneRule rule;
  rule.begins_ = begins;
  int64_t behind = 0;  // POSIX counts how far a zone is behind UTC
  if (!reader.Name() || !reader.Clock(&behind)) return std::nullopt;
  rule.standard_ = -behind;
  rule.summer_ = rule.standard_ + kHour;
  if (reader.text.empty()) return rule;
  if (!reader.Name()) return std::nullopt;
  if (!reader.text.starts_with(',')) {
    if (!reader.Clock(&behind)) return std::nullopt;
    rule.summer_ = -behind;
  }
  const bool whole = reader.Skip(',') && reader.At(&rule.to_summer_.emplace()) &&
                     reader.Skip(',') && reader.At(&rule.to_standard_.emplace());
  if (!whole || !reader.text.empty()) return std::nullopt;
  return rule;
}

int64_t ZoneRule::OffsetAt(int64_t seconds) const {
  if (!to_summer_) return standard_;
  const int64_t in_cycle = (seconds % kCycle + kCycle) % kCycle;
  const chrono::year_month_day date{
      chrono::sys_days(chrono::days((in_cycle + standard_) / kSecondsOfDay))};
  const int year = static_cast<int>(date.year());
  const int64_t summer = to_summer_->DayOf(year) * kSecondsOfDay + to_summer_->time - standard_;
  const int64_t winter = to_standard_->DayOf(year) * kSecondsOfDay + to_standard_->time - summer_;
  // South of the equator summer lies around the turn of the year.
  const bool is_summer = summer < winter ? in_cycle >= summer && in_cycle < winter
                                         : in_cycle >= summer || in_cycle < winter;
  return is_summer ? summer_ : standard_;
}

std::optional<int64_t> ZoneRule::OffsetOfLocal(int64_t seconds) const {
  const bool in_standard = OffsetAt(seconds - standard_) == standard_;
  const bool in_summer = OffsetAt(seconds - summer_) == summer_;
  if (in_standard == in_summer && standard_ != summer_) return std::nullopt;
  return in_standard ? standard_ : summer_;
}

std::shared_ptr<const ZoneRule> ZoneRule::Of(const std::string& zone) {
  static std::mutex mutex;
  static auto* const known = new std::map<std::string, std::shared_ptr<const ZoneRule>>();
  const std::lock_guard lock(mutex);
  if (const auto found = known->find(zone); found != known->end()) return found->second;
  if (!IsName(zone)) return nullptr;
  const std::string file = ReadZoneFile(zone);
  std::string_view rest = file;
  std::shared_ptr<const ZoneRule> rule;
  // The first part is for readers of 32 bits.
  if (const auto narrow = Header::Parse(rest)) {
    rest.remove_prefix(std::min(rest.size(), Header::kBytes + narrow->DataBytes(4)));
    const auto wide = Header::Parse(rest);
    if (wide && rest.size() > Header::kBytes + wide->DataBytes(8)) {
      const std::string_view times = rest.substr(Header::kBytes, wide->num_times * 8);
      const int64_t last =
          times.empty() ? 0 : static_cast<int64_t>(BigEndian(times.substr(times.size() - 8)));
      rest.remove_prefix(Header::kBytes + wide->DataBytes(8) + 1);
      const auto parsed = Parse(rest.substr(0, rest.find('\n')), last);
      if (parsed) rule = std::make_shared<ZoneRule>(*parsed);
    }
  }
  return known->emplace(zone, std::move(rule)).first->second;
}

}  // namespace glaive::query
