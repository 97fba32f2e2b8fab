#include "dataset/handle/time_text.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glaive::dataset {
namespace {

using ::testing::Optional;

constexpr int64_t kSecond = 1'000'000'000;

TEST(TimeTextTest, TimesComeBack) {
  EXPECT_EQ(FormatTime(1'795'992'128 * kSecond + 172'496'604), "2026-11-29T22:42:08.172496604Z");
  for (const int64_t time :
       {int64_t{0}, int64_t{-1}, 951'782'400 * kSecond + 1, std::numeric_limits<int64_t>::max()}) {
    EXPECT_THAT(ParseTime(FormatTime(time)), Optional(time));
  }
}

TEST(TimeTextTest, OtherFormsAreRead) {
  EXPECT_THAT(ParseTime("1970-01-01T01:00:00+01:00"), Optional(0));
  EXPECT_THAT(ParseTime("1970-01-01 00:00:01z"), Optional(kSecond));
  EXPECT_THAT(ParseTime("1970-01-01T00:00:00.5Z"), Optional(kSecond / 2));
}

TEST(TimeTextTest, WhatIsNoTimeIsRefused) {
  for (const char* text :
       {"", "2026", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:00", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Z ",
        "9999-01-01T00:00:00Z", "-026-01-01T00:00:00Z"}) {
    EXPECT_EQ(ParseTime(text), std::nullopt) << text;
  }
}

// As pylance writes them into a table's config.
TEST(TimeTextTest, DurationsAreWrittenAsPylanceDoes) {
  EXPECT_EQ(FormatDuration(0), "0s");
  EXPECT_EQ(FormatDuration(90), "1m 30s");
  EXPECT_EQ(FormatDuration(14 * 86'400), "14days");
  EXPECT_EQ(FormatDuration(3 * 86'400 + 3'661), "3days 1h 1m 1s");
  EXPECT_EQ(FormatDuration(100'000'000), "3years 2months 18h 39m 28s");
}

TEST(TimeTextTest, DurationsAreRead) {
  for (const uint64_t seconds : {0u, 90u, 262'861u, 100'000'000u}) {
    EXPECT_THAT(ParseDurationNs(FormatDuration(seconds)),
                Optional(static_cast<int64_t>(seconds) * kSecond));
  }
  EXPECT_THAT(ParseDurationNs("2weeks 3 hours"), Optional((14 * 24 + 3) * 3'600 * kSecond));
  EXPECT_THAT(ParseDurationNs("5ms"), Optional(5'000'000));
  for (const char* text : {"", "5", "5 parsecs", "s", "-1s", "999999999years"}) {
    EXPECT_EQ(ParseDurationNs(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace glaive::dataset
