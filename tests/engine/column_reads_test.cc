#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "glaive/compaction.h"
#include "glaive/retention.h"
#include "glaive/rows.h"
#include "glaive/staged_columns.h"
#include "testing/column_writes.h"
#include "testing/matchers.h"

// Values that were computed from some rows, and what became of these.
namespace glaive {
namespace {

using namespace glaive::testing;  // the small table and its columns
using ::testing::ElementsAre;

CommitColumnsOptions Of(uint64_t fragment_id, std::vector<uint32_t> rows) {
  return {.row_reads = {{fragment_id, {"v"}, std::move(rows)}}};
}

std::vector<StagedColumns> StageY(const Dataset& dataset, uint64_t fragment_id = 0) {
  return {StageOk(dataset, fragment_id, {{"y", {1, 2, 3}}})};
}

TEST(ColumnReadsTest, OverlaysOfOtherRowsDoNotCount) {
  const Dataset dataset = MakeColumnTable();
  const auto staged = StageY(dataset);
  LayOver(dataset, "v", {1}, {777});
  const auto refused = CommitAll(dataset, staged, Of(0, {2, 1}));
  EXPECT_THAT(refused.status(), IsError(ErrorKind::kCommitConflict, "computed from"));
  EXPECT_EQ(ColumnWriteConflict::Of(refused.status())->field(), "v");
  ExpectOk(CommitAll(dataset, staged, Of(0, {2, 0, 2})));
  EXPECT_THAT(ReadColumn("y"), ElementsAre(1, 2, 3, kNull, kNull, kNull));
}

TEST(ColumnReadsTest, OverlaysThatWereThereDoNotCount) {
  LayOver(MakeColumnTable(), "v", {0, 1}, {777, 778});
  const Dataset dataset = NewestColumnTable();
  const auto staged = StageY(dataset);
  // It covers another row besides now; rows 0 and 2 are as they were.
  Edit(dataset, R"("offsets":[0,1])", R"("offsets":[0])");
  ExpectRefused(dataset, StageY(dataset), 0, "v", Of(0, {1}));
  ExpectOk(CommitAll(dataset, staged, Of(0, {0, 2})));
}

TEST(ColumnReadsTest, FilesForTheWholeColumnCount) {
  const Dataset dataset = MakeColumnTable();
  const StagedColumns winner = StageOk(dataset, 0, {{"v", {9, 9, 9}}});
  const auto staged = StageY(dataset);
  ExpectOk(CommitAll(dataset, {winner}));
  ExpectRefused(dataset, staged, 0, "v", Of(0, {2}));
  ExpectOk(CommitAll(dataset, StageY(dataset), {.row_reads = {{0, {"w"}, {{2}}}}}));
}

// What is written need not be what was read.
TEST(ColumnReadsTest, RowsOfAnotherFragment) {
  const Dataset dataset = MakeColumnTable();
  const auto staged = StageY(dataset, 1);
  const auto both = StageY(dataset, 1);
  LayOver(dataset, "v", {1}, {777});
  ExpectRefused(dataset, StageY(dataset, 1), 0, "v", Of(0, {1}));
  ExpectRefused(dataset, both, 0, "v", {.row_reads = {{.fragment_id = 0, .columns = {"v"}}}});
  ExpectOk(CommitAll(dataset, staged, Of(0, {0, 2})));
  EXPECT_THAT(ReadColumn("y"), ElementsAre(kNull, kNull, kNull, 1, 2, 3));
}

TEST(ColumnReadsTest, RowsThatWereTakenElsewhere) {
  const Dataset dataset = MakeColumnTable();
  const auto staged = StageY(dataset, 1);
  const std::vector<ColumnUpdate> update = {{"v", "v + 1"}};
  ASSERT_THAT(Update(dataset, update, Predicate::Sql("id = 1")).status(), IsOk());
  ExpectRefused(dataset, StageY(dataset, 1), 0, "", Of(0, {1}));
  ExpectRefused(dataset, StageY(dataset, 1), 0, "",
                {.row_reads = {{.fragment_id = 0, .columns = {"v"}}}});
  ExpectOk(CommitAll(dataset, staged, Of(0, {0, 2})));
  const Dataset latest = NewestColumnTable();
  const auto late = std::vector{StageOk(latest, 1, {{"z", {1, 2, 3}}})};
  ASSERT_THAT(Delete(latest, Predicate::Sql("id < 3")).status(), IsOk());
  ExpectRefused(latest, late, 0, "", Of(0, {0}));
}

TEST(ColumnReadsTest, WhatCannotHaveBeenRead) {
  const Dataset dataset = MakeColumnTable();
  const auto staged = StageY(dataset);
  EXPECT_THAT(CommitAll(dataset, staged, Of(0, {3})).status(),
              IsError(ErrorKind::kInvalidInput, "row 3"));
  EXPECT_THAT(CommitAll(dataset, staged, Of(7, {0})).status(),
              IsError(ErrorKind::kInvalidInput, "fragment 7"));
  EXPECT_THAT(CommitAll(dataset, staged, {.row_reads = {{0, {"nowhere"}, {{0}}}}}).status(),
              IsError(ErrorKind::kInvalidInput, "'nowhere'"));
  ASSERT_THAT(
      WriteDataset(ColumnStream({{"id", {9}}}), dataset, {.mode = WriteMode::kAppend}).status(),
      IsOk());
  ASSERT_THAT(CleanUp(NewestColumnTable()).status(), IsOk());
  ExpectRefused(NewestColumnTable(), staged, 0, "", Of(0, {0}));
}

}  // namespace
}  // namespace glaive
