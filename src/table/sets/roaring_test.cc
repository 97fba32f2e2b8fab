#include "table/sets/roaring.h"

#include <random>

#include <gtest/gtest.h>

#include "testing/golden.h"
#include "testing/matchers.h"

namespace glaive::table {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::FromHex;
using glaive::testing::IsError;
using glaive::testing::IsOkAndHolds;
using ::testing::ElementsAre;

// pyroaring's bytes after run_optimize: runs, an array, a full container, an array.
constexpr std::string_view kRunsHex =
    "3b300300050000bd00010000000200ffff06000000250000002b0000002d0000003300000001000a00bd0070110100"
    "0000ffff0000";

auto Parse(const std::string& bytes) { return ParseRoaring(BytesOf(bytes), {"r"}); }

TEST(RoaringTest, ReadsTheBytesOfOthers) {
  EXPECT_THAT(Parse(FromHex(kRunsHex)),
              IsOkAndHolds(ElementsAre(RowRange{10, 200}, RowRange{70000, 70001},
                                       RowRange{131072, 196608}, RowRange{393216, 393217})));
  EXPECT_THAT(Parse(FromHex("3a300000010000000000020010000000010002000500")),
              IsOkAndHolds(ElementsAre(RowRange{1, 3}, RowRange{5, 6})));
  EXPECT_THAT(Parse(FromHex("3a30000000000000")), IsOkAndHolds(ElementsAre()));
}

TEST(RoaringTest, WritesPylancesBytes) {
  const std::vector<uint32_t> few = {1, 2, 3, 5, 10};
  EXPECT_EQ(SerializeRoaring(RangesOf(few)),
            FromHex("3a30000001000000000004001000000001000200030005000a00"));
  std::vector<uint32_t> even;
  for (uint32_t i = 0; i < 20000; i += 2) even.push_back(i);
  const std::string bytes = SerializeRoaring(RangesOf(even));
  EXPECT_EQ(bytes.size(), 8208);
  EXPECT_EQ(bytes.substr(0, 20), FromHex("3a3000000100000000000f271000000055555555"));
  EXPECT_EQ(SerializeRoaring({}), FromHex("3a30000000000000"));
}

TEST(RoaringTest, RunsTakeAsManyBytesAsThereAreRanges) {
  const std::vector<RowRange> all = {{0, uint64_t{1} << 32}};
  const std::string bytes = SerializeRoaringWithRuns(all);
  EXPECT_LT(bytes.size(), 1u << 20);
  EXPECT_THAT(Parse(bytes), IsOkAndHolds(all));
  const std::vector<RowRange> golden = {
      {10, 200}, {70000, 70001}, {131072, 196608}, {393216, 393217}};
  EXPECT_EQ(SerializeRoaringWithRuns(golden), FromHex(kRunsHex));
  const std::vector<RowRange> few = {{1, 2}, {5, 6}};
  EXPECT_EQ(SerializeRoaringWithRuns(few), SerializeRoaring(few));
}

TEST(RoaringTest, RandomSetsGoAround) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<RowRange> ranges;
    uint64_t begin = random() % 3000;
    while (begin < 400'000) {
      const uint64_t end = begin + 1 + random() % (round % 4 == 0 ? 70'000 : 3);
      ranges.push_back({begin, end});
      begin = end + 1 + random() % (1 + static_cast<uint64_t>(round) * 40);
    }
    EXPECT_THAT(Parse(SerializeRoaring(ranges)), IsOkAndHolds(ranges)) << round;
    EXPECT_THAT(Parse(SerializeRoaringWithRuns(ranges)), IsOkAndHolds(ranges)) << round;
  }
  const std::vector<RowRange> last = {{0xffff'fffe, uint64_t{1} << 32}};
  EXPECT_THAT(Parse(SerializeRoaring(last)), IsOkAndHolds(last));
}

TEST(RoaringTest, DamagedBytesAreErrors) {
  std::vector<uint32_t> dense;
  for (uint32_t i = 0; i < 9000; ++i) dense.push_back(i * 3);
  for (const std::string& good : {FromHex(kRunsHex), SerializeRoaring(RangesOf(dense))}) {
    for (size_t size = 0; size < good.size(); ++size) {
      EXPECT_EQ(KindOf(Parse(good.substr(0, size)).status()), ErrorKind::kCorrupt) << size;
    }
    for (size_t bit = 0; bit < std::min<size_t>(good.size(), 500) * 8; ++bit) {
      std::string flipped = good;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
      const auto parsed = Parse(flipped);
      EXPECT_TRUE(parsed.ok() || KindOf(parsed.status()) == ErrorKind::kCorrupt) << bit;
    }
    EXPECT_THAT(Parse(good + "x"), IsError(ErrorKind::kCorrupt, "a Roaring bitmap"));
  }
  EXPECT_THAT(Parse(FromHex("3a300000ffffffff")), IsError(ErrorKind::kCorrupt, "containers"));
  EXPECT_THAT(Parse(FromHex("0000000000000000")), IsError(ErrorKind::kCorrupt, "cookie"));
  EXPECT_THAT(Parse(FromHex("3a30000001000000000001001000000002000100")),
              IsError(ErrorKind::kCorrupt, "out of order"));
}

}  // namespace
}  // namespace glaive::table
