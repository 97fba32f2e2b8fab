#include "io/coalesce.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glaive::io {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr CoalescePolicy kPolicy = {.max_gap = 10, .max_size = 100};

TEST(CoalesceTest, NothingIsNoRead) {
  EXPECT_THAT(CoalesceRanges({}, kPolicy).reads, IsEmpty());
  EXPECT_THAT(CoalesceRanges({}, kPolicy).read_of, IsEmpty());
}

TEST(CoalesceTest, AGapOfTheLimitIsReadAlongAndOneMoreIsNot) {
  const ByteRange near[] = {{0, 5}, {15, 5}};
  EXPECT_THAT(CoalesceRanges(near, kPolicy).reads, ElementsAre(ByteRange{0, 20}));
  const ByteRange far[] = {{0, 5}, {16, 5}};
  EXPECT_THAT(CoalesceRanges(far, kPolicy).reads, ElementsAre(ByteRange{0, 5}, ByteRange{16, 5}));
}

TEST(CoalesceTest, ASizeOfTheLimitIsOneReadAndOneMoreIsNot) {
  const ByteRange fits[] = {{0, 50}, {50, 50}};
  EXPECT_THAT(CoalesceRanges(fits, kPolicy).reads, ElementsAre(ByteRange{0, 100}));
  const ByteRange passes[] = {{0, 50}, {50, 51}};
  EXPECT_THAT(CoalesceRanges(passes, kPolicy).reads,
              ElementsAre(ByteRange{0, 50}, ByteRange{50, 51}));
}

TEST(CoalesceTest, ALongRangeStaysWholeAndTakesInWhatLiesInIt) {
  const ByteRange ranges[] = {{500, 10}, {0, 1000}, {999, 1}, {1000, 1}};
  const CoalescedRanges coalesced = CoalesceRanges(ranges, kPolicy);
  EXPECT_THAT(coalesced.reads, ElementsAre(ByteRange{0, 1000}, ByteRange{1000, 1}));
  EXPECT_THAT(coalesced.read_of, ElementsAre(0, 0, 0, 1));
}

TEST(CoalesceTest, RangesComeInAnyOrder) {
  const ByteRange ranges[] = {{200, 5}, {0, 5}, {203, 9}, {8, 0}};
  const CoalescedRanges coalesced = CoalesceRanges(ranges, kPolicy);
  EXPECT_THAT(coalesced.reads, ElementsAre(ByteRange{0, 8}, ByteRange{200, 12}));
  EXPECT_THAT(coalesced.read_of, ElementsAre(1, 0, 1, 0));
}

TEST(CoalesceTest, RangesAtTheEndOfTheNumbersDoNotWrap) {
  const ByteRange ranges[] = {{UINT64_MAX - 5, 5}, {0, 5}};
  EXPECT_EQ(CoalesceRanges(ranges, kPolicy).reads.size(), 2);
}

TEST(CoalesceTest, EveryRangeLiesInItsReadAndReadsKeepToTheLimits) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<ByteRange> ranges(random() % 40);
    for (ByteRange& range : ranges) range = {random() % 1000, random() % 30};
    const CoalescedRanges coalesced = CoalesceRanges(ranges, kPolicy);
    for (size_t i = 0; i < ranges.size(); ++i) {
      const ByteRange& read = coalesced.reads[coalesced.read_of[i]];
      ASSERT_LE(read.offset, ranges[i].offset);
      ASSERT_GE(read.end(), ranges[i].end());
    }
    for (size_t i = 0; i < coalesced.reads.size(); ++i) {
      ASSERT_LE(coalesced.reads[i].size, kPolicy.max_size);
      if (i > 0) {
        ASSERT_GE(coalesced.reads[i].offset, coalesced.reads[i - 1].offset);
      }
    }
  }
}

}  // namespace
}  // namespace glaive::io
