#include "dataset/compaction/commit/deletions.h"

#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "testing/matchers.h"

namespace glaive::dataset {
namespace {

using glaive::testing::IsError;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

table::DeletionVectorPtr Deleted(std::vector<uint32_t> offsets) {
  return std::make_shared<const table::DeletionVector>(std::move(offsets));
}

std::vector<std::vector<uint32_t>> Offsets(const std::vector<table::DeletionVector>& vectors) {
  std::vector<std::vector<uint32_t>> offsets;
  for (const auto& vector : vectors) {
    offsets.emplace_back(vector.offsets().begin(), vector.offsets().end());
  }
  return offsets;
}

TEST(MapDeletionsTest, TheExampleOfTheHeader) {
  const OldRows old[] = {{4, Deleted({1}), Deleted({1, 3})}, {3, Deleted({}), Deleted({0})}};
  const uint64_t new_rows[] = {4, 2};
  EXPECT_THAT(Offsets(MapDeletions(old, new_rows).ValueOrDie()),
              ElementsAre(std::vector<uint32_t>{2, 3}, std::vector<uint32_t>{}));
}

TEST(MapDeletionsTest, AFragmentThatIsGoneLostAllItsRows) {
  const OldRows old[] = {{2, Deleted({}), Deleted({})}, {3, Deleted({0}), nullptr}};
  const uint64_t new_rows[] = {3, 1};
  EXPECT_THAT(Offsets(MapDeletions(old, new_rows).ValueOrDie()),
              ElementsAre(std::vector<uint32_t>{2}, std::vector<uint32_t>{0}));
}

TEST(MapDeletionsTest, RowsThatDoNotFitAreRefused) {
  const OldRows old[] = {{4, Deleted({1}), Deleted({1})}};
  for (const uint64_t rows : {2u, 4u}) {
    EXPECT_THAT(MapDeletions(old, {{rows}}), IsError(ErrorKind::kInvalidInput, "of 3 that"));
  }
  EXPECT_THAT(MapDeletions(old, {}), IsError(ErrorKind::kInvalidInput, "0 rows were written"));
}

// Row by row: each row that was live is written to the next place.
TEST(MapDeletionsTest, AsIfEveryRowWereFollowed) {
  std::mt19937 random(11);
  const auto below = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
  for (int round = 0; round < 3000; ++round) {
    std::vector<OldRows> old;
    std::vector<bool> is_deleted;  // of each place
    for (uint32_t fragment = 1 + below(4); fragment > 0; --fragment) {
      const uint32_t num_rows = 1 + below(12);
      const bool is_gone = below(5) == 0;
      const uint32_t share_then = 1 + below(5);
      const uint32_t share_now = 1 + below(5);
      std::vector<uint32_t> then;
      std::vector<uint32_t> now;
      for (uint32_t row = 0; row < num_rows; ++row) {
        const bool was_deleted = below(share_then) == 1;
        const bool is = was_deleted || is_gone || below(share_now) == 1;
        if (was_deleted) then.push_back(row);
        if (is) now.push_back(row);
        if (!was_deleted) is_deleted.push_back(is);
      }
      old.push_back({num_rows, Deleted(then), is_gone ? nullptr : Deleted(now)});
    }
    std::vector<uint64_t> new_rows;
    std::vector<std::vector<uint32_t>> expected;
    for (size_t place = 0; place < is_deleted.size();) {
      const size_t rows = std::min<size_t>(1 + below(10), is_deleted.size() - place);
      new_rows.push_back(rows);
      auto& offsets = expected.emplace_back();
      for (uint32_t row = 0; row < rows; ++row) {
        if (is_deleted[place + row]) offsets.push_back(row);
      }
      place += rows;
    }
    const auto mapped = MapDeletions(old, new_rows);
    ASSERT_THAT(mapped, glaive::testing::IsOk()) << "round " << round;
    ASSERT_THAT(Offsets(*mapped), ElementsAreArray(expected)) << "round " << round;
  }
}

}  // namespace
}  // namespace glaive::dataset
