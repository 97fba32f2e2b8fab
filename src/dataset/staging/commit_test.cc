#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/staging/state.h"
#include "glaive/columns.h"
#include "glaive/commit.h"
#include "glaive/compaction.h"
#include "glaive/files.h"
#include "glaive/history.h"
#include "glaive/refs.h"
#include "glaive/retention.h"
#include "glaive/rows.h"
#include "glaive/staged_columns.h"
#include "testing/column_writes.h"
#include "testing/counting_store.h"
#include "testing/faulty_store.h"
#include "testing/matchers.h"

// What may happen between staging and commit; docs/column_writes.md numbers the cases.
namespace glaive {
namespace {

using namespace glaive::testing;  // the small table and its columns
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(CommitColumnsTest, OneVersionOfNewColumns) {
  const Dataset dataset = MakeColumnTable();
  const auto made = CommitAll(
      dataset, {StageOk(dataset, 1, {{"y", {4, 5, 6}}}), StageOk(dataset, 0, {{"y", {1, 2, 3}}})},
      {.version = {.transaction_properties = {{"job", "7"}}, .commit_message = "y for all"}});
  ExpectOk(made);
  EXPECT_EQ(made->version(), 2);
  EXPECT_THAT(ReadColumn("y"), ElementsAre(1, 2, 3, 4, 5, 6));
  const auto transaction = TransactionOf(*made, 2).ValueOrDie();
  EXPECT_EQ(transaction->properties.at("job"), "7");
  EXPECT_EQ(transaction->properties.at(kCommitMessageKey), "y for all");
  const auto& merge = std::get<operation::Merge>(*transaction->operation);
  EXPECT_TRUE(merge.preserves_nullability);
  EXPECT_EQ(merge.fragments.size(), 2);
}

TEST(CommitColumnsTest, KnownColumnsAreReplaced) {
  const Dataset dataset = MakeColumnTable();
  const auto made = CommitAll(dataset, {StageOk(dataset, 1, {{"v", {1, 2, 3}}})});
  ExpectOk(made);
  EXPECT_THAT(ReadColumn("v"), ElementsAre(0, 10, 20, 1, 2, 3));
  const auto transaction = TransactionOf(*made, 2).ValueOrDie();
  EXPECT_EQ(NameOf(*transaction->operation), "DataReplacement");
  const auto files = made->GetFragment(1).ValueOrDie()->files();
  ASSERT_EQ(files.size(), 2);
  EXPECT_THAT(files[0].fields, ElementsAre(0, -2, 2));
  // Another list of fields for each: one version all the same.
  ExpectOk(CommitAll(*made,
                     {StageOk(*made, 0, {{"v", {7, 7, 7}}}), StageOk(*made, 0, {{"w", {8, 8, 8}}}),
                      StageOk(*made, 1, {{"w", {9, 9, 9}}})}));
  EXPECT_THAT(ReadColumn("v"), ElementsAre(7, 7, 7, 1, 2, 3));
  EXPECT_THAT(ReadColumn("w"), ElementsAre(8, 8, 8, 9, 9, 9));
  EXPECT_EQ(NewestColumnTable().version(), 3);
}

TEST(CommitColumnsTest, Case2OneIdForTwoNames) {
  const Dataset dataset = MakeColumnTable();
  const std::vector<StagedColumns> second = {StageOk(dataset, 0, {{"second", {4, 5, 6}}})};
  ExpectOk(CommitAll(dataset, {StageOk(dataset, 0, {{"first", {1, 2, 3}}})}));
  ExpectRefused(dataset, second, kNull, "second");
}

TEST(CommitColumnsTest, Case3TwoColumnsOfOneFragment) {
  const Dataset dataset = MakeColumnTable();
  const auto stream = ColumnStream({{"first", {1, 2, 3}}, {"second", {4, 5, 6}}});
  const auto schema = NewColumnSchema(dataset, *stream->schema()).ValueOrDie();
  const auto stage = [&](const Columns& columns) {
    return StageColumns(dataset, 0, ColumnStream(columns), schema).ValueOrDie();
  };
  const auto made =
      CommitAll(dataset, {stage({{"second", {4, 5, 6}}}), stage({{"first", {1, 2, 3}}})});
  ExpectOk(made);
  EXPECT_THAT(made->schema()->field_names(), ElementsAre("id", "v", "w", "first", "second"));
  EXPECT_THAT(ReadColumn("first"), ElementsAre(1, 2, 3, kNull, kNull, kNull));
  EXPECT_THAT(ReadColumn("second"), ElementsAre(4, 5, 6, kNull, kNull, kNull));
}

TEST(CommitColumnsTest, Case5WinnerAddedTheSameField) {
  const Dataset dataset = MakeColumnTable();
  const std::vector<StagedColumns> loser = {StageOk(dataset, 0, {{"y", {4, 5, 6}}})};
  const StagedColumns beside = StageOk(dataset, 1, {{"y", {7, 8, 9}}});
  ExpectOk(CommitAll(dataset, {StageOk(dataset, 0, {{"y", {1, 2, 3}}})}));
  ExpectRefused(dataset, loser, 0, "y");
  ExpectOk(CommitAll(dataset, {beside}));
  EXPECT_THAT(ReadColumn("y"), ElementsAre(1, 2, 3, 7, 8, 9));
}

TEST(CommitColumnsTest, Case6WinnerForbadeNulls) {
  const Dataset dataset = MakeColumnTable();
  const std::vector<StagedColumns> loser = {StageOk(dataset, 0, {{"y", {4, kNull, 6}}})};
  ExpectOk(CommitAll(dataset, {StageOk(dataset, 0, {{"y", {1, 2, 3}}}, false),
                               StageOk(dataset, 1, {{"y", {1, 2, 3}}}, false)}));
  ExpectRefused(dataset, loser, kNull, "y");
}

TEST(CommitColumnsTest, Case7AnotherType) {
  const Dataset dataset = MakeColumnTable();
  const std::vector<StagedColumns> loser = {StageOk(dataset, 0, {{"y", {4, 5, 6}}})};
  ExpectOk(AddColumns(dataset, std::vector<ComputedColumn>{{"y", "cast(id AS double)"}}));
  ExpectRefused(dataset, loser, kNull, "y");
}

TEST(CommitColumnsTest, Case9RequiredColumnsNeedEveryFragment) {
  const Dataset dataset = MakeColumnTable();
  const std::vector<StagedColumns> staged = {StageOk(dataset, 0, {{"y", {1, 2, 3}}}, false),
                                             StageOk(dataset, 1, {{"y", {4, 5, 6}}}, false)};
  const auto half = CommitAll(dataset, {staged[0]});
  EXPECT_THAT(half.status(), IsError(ErrorKind::kCommitConflict, "fragment 1"));
  ExpectOk(
      WriteDataset(ColumnStream({{"id", {9}}}), dataset, {.mode = WriteMode::kAppend})
          .Map([](const WriteResult& result) -> arrow::Result<Dataset> { return result.dataset; }));
  ExpectRefused(dataset, staged, 2, "y");
}

TEST(CommitColumnsTest, Case10And11Overlays) {
  LayOver(MakeColumnTable(), "v", {0, 1}, {111, 222});
  const Dataset dataset = NewestColumnTable();
  const std::vector<StagedColumns> stale = {StageOk(dataset, 0, {{"v", {4, 5, 6}}})};
  ExpectOk(CommitAll(dataset, {StageOk(dataset, 0, {{"v", {1, 2, 3}}})}));
  EXPECT_THAT(ReadColumn("v"), ElementsAre(1, 2, 3, 30, 40, 50));
  ExpectRefused(dataset, stale, 0, "v");
  const std::vector<StagedColumns> staged = {
      StageOk(NewestColumnTable(), 0, {{"v", {7, 8, 9}}, {"w", {7, 8, 9}}})};
  LayOver(NewestColumnTable(), "w", {1}, {777});
  ExpectRefused(dataset, staged, 0, "w");
  EXPECT_THAT(ReadColumn("w"), ElementsAre(0, 777, 200, 300, 400, 500));
  // Beside a new column the overlay is dead too.
  const Dataset latest = NewestColumnTable();
  ExpectOk(CommitAll(
      latest, {StageOk(latest, 0, {{"w", {1, 1, 1}}}), StageOk(latest, 0, {{"y", {2, 2, 2}}})}));
  EXPECT_THAT(ReadColumn("w"), ElementsAre(1, 1, 1, 300, 400, 500));
}

TEST(CommitColumnsTest, Case12And13WinnerWroteTheField) {
  const Dataset dataset = MakeColumnTable();
  const std::vector<StagedColumns> loser = {StageOk(dataset, 0, {{"v", {4, 5, 6}}})};
  ExpectOk(CommitAll(dataset, {StageOk(dataset, 0, {{"v", {1, 2, 3}}})}));
  ExpectRefused(dataset, loser, 0, "v");
  const auto added = CommitAll(dataset, {StageOk(dataset, 0, {{"y", {1, 2, 3}}})}).ValueOrDie();
  const std::vector<StagedColumns> late = {StageOk(added, 1, {{"y", {7, 8, 9}}})};
  ExpectOk(CommitAll(added, {StageOk(added, 1, {{"y", {4, 5, 6}}})}));
  ExpectRefused(added, late, 1, "y");
  EXPECT_THAT(ReadColumn("y"), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(CommitColumnsTest, Case14WinnerMovedAnOverlay) {
  LayOver(MakeColumnTable(), "v", {0}, {777});
  const Dataset dataset = NewestColumnTable();
  const std::vector<StagedColumns> staged = {StageOk(dataset, 0, {{"v", {1, 2, 3}}})};
  Edit(dataset, R"("offsets":[0])", R"("offsets":[1])");
  ExpectRefused(dataset, staged, 0, "v");
}

TEST(CommitColumnsTest, Case15WinnerSwappedColumns) {
  const Dataset dataset = MakeColumnTable();
  const std::vector<StagedColumns> staged = {StageOk(dataset, 0, {{"v", {1, 2, 3}}})};
  Edit(dataset, R"("column_indices":[0,1,2])", R"("column_indices":[0,2,1])");
  ExpectRefused(dataset, staged, 0, "v");
}

TEST(CommitColumnsTest, Case16DeletesStayAndCompactionsRefuse) {
  const Dataset dataset = MakeColumnTable();
  const StagedColumns first = StageOk(dataset, 0, {{"v", {1, 2, 3}}});
  const std::vector<StagedColumns> second = {StageOk(dataset, 0, {{"y", {1, 2, 3}}})};
  const Dataset deleted = Delete(dataset, Predicate::Sql("id = 1")).ValueOrDie().dataset;
  ASSERT_THAT(Delete(deleted, Predicate::Sql("id = 4")).status(), IsOk());
  ExpectOk(CommitAll(dataset, {first}));
  EXPECT_THAT(ReadColumn("v"), ElementsAre(1, 3, 30, 50));
  ASSERT_THAT(CompactFiles(NewestColumnTable()).status(), IsOk());
  ExpectRefused(dataset, second, 0, "");
}

TEST(CommitColumnsTest, Case17UnrelatedWinners) {
  const Dataset dataset = MakeColumnTable();
  const StagedColumns staged = StageOk(dataset, 0, {{"v", {1, 2, 3}}});
  const auto other = CommitAll(
      dataset, {StageOk(dataset, 0, {{"w", {7, 7, 7}}}), StageOk(dataset, 1, {{"v", {8, 8, 8}}}),
                StageOk(dataset, 0, {{"y", {9, 9, 9}}})});
  ExpectOk(other);
  LayOver(*other, "w", {1}, {70});
  // All files that were there when it was staged are gone by now.
  ExpectOk(CommitAll(*other, {StageOk(*other, 0, {{"id", {0, 1, 2}}})}));
  ASSERT_THAT(
      WriteDataset(ColumnStream({{"id", {9}}}), dataset, {.mode = WriteMode::kAppend}).status(),
      IsOk());
  ExpectOk(CommitAll(dataset, {staged}));
  EXPECT_THAT(ReadColumn("v"), ElementsAre(1, 2, 3, 8, 8, 8, kNull));
  EXPECT_THAT(ReadColumn("w"), ElementsAre(7, 70, 7, 300, 400, 500, kNull));
}

TEST(CommitColumnsTest, Case21ManyFragmentsAndFewRequests) {
  const auto store = std::make_shared<CountingStore>(io::MemoryStore());
  io::RegisterStore("counted", store);
  Columns rows = {{"id", {}}, {"v", {}}};
  for (int i = 0; i < 400; ++i) {
    rows["id"].push_back(i);
    rows["v"].push_back(i);
  }
  const Dataset dataset = WriteDataset(ColumnStream(rows), "counted://case21/table",
                                       {.limits = {.max_rows_per_file = 2}})
                              .ValueOrDie()
                              .dataset;
  const auto schema =
      NewColumnSchema(dataset, *arrow::schema({arrow::field("y", arrow::int32())})).ValueOrDie();
  std::vector<FragmentColumns> columns;
  for (int i = 0; i < 200; ++i) {
    columns.push_back(
        {static_cast<uint64_t>(i), ColumnStream({{"y", {2 * i, 2 * i + 1}}}), schema});
  }
  const auto staged = StageColumns(dataset, columns).ValueOrDie();
  store->Reset();
  const auto made = CommitColumns(dataset, staged);
  ExpectOk(made);
  EXPECT_EQ(made->version(), 2);
  size_t looks = 0;
  for (const CountedRequest& request : store->requests()) {
    if (request.path.find("/data/") == std::string::npos) continue;
    EXPECT_EQ(request.kind, io::RequestKind::kHead) << request.path;
    ++looks;
  }
  EXPECT_EQ(looks, 200);
  io::RegisterStore("counted", nullptr);
}

TEST(CommitColumnsTest, Case22MovedRows) {
  const Dataset dataset = MakeColumnTable();
  std::vector<StagedColumns> staged = {StageOk(dataset, 0, {{"v", {1, 2, 3}}})};
  const std::vector<ColumnUpdate> update = {{"w", "w + 1"}};
  const auto updated = Update(dataset, update, Predicate::Sql("id = 1"));
  ASSERT_THAT(updated.status(), IsOk());
  ExpectRefused(dataset, staged, 0, "");
  staged = {StageOk(updated->dataset, 1, {{"y", {1, 2, 3}}})};
  ASSERT_THAT(
      MergeInsert(updated->dataset, ColumnStream({{"id", {4, 9}}, {"v", {7, 7}}, {"w", {7, 7}}}),
                  {.on = {"id"}, .when_matched = WhenMatched::kUpdateAll})
          .status(),
      IsOk());
  ExpectRefused(updated->dataset, staged, 1, "");
}

TEST(CommitColumnsTest, Case23WhatIsGone) {
  const Dataset dataset = MakeColumnTable();
  const auto stage = [](const Dataset& from, const char* name) {
    return std::vector<StagedColumns>{StageOk(from, 0, {{name, {1, 2, 3}}})};
  };
  auto staged = stage(dataset, "v");
  const std::vector<ColumnAlteration> cast = {
      {.path = "v", .name = kNull, .nullable = kNull, .type = arrow::int64()}};
  ExpectOk(AlterColumns(dataset, cast));
  ExpectRefused(dataset, staged, kNull, "v");
  const Dataset altered = NewestColumnTable();
  staged = stage(altered, "w");
  ExpectOk(DropColumns(altered, std::vector<std::string>{"w"}));
  ExpectRefused(altered, staged, kNull, "w");
  const Dataset dropped = NewestColumnTable();
  staged = stage(dropped, "y");
  ASSERT_THAT(Delete(dropped, Predicate::Sql("id < 3")).status(), IsOk());
  ExpectRefused(dropped, staged, 0, "");
}

TEST(CommitColumnsTest, Case23OverwrittenAndRestored) {
  const Dataset dataset = MakeColumnTable();
  const StagedColumns early = StageOk(dataset, 0, {{"v", {1, 2, 3}}});
  std::vector<StagedColumns> late = {StageOk(dataset, 0, {{"y", {1, 2, 3}}})};
  ASSERT_THAT(Delete(dataset, Predicate::Sql("id = 1")).status(), IsOk());
  ExpectOk(Restore(dataset));
  ExpectOk(CommitAll(dataset, {early}));
  EXPECT_THAT(ReadColumn("v"), ElementsAre(1, 2, 3, 30, 40, 50));
  ASSERT_THAT(WriteDataset(ColumnStream({{"id", {7, 8, 9}}}), NewestColumnTable(),
                           {.mode = WriteMode::kOverwrite})
                  .status(),
              IsOk());
  ExpectRefused(dataset, late, 0, "");
}

TEST(CommitColumnsTest, Case24And25WhatCannotBeCommitted) {
  const Dataset dataset = MakeColumnTable();
  const StagedColumns staged = StageOk(dataset, 0, {{"v", {1, 2, 3}}});
  EXPECT_THAT(CommitAll(dataset, {staged, StageOk(dataset, 0, {{"v", {4, 5, 6}}})}).status(),
              IsError(ErrorKind::kInvalidInput, "column 'v' of fragment 0 is written twice"));
  EXPECT_THAT(CommitAll(dataset, {}).status(), IsError(ErrorKind::kInvalidInput, "no staged"));
  ExpectOk(CommitAll(dataset, {staged}));
  for (const Dataset& handle : {dataset, NewestColumnTable()}) {
    EXPECT_THAT(CommitAll(handle, {staged}).status(),
                IsError(ErrorKind::kCommitConflict, "committed already"));
  }
  EXPECT_THAT(Discard(dataset, staged), IsError(ErrorKind::kInvalidInput, "version 2"));
  const Dataset other = WriteDataset(ColumnStream({{"id", {1, 2, 3}}}), ColumnTableUri() + "_other")
                            .ValueOrDie()
                            .dataset;
  EXPECT_THAT(CommitAll(other, {StageOk(dataset, 0, {{"w", {1, 2, 3}}})}).status(),
              IsError(ErrorKind::kInvalidInput, "another table"));
  // No version of this table can tell what was read.
  dataset::StagedColumnsState later = *StateOf(StageOk(dataset, 0, {{"w", {1, 2, 3}}}));
  later.read_version = 9;
  EXPECT_THAT(CommitAll(dataset, {dataset::MakeStagedColumns(std::move(later))}).status(),
              IsError(ErrorKind::kCommitConflict, "version 9"));
  const StagedColumns gone = StageOk(dataset, 0, {{"w", {1, 2, 3}}});
  EXPECT_THAT(Discard(dataset, gone), IsOk());
  EXPECT_THAT(CommitAll(dataset, {gone}).status(), IsError(ErrorKind::kInvalidInput, "not there"));
  EXPECT_EQ(NewestColumnTable().version(), 2);
}

TEST(CommitColumnsTest, Case27CleanedUpMeanwhile) {
  const Dataset dataset = MakeColumnTable();
  const StagedColumns early = StageOk(dataset, 0, {{"v", {1, 2, 3}}});
  const std::vector<StagedColumns> late = {StageOk(dataset, 0, {{"w", {1, 2, 3}}})};
  const auto clean = [] { ASSERT_THAT(CleanUp(NewestColumnTable()).status(), IsOk()); };
  ASSERT_THAT(
      WriteDataset(ColumnStream({{"id", {9}}}), dataset, {.mode = WriteMode::kAppend}).status(),
      IsOk());
  clean();
  ExpectOk(CommitAll(NewestColumnTable(), {early}));
  EXPECT_THAT(ReadColumn("v"), ElementsAre(1, 2, 3, 30, 40, 50, kNull));
  const std::vector<ColumnUpdate> update = {{"v", "0"}};
  ASSERT_THAT(Update(NewestColumnTable(), update, Predicate::Sql("id = 0")).status(), IsOk());
  clean();
  ExpectRefused(NewestColumnTable(), late, 0, "");
}

TEST(CommitColumnsTest, Case28RowsAreUpdated) {
  const Dataset dataset = MakeColumnTable(true);
  ExpectOk(CommitAll(dataset, {StageOk(dataset, 1, {{"v", {7, 8, 9}}})}));
  auto stream =
      Scan(NewestColumnTable(), {.columns = {{"_row_last_updated_at_version"}}}).ValueOrDie();
  const auto table = ToReader(std::move(stream))->ToTable().ValueOrDie();
  EXPECT_EQ(table->column(0)->GetScalar(0).ValueOrDie()->ToString(), "1");
  EXPECT_EQ(table->column(0)->GetScalar(3).ValueOrDie()->ToString(), "2");
}

TEST(CommitColumnsTest, Reads) {
  const Dataset dataset = MakeColumnTable();
  const std::vector<StagedColumns> staged = {StageOk(dataset, 0, {{"y", {1, 2, 3}}})};
  const std::vector<StagedColumns> named = {
      Stage(dataset, 0, {{"y", {1, 2, 3}}}, true, {.reads = {"v"}}).ValueOrDie()};
  const auto moved = CommitAll(
      dataset, {StageOk(dataset, 0, {{"w", {7, 7, 7}}}), StageOk(dataset, 1, {{"v", {8, 8, 8}}})});
  ExpectOk(moved);
  ExpectOk(CommitAll(*moved, staged, {.reads = {"v", "id"}}));
  const Dataset latest = NewestColumnTable();
  const std::vector<StagedColumns> stale = {StageOk(latest, 0, {{"z", {1, 2, 3}}})};
  ExpectOk(CommitAll(latest, {StageOk(latest, 0, {{"v", {9, 9, 9}}})}));
  ExpectRefused(NewestColumnTable(), stale, 0, "v", {.reads = {"v"}});
  EXPECT_THAT(CommitAll(dataset, named).status(), IsError(ErrorKind::kCommitConflict, "'v'"));
  EXPECT_THAT(CommitAll(dataset, named, {.reads = {"nowhere"}}).status(),
              IsError(ErrorKind::kInvalidInput, "'nowhere'"));
}

// Wherever the store fails: the version is there, or it is not, or that is not known.
TEST(CommitColumnsTest, AStoreThatFails) {
  const auto store = std::make_shared<FaultyStore>(io::MemoryStore());
  io::RegisterStore("faulty", store);
  for (uint64_t call = 0;; ++call) {
    const std::string uri = "faulty://commit_columns_test/" + std::to_string(call);
    const Dataset dataset =
        WriteDataset(ColumnStream({{"id", {0, 1, 2}}}), uri).ValueOrDie().dataset;
    const StagedColumns staged = StageOk(dataset, 0, {{"y", {1, 2, 3}}});
    store->FailAt(call);
    const auto made = CommitAll(dataset, {staged});
    const bool failed = store->has_failed();
    store->Disarm();
    const uint64_t latest = LatestVersion(dataset).ValueOrDie();
    if (made.ok()) {
      EXPECT_EQ(latest, 2);
    } else if (KindOf(made.status()) != ErrorKind::kCommitUnknown) {
      EXPECT_EQ(latest, 1) << made.status();
      ExpectOk(CommitAll(dataset, {staged}));
    }
    if (!failed) break;
  }
  io::RegisterStore("faulty", nullptr);
}

}  // namespace
}  // namespace glaive
