#include <string>
#include <vector>

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "glaive/history.h"
#include "glaive/rows.h"
#include "glaive/scan.h"
#include "glaive/session.h"
#include "glaive/write.h"
#include "io/memory_store.h"
#include "io/object_store.h"
#include "testing/faulty_store.h"
#include "testing/matchers.h"

namespace glaive {
namespace {

using glaive::testing::FaultyStore;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Uri() {
  return std::string("memory://delete_test/") +
         ::testing::UnitTest::GetInstance()->current_test_info()->name();
}

Dataset Write(int64_t num_rows, uint64_t rows_per_file, const std::string& uri = Uri()) {
  arrow::Int64Builder a;
  for (int64_t i = 0; i < num_rows; ++i) {
    EXPECT_THAT(i % 10 == 9 ? a.AppendNull() : a.Append(i), IsOk());
  }
  const auto rows = arrow::RecordBatch::Make(arrow::schema({arrow::field("a", arrow::int64())}),
                                             num_rows, {a.Finish().ValueOrDie()});
  auto stream = arrow::RecordBatchReader::Make({rows}, rows->schema()).ValueOrDie();
  return WriteDataset(stream, uri, {.limits = {.max_rows_per_file = rows_per_file}})
      .ValueOrDie()
      .dataset;
}

arrow::Result<DeleteResult> DeleteWhere(const Dataset& dataset, std::string sql) {
  return Delete(dataset, Predicate::Sql(std::move(sql)));
}

uint64_t CountWhere(const Dataset& dataset, std::string sql) {
  return CountRows(dataset, {.filter = Predicate::Sql(std::move(sql))}).ValueOrDie();
}

TEST(DeleteTest, HidesRowsForWhichThePredicateIsTrue) {
  const Dataset before = Write(40, 10);
  const auto deleted = DeleteWhere(before, "a < 15 AND a % 2 = 0").ValueOrDie();
  EXPECT_EQ(deleted.num_deleted_rows, 8);
  EXPECT_EQ(deleted.dataset.version(), 2);
  EXPECT_THAT(deleted.dataset.CountRows(), IsOkAndHolds(32));
  EXPECT_EQ(CountWhere(deleted.dataset, "a IS NULL"), 4);  // unknown is not true
  EXPECT_THAT(before.CountRows(), IsOkAndHolds(40));
  const auto fragments = deleted.dataset.Fragments().ValueOrDie();
  EXPECT_EQ(fragments[0].num_deletions(), 5);
  EXPECT_EQ(fragments[2].deletion_file(), std::nullopt);
}

TEST(DeleteTest, DeletesAddUp) {
  Dataset dataset = Write(40, 10);
  for (const char* sql : {"a = 3", "a < 5", "a = 3 OR a = 25"}) {
    dataset = DeleteWhere(dataset, sql).ValueOrDie().dataset;
  }
  EXPECT_THAT(dataset.CountRows(), IsOkAndHolds(34));
  EXPECT_EQ(dataset.GetFragment(0).ValueOrDie()->num_deletions(), 5);
}

TEST(DeleteTest, FragmentsWithoutRowsGo) {
  const Dataset dataset = Write(40, 10);
  const auto some = DeleteWhere(dataset, "a < 20 OR _rowaddr = 9 OR _rowid = 4294967305");
  EXPECT_EQ(some->num_deleted_rows, 20);
  EXPECT_THAT(FragmentIds(some->dataset), ElementsAre(2, 3));
  const auto all = DeleteWhere(some->dataset, "true").ValueOrDie();
  EXPECT_EQ(all.num_deleted_rows, 20);
  EXPECT_THAT(FragmentIds(all.dataset), IsEmpty());
  EXPECT_THAT(all.dataset.CountRows(), IsOkAndHolds(0));
}

TEST(DeleteTest, WithoutAMatchThereIsStillAVersion) {
  const auto deleted = DeleteWhere(Write(10, 10), "a > 1000").ValueOrDie();
  EXPECT_EQ(deleted.num_deleted_rows, 0);
  EXPECT_EQ(deleted.dataset.version(), 2);
}

TEST(DeleteTest, ManyRowsMakeABitmap) {
  const auto deleted = DeleteWhere(Write(20'000, 20'000), "a % 2 = 0").ValueOrDie();
  const auto fragment = *deleted.dataset.GetFragment(0).ValueOrDie();
  EXPECT_TRUE(fragment.deletion_file()->is_bitmap);
  EXPECT_EQ(fragment.num_deletions(), 10'000);
  EXPECT_EQ(CountWhere(deleted.dataset, "a % 2 = 0"), 0);
}

TEST(DeleteTest, ConcurrentDeletesAreMerged) {
  const Dataset base = Write(40, 10);
  ASSERT_THAT(DeleteWhere(base, "a = 1"), IsOk());
  const auto other_rows = DeleteWhere(base, "a = 2").ValueOrDie();
  EXPECT_EQ(other_rows.dataset.version(), 3);
  EXPECT_THAT(other_rows.dataset.CountRows(), IsOkAndHolds(38));
  // The rows it chose are gone: it looks again, and finds one of them.
  const auto same_rows = DeleteWhere(base, "a = 2 OR a = 3").ValueOrDie();
  EXPECT_EQ(same_rows.num_deleted_rows, 1);
  EXPECT_THAT(same_rows.dataset.CountRows(), IsOkAndHolds(37));
  EXPECT_EQ(CountWhere(same_rows.dataset, "a IN (1, 2, 3)"), 0);
}

TEST(DeleteTest, BadPredicatesChangeNothing) {
  const Dataset dataset = Write(10, 10);
  EXPECT_THAT(DeleteWhere(dataset, "nope = 1"), IsError(ErrorKind::kInvalidInput, "nope"));
  EXPECT_THAT(DeleteWhere(dataset, "a / 0 = 1"), IsError(ErrorKind::kInvalidInput, "zero"));
  EXPECT_THAT(LatestVersion(dataset), IsOkAndHolds(1));
}

// Whichever call fails: either the version is there and the rows are gone, or neither is and no
// file is left.
TEST(DeleteTest, FailsWhole) {
  for (uint64_t call = 0;; ++call) {
    SCOPED_TRACE(call);
    const auto store = std::make_shared<FaultyStore>(io::MakeMemoryStore());
    io::RegisterStore("faulty", store);
    Write(40, 10, "faulty://table");
    const std::string root = io::Resolve("faulty://table").ValueOrDie().path;
    const auto open = [] {
      return Dataset::Open("faulty://table", {.session = std::make_shared<Session>()});
    };
    const Dataset dataset = open().ValueOrDie();
    store->FailAt(call);
    const auto deleted = DeleteWhere(dataset, "a % 7 = 3");
    if (!store->has_failed()) {
      EXPECT_THAT(deleted, IsOk());
      EXPECT_GT(call, 5);
      break;
    }
    store->Disarm();
    const Dataset after = open().ValueOrDie();
    if (after.version() == 1) {
      ASSERT_FALSE(deleted.ok());
      EXPECT_THAT(after.CountRows(), IsOkAndHolds(40));
      EXPECT_THAT(store->List(root + "/_deletions"), IsOkAndHolds(IsEmpty()));
    } else {
      EXPECT_EQ(CountWhere(after, "a % 7 = 3"), 0);
      EXPECT_THAT(after.CountRows(), IsOkAndHolds(34));
    }
  }
  io::RegisterStore("faulty", nullptr);
}

}  // namespace
}  // namespace glaive
