#include "encoding/structural/page/level_list.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "testing/golden.h"
#include "testing/matchers.h"

namespace glaive::encoding {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::FromHex;
using glaive::testing::IsError;

constexpr Location kPage = {"data/a.lance", 64};

std::vector<uint16_t> Random(size_t size, uint16_t num_levels, size_t run, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint16_t> levels;
  while (levels.size() < size) {
    const size_t length = 1 + random() % run;
    levels.insert(levels.end(), length, static_cast<uint16_t>(random() % num_levels));
  }
  levels.resize(size);
  return levels;
}

TEST(LevelListTest, AnyPartIsWhatItWas) {
  std::mt19937 random(5);
  for (const uint16_t num_levels : std::vector<uint16_t>{1, 3, 1000}) {
    for (const size_t run : {1, 5, 3000}) {
      const auto levels = Random(20'000, num_levels, run, num_levels + 7u);
      const LevelList list = LevelList::Of(levels);
      ASSERT_EQ(list.size(), levels.size());
      for (int i = 0; i < 50; ++i) {
        const size_t begin = random() % levels.size();
        std::vector<uint16_t> part(random() % (levels.size() - begin + 1));
        list.Copy(begin, part);
        const std::vector<uint16_t> expected(
            levels.begin() + static_cast<ptrdiff_t>(begin),
            levels.begin() + static_cast<ptrdiff_t>(begin + part.size()));
        ASSERT_EQ(part, expected) << num_levels << " " << run;
      }
    }
  }
}

TEST(LevelListTest, TakesWhatItsLevelsTake) {
  EXPECT_LT(LevelList::Of(std::vector<uint16_t>(1'000'000, 1)).memory_bytes(), 100u);
  EXPECT_EQ(LevelList::Of(Random(1'000'000, 3, 1, 1)).memory_bytes(), 1'000'000u);
  EXPECT_EQ(LevelList::Of(Random(1'000'000, 1000, 1, 1)).memory_bytes(), 2'000'000u);
}

TEST(LevelListTest, RunsAreNotSpelledOut) {
  const auto flat = [](uint64_t bits) { return wire::MakeEncoding(wire::FlatEncoding{bits}); };
  const auto rle = wire::MakeEncoding(wire::RleEncoding{flat(16), flat(8)});
  const auto block = FixedBlockDescription::Validate(*rle, FileVersion::k2_2, kPage).ValueOrDie();
  // Two runs of 255 ones, which are one here, and one of three twos.
  const std::string payload = FromHex(
      "0600000000000000"
      "010001000200"
      "ffff03");
  const LevelList list = LevelList::Decode(block, BytesOf(payload), 513, kPage).ValueOrDie();
  EXPECT_EQ(list.size(), 513u);
  EXPECT_LT(list.memory_bytes(), 40u);
  std::vector<uint16_t> around(4);
  list.Copy(508, around);
  EXPECT_EQ(around, (std::vector<uint16_t>{1, 1, 2, 2}));
  EXPECT_THAT(LevelList::Decode(block, BytesOf(payload), uint64_t{1} << 60, kPage),
              IsError(ErrorKind::kCorrupt, "rle runs hold 513 values"));
}

TEST(LevelRowsTest, BeginWhereTheirLevelsSay) {
  for (const size_t run : {1, 4}) {
    auto levels = Random(30'000, 3, run, 3);
    levels.front() = 2;
    std::vector<uint64_t> starts;
    for (size_t i = 0; i < levels.size(); ++i) {
      if (levels[i] == 2) starts.push_back(i);
    }
    const LevelList list = LevelList::Of(levels);
    const LevelRows rows = LevelRows::Find(list, 2, starts.size(), kPage).ValueOrDie();
    for (size_t row = 0; row < starts.size(); ++row) {
      ASSERT_EQ(rows.Start(list, row), starts[row]);
    }
    EXPECT_EQ(rows.Start(list, starts.size()), levels.size());
    EXPECT_LT(rows.memory_bytes(), 500u);
    EXPECT_THAT(LevelRows::Find(list, 2, starts.size() + 1, kPage),
                IsError(ErrorKind::kCorrupt, "rows in the levels of a page"));
  }
}

TEST(LevelRowsTest, AreTheLevelsWhereEachBeginsOne) {
  const LevelList list = LevelList::Of(std::vector<uint16_t>(5000, 1));
  const LevelRows rows = LevelRows::Find(list, 1, 5000, kPage).ValueOrDie();
  EXPECT_EQ(rows.memory_bytes(), 0u);
  EXPECT_EQ(rows.Start(list, 4321), 4321u);
  EXPECT_EQ(rows.Start(list, 5000), 5000u);
}

TEST(LevelRowsTest, TheFirstLevelBeginsARow) {
  const LevelList list = LevelList::Of(std::vector<uint16_t>{0, 1, 0});
  EXPECT_THAT(LevelRows::Find(list, 1, 1, kPage), IsError(ErrorKind::kCorrupt, "1 rows"));
}

}  // namespace
}  // namespace glaive::encoding
