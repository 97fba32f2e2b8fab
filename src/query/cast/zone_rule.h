#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

// When a zone's clocks change after the last change that its file lists.
//
// Files of the time zone database (TZif, RFC 9636) list changes up to some year, mostly 2037, and
// end with a rule for all later ones, such as CET-1CEST,M3.5.0,M10.5.0/3. Arrow knows the list
// only.
namespace glaive::query {

class ZoneRule {
 public:
  // What the system's file of that zone ends with; null where there is no file or no rule. Files
  // are read once.
  static std::shared_ptr<const ZoneRule> Of(const std::string& zone);
  // Of the text of a rule. Nothing if it has another form.
  static std::optional<ZoneRule> Parse(std::string_view text, int64_t begins);

  // The first instant that the rule is for, in seconds since 1970.
  int64_t begins() const { return begins_; }
  // How many seconds the zone is ahead of UTC, of an instant from begins() on.
  int64_t OffsetAt(int64_t seconds) const;
  // Likewise of a time by the zone's clock. Nothing where clocks skip it or show it twice.
  std::optional<int64_t> OffsetOfLocal(int64_t seconds) const;

 private:
  struct Change {
    enum class By { kWeekday, kDayWithoutLeap, kDay };
    By by = By::kWeekday;
    int month = 0;
    int week = 0;  // 5: the last
    int day = 0;
    int64_t time = 7'200;  // of the clock before the change, in seconds

    int64_t DayOf(int year) const;
  };
  struct Reader;

  int64_t begins_ = 0;
  int64_t standard_ = 0;
  int64_t summer_ = 0;
  std::optional<Change> to_summer_;  // none: the clocks never change
  std::optional<Change> to_standard_;
};

}  // namespace glaive::query
