#include "read/row_ranges.h"

#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glaive::read {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<uint64_t> RowsOf(const std::vector<RowRange>& ranges) {
  std::vector<uint64_t> rows;
  for (const RowRange& range : ranges) {
    for (uint64_t row = range.begin; row < range.end; ++row) rows.push_back(row);
  }
  return rows;
}

TEST(RowRangesTest, LiveWindowSkipsWhatIsDeleted) {
  const table::DeletionVector deletions({0, 3, 4, 9});
  EXPECT_THAT(LiveWindow(deletions, {0, 6}), ElementsAre(RowRange{1, 3}, RowRange{5, 9}));
  EXPECT_THAT(LiveWindow(deletions, {1, 3}), ElementsAre(RowRange{2, 3}, RowRange{5, 6}));
  EXPECT_THAT(LiveWindow(deletions, {2, 2}), IsEmpty());
  EXPECT_THAT(LiveWindow({}, {2, 5}), ElementsAre(RowRange{2, 5}));
}

TEST(RowRangesTest, ConsecutiveRowsAreOneRange) {
  const std::vector<uint64_t> rows = {1, 2, 3, 7, 9, 10};
  EXPECT_THAT(ToRanges(rows), ElementsAre(RowRange{1, 4}, RowRange{7, 8}, RowRange{9, 11}));
  EXPECT_THAT(ToRanges({}), IsEmpty());
}

TEST(RowRangesTest, WindowAndPickCountRowsAcrossRanges) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<RowRange> ranges;
    uint64_t row = 0;
    for (int i = 0; i < 5; ++i) {
      row += 1 + random() % 4;
      ranges.push_back({row, row + 1 + random() % 6});
      row = ranges.back().end;
    }
    const std::vector<uint64_t> rows = RowsOf(ranges);
    const uint64_t first = random() % rows.size();
    const uint64_t count = random() % (rows.size() + 2);
    const auto begin = rows.begin() + static_cast<ptrdiff_t>(first);
    const auto taken = std::min<uint64_t>(count, rows.size() - first);
    EXPECT_EQ(RowsOf(Window(ranges, first, count)),
              std::vector<uint64_t>(begin, begin + static_cast<ptrdiff_t>(taken)));
    std::vector<uint32_t> positions;
    std::vector<uint64_t> expected;
    for (uint32_t i = 0; i < rows.size(); ++i) {
      if (random() % 3 != 0) continue;
      positions.push_back(i);
      expected.push_back(rows[i]);
    }
    EXPECT_EQ(RowsOf(Pick(ranges, positions)), expected);
  }
}

}  // namespace
}  // namespace glaive::read
