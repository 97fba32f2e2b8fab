#include "table/rows/row_lineage.h"

#include <gtest/gtest.h>

#include "testing/matchers.h"

namespace glaive::table {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOkAndHolds;
using ::testing::ElementsAre;

std::string Versions(std::vector<VersionRun> runs) { return SerializeRowVersions(runs); }

TEST(RowLineageTest, RowsThatSayNotWhenTheyChangedChangedWhenTheyWereMade) {
  wire::DataFragment fragment{.physical_rows = 5};
  EXPECT_THAT(CreatedVersionsOf(fragment, {"m"}), IsOkAndHolds(ElementsAre(VersionRun{5, 1})));
  EXPECT_THAT(UpdatedVersionsOf(fragment, {"m"}), IsOkAndHolds(ElementsAre(VersionRun{5, 1})));
  fragment.created_at_versions = wire::InlineSequence{Versions({{2, 3}, {3, 4}})};
  EXPECT_THAT(UpdatedVersionsOf(fragment, {"m"}),
              IsOkAndHolds(ElementsAre(VersionRun{2, 3}, VersionRun{3, 4})));
  fragment.last_updated_at_versions = wire::InlineSequence{Versions({{5, 9}})};
  EXPECT_THAT(UpdatedVersionsOf(fragment, {"m"}), IsOkAndHolds(ElementsAre(VersionRun{5, 9})));
  EXPECT_THAT(CreatedVersionsOf(fragment, {"m"}),
              IsOkAndHolds(ElementsAre(VersionRun{2, 3}, VersionRun{3, 4})));
  EXPECT_THAT(RowIdsOf(fragment, {"m"}), IsError(ErrorKind::kCorrupt, "has no row ids"));
}

TEST(RowLineageTest, VersionsAreCutWhereRowsBeginAndEnd) {
  const std::vector<VersionRun> versions = {{4, 1}, {4, 2}, {2, 3}};
  const std::vector<RowRange> rows = {{0, 1}, {3, 5}, {8, 10}};
  EXPECT_THAT(WithVersion(versions, rows, 9),
              ElementsAre(VersionRun{1, 9}, VersionRun{2, 1}, VersionRun{2, 9}, VersionRun{3, 2},
                          VersionRun{2, 9}));
  EXPECT_THAT(SelectRows(versions, rows),
              ElementsAre(VersionRun{2, 1}, VersionRun{1, 2}, VersionRun{2, 3}));
  EXPECT_THAT(WithVersion(versions, {}, 9),
              ElementsAre(VersionRun{4, 1}, VersionRun{4, 2}, VersionRun{2, 3}));
}

}  // namespace
}  // namespace glaive::table
