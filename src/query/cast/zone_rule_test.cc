#include "query/cast/zone_rule.h"

#include <gtest/gtest.h>

namespace glaive::query {
namespace {

constexpr int64_t kHour = 3'600;
constexpr int64_t kJulyOf2046 = 2'414'168'105;     // 2046-07-02 18:15:05 UTC
constexpr int64_t kJanuaryOf2046 = 2'398'443'305;  // 2046-01-01 18:15:05 UTC
constexpr int64_t kCycle = int64_t{146'097} * 86'400;

TEST(ZoneRuleTest, ClocksChangeByTheRule) {
  const auto rule = ZoneRule::Parse("CET-1CEST,M3.5.0,M10.5.0/3", 0);
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->OffsetAt(kJulyOf2046), 2 * kHour);
  EXPECT_EQ(rule->OffsetAt(kJanuaryOf2046), kHour);
  EXPECT_EQ(rule->OffsetAt(kJulyOf2046 + 5 * kCycle), 2 * kHour);
  // 2046-03-25 01:00 UTC, to the second.
  constexpr int64_t kChange = 2'405'552'400;
  EXPECT_EQ(rule->OffsetAt(kChange - 1), kHour);
  EXPECT_EQ(rule->OffsetAt(kChange), 2 * kHour);
  EXPECT_EQ(rule->OffsetOfLocal(kChange + kHour - 1), kHour);
  EXPECT_EQ(rule->OffsetOfLocal(kChange + kHour), std::nullopt);  // skipped
  EXPECT_EQ(rule->OffsetOfLocal(kChange + 2 * kHour), 2 * kHour);
  // 2046-10-28 01:00 UTC: 02:00 to 03:00 are shown twice.
  constexpr int64_t kBack = 2'424'301'200;
  EXPECT_EQ(rule->OffsetAt(kBack - 1), 2 * kHour);
  EXPECT_EQ(rule->OffsetAt(kBack), kHour);
  EXPECT_EQ(rule->OffsetOfLocal(kBack + kHour), std::nullopt);
  EXPECT_EQ(rule->OffsetOfLocal(kBack + kHour - 1), 2 * kHour);
  EXPECT_EQ(rule->OffsetOfLocal(kBack + 2 * kHour), kHour);
}

TEST(ZoneRuleTest, SummerMayLieAroundTheTurnOfTheYear) {
  const auto rule = ZoneRule::Parse("AEST-10AEDT,M10.1.0,M4.1.0/3", 0);
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->OffsetAt(kJulyOf2046), 10 * kHour);
  EXPECT_EQ(rule->OffsetAt(kJanuaryOf2046), 11 * kHour);
}

TEST(ZoneRuleTest, EveryFormIsRead) {
  EXPECT_EQ(ZoneRule::Parse("<+0545>-5:45", 0)->OffsetAt(0), 5 * kHour + 45 * 60);
  EXPECT_EQ(ZoneRule::Parse("EST5", 0)->OffsetAt(0), -5 * kHour);
  // The winter is what changes in Dublin, by an hour less; days may be counted.
  EXPECT_EQ(ZoneRule::Parse("IST-1GMT0,M10.5.0,M3.5.0/1", 0)->OffsetAt(kJanuaryOf2046), 0);
  EXPECT_EQ(ZoneRule::Parse("A3B2,J60/-1,J300/24", 0)->OffsetAt(kJulyOf2046), -2 * kHour);
  EXPECT_EQ(ZoneRule::Parse("A3B2,59,299", 0)->OffsetAt(kJanuaryOf2046), -3 * kHour);
}

TEST(ZoneRuleTest, OtherTextsAreNoRules) {
  for (const char* text : {"", "CET", "CET-1CEST", "CET-1CEST,M13.1.0,M10.5.0",
                           "CET-1CEST,M3.6.0,M9.1.0", "CET-1CEST,M3.5.7,M10.5.0",
                           "CET-1CEST,M3.5.0", "CET-1CEST,M3.5.0,M10.5.0x", "<CET-1", "-1"}) {
    EXPECT_FALSE(ZoneRule::Parse(text, 0)) << text;
  }
}

TEST(ZoneRuleTest, ZonesOfTheSystemHaveOne) {
  const auto rule = ZoneRule::Of("Europe/Berlin");
  ASSERT_NE(rule, nullptr);
  EXPECT_GE(rule->begins(), 828'234'000);  // 1996, since when the rule holds
  EXPECT_EQ(rule->OffsetAt(kJulyOf2046), 2 * kHour);
  EXPECT_EQ(ZoneRule::Of("Nowhere/Atall"), nullptr);
  EXPECT_EQ(ZoneRule::Of("../../../etc/passwd"), nullptr);
}

}  // namespace
}  // namespace glaive::query
