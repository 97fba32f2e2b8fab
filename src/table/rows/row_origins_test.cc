#include "table/rows/row_origins.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "testing/matchers.h"

namespace glaive::table {
namespace {

using glaive::testing::IsOk;
using ::testing::ElementsAre;

// Rows with the ids of `ranges`, made by the versions of `runs`.
wire::DataFragment Fragment(uint64_t id, std::vector<RowRange> ranges,
                            std::vector<VersionRun> runs) {
  wire::DataFragment fragment{.id = id, .physical_rows = CountRows(ranges)};
  fragment.row_ids = wire::InlineSequence{SerializeRowIds(ranges)};
  fragment.created_at_versions = wire::InlineSequence{SerializeRowVersions(runs)};
  return fragment;
}

RowOrigins OriginsOf(const std::vector<wire::DataFragment>& fragments) {
  RowOrigins origins;
  for (const wire::DataFragment& fragment : fragments) EXPECT_THAT(origins.Add(fragment), IsOk());
  origins.Finish();
  return origins;
}

std::vector<VersionRun> Find(const RowOrigins& origins, RowRange ids, uint64_t inserted) {
  std::vector<VersionRun> versions;
  origins.Find(ids.begin, ids.size(), inserted, &versions);
  return versions;
}

TEST(RowOriginsTest, APlaceThatARowLeftHidesNoneOfItsNeighbours) {
  const RowOrigins origins =
      OriginsOf({Fragment(0, {{0, 100}}, {{100, 1}}), Fragment(1, {{50, 51}}, {{1, 1}})});
  EXPECT_THAT(Find(origins, {50, 51}, 9), ElementsAre(VersionRun{1, 1}));
  EXPECT_THAT(Find(origins, {60, 61}, 9), ElementsAre(VersionRun{1, 1}));
  EXPECT_THAT(Find(origins, {40, 102}, 9), ElementsAre(VersionRun{60, 1}, VersionRun{2, 9}));
}

TEST(RowOriginsTest, TheNewestFragmentTellsOfARow) {
  const RowOrigins origins =
      OriginsOf({Fragment(7, {{10, 12}, {30, 31}}, {{2, 4}, {1, 5}}),
                 Fragment(2, {{0, 20}}, {{11, 1}, {9, 2}}), Fragment(9, {{11, 12}}, {{1, 6}})});
  EXPECT_THAT(Find(origins, {9, 13}, 9),
              ElementsAre(VersionRun{1, 1}, VersionRun{1, 4}, VersionRun{1, 6}, VersionRun{1, 2}));
  EXPECT_THAT(Find(origins, {19, 32}, 9),
              ElementsAre(VersionRun{1, 2}, VersionRun{10, 9}, VersionRun{1, 5}, VersionRun{1, 9}));
}

// Rows that move into new fragments again and again, against a map from each id to its version.
TEST(RowOriginsTest, AgreeWithAModelAfterManyMoves) {
  constexpr uint64_t kIds = 60;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::map<uint64_t, uint64_t> made;
    std::vector<wire::DataFragment> fragments;
    for (uint64_t id = 0; id < 12; ++id) {
      std::vector<RowRange> ranges;
      std::vector<VersionRun> runs;
      for (uint64_t row = 0; row < kIds; ++row) {
        if (random() % 3 != 0 || (id > 0 && !made.contains(row))) continue;
        if (id == 0) made[row] = random() % 3;
        ranges.push_back({row, row + 1});
        runs.push_back({1, made[row]});
      }
      fragments.push_back(Fragment(id, ranges, runs));
    }
    std::ranges::shuffle(fragments, random);
    const RowOrigins origins = OriginsOf(fragments);
    const RowRange ids = {random() % kIds, kIds + 5};
    std::vector<uint64_t> found;
    for (const VersionRun& run : Find(origins, ids, 99)) {
      found.insert(found.end(), run.num_rows, run.version);
    }
    ASSERT_EQ(found.size(), ids.size()) << "seed " << seed;
    for (uint64_t row = ids.begin; row < ids.end; ++row) {
      ASSERT_EQ(found[row - ids.begin], made.contains(row) ? made[row] : 99)
          << "row " << row << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace glaive::table
