#include <random>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "glaive/rows.h"
#include "glaive/scan.h"
#include "glaive/session.h"
#include "glaive/write.h"
#include "io/memory_store.h"
#include "io/object_store.h"
#include "testing/counting_store.h"
#include "testing/matchers.h"

namespace glaive {
namespace {

using glaive::testing::CountingStore;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

std::string Uri() {
  return std::string("memory://take_test/") +
         ::testing::UnitTest::GetInstance()->current_test_info()->name();
}

// id from 0 and, beside it, a struct { x: id, y: "row <id>" }.
Dataset Write(int64_t num_rows, uint64_t rows_per_file, const std::string& uri = Uri()) {
  arrow::Int64Builder id;
  arrow::StringBuilder y;
  for (int64_t i = 0; i < num_rows; ++i) {
    EXPECT_THAT(id.Append(i), IsOk());
    EXPECT_THAT(y.Append("row " + std::to_string(i)), IsOk());
  }
  const auto ids = id.Finish().ValueOrDie();
  const auto s =
      arrow::StructArray::Make({ids, y.Finish().ValueOrDie()}, std::vector<std::string>{"x", "y"})
          .ValueOrDie();
  const auto rows = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("id", arrow::int64()), arrow::field("s", s->type())}), num_rows,
      {ids, s});
  auto stream = arrow::RecordBatchReader::Make({rows}, rows->schema()).ValueOrDie();
  return WriteDataset(stream, uri, {.limits = {.max_rows_per_file = rows_per_file}})
      .ValueOrDie()
      .dataset;
}

std::vector<int64_t> IdsOf(const std::shared_ptr<arrow::Table>& table) {
  std::vector<int64_t> ids;
  for (const auto& chunk : table->GetColumnByName("id")->chunks()) {
    const auto& values = static_cast<const arrow::Int64Array&>(*chunk);
    ids.insert(ids.end(), values.raw_values(), values.raw_values() + values.length());
  }
  return ids;
}

using Rows = std::vector<uint64_t>;

TEST(TakeTest, AnyOrderAndRepeatsAgreeWithALoop) {
  const Dataset dataset =
      Delete(Write(300, 40), Predicate::Sql("id < 3 OR id % 9 = 4 OR id BETWEEN 80 AND 119"))
          .ValueOrDie()
          .dataset;
  std::vector<int64_t> live;
  for (int64_t i = 0; i < 300; ++i) {
    if (!(i < 3 || i % 9 == 4 || (i >= 80 && i <= 119))) live.push_back(i);
  }
  std::mt19937 random(9);
  for (int round = 0; round < 100; ++round) {
    Rows offsets;
    std::vector<int64_t> expected;
    for (size_t i = random() % 50; i > 0; --i) {
      offsets.push_back(random() % live.size());
      expected.push_back(live[offsets.back()]);
    }
    const auto table = Take(dataset, offsets).ValueOrDie();
    ASSERT_THAT(table->ValidateFull(), IsOk());
    ASSERT_THAT(IdsOf(table), ElementsAreArray(expected));
    const auto strings = table->GetColumnByName("s")->Flatten().ValueOrDie()[1];
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(strings->GetScalar(static_cast<int64_t>(i)).ValueOrDie()->ToString(),
                "row " + std::to_string(expected[i]));
    }
  }
}

TEST(TakeTest, ColumnsBelowStructsComeAsPrunedStructs) {
  const auto table =
      Take(Write(20, 10), Rows{15, 2}, {.columns = {{"s.y", "_rowid", "id"}}}).ValueOrDie();
  EXPECT_EQ(table->schema()->ToString(), "s: struct<y: string>\n_rowid: uint64\nid: int64");
  EXPECT_THAT(IdsOf(table), ElementsAre(15, 2));
  EXPECT_EQ(table->column(1)->GetScalar(0).ValueOrDie()->ToString(),
            std::to_string((uint64_t{1} << 32) + 5));
}

TEST(TakeTest, RowOffsetsAreWhatWasAskedFor) {
  const Dataset dataset =
      Delete(Write(30, 10), Predicate::Sql("id IN (0, 11)")).ValueOrDie().dataset;
  const auto table = Take(dataset, Rows{20, 3, 9}, {.columns = {{"_rowoffset"}}}).ValueOrDie();
  const auto& offsets = static_cast<const arrow::UInt64Array&>(*table->column(0)->chunk(0));
  EXPECT_EQ(offsets.Value(0), 20);
  EXPECT_EQ(offsets.Value(1), 3);
  EXPECT_EQ(offsets.Value(2), 9);
}

TEST(TakeTest, RowsByAddressLeaveOutDeletedOnes) {
  const Dataset dataset = Delete(Write(30, 10), Predicate::Sql("id = 12")).ValueOrDie().dataset;
  const uint64_t second = uint64_t{1} << 32;
  EXPECT_THAT(IdsOf(TakeRows(dataset, Rows{second + 3, second + 2, 7, second + 3}).ValueOrDie()),
              ElementsAre(13, 7, 13));
  EXPECT_THAT(TakeRows(dataset, Rows{uint64_t{9} << 32}),
              IsError(ErrorKind::kInvalidInput, "non-existent fragment: 9"));
  EXPECT_THAT(TakeRows(dataset, Rows{10}), IsError(ErrorKind::kInvalidInput, "10 rows"));
}

TEST(TakeTest, RowsOfOneFragment) {
  const Dataset dataset = Delete(Write(30, 10), Predicate::Sql("id = 10")).ValueOrDie().dataset;
  EXPECT_THAT(IdsOf(TakeFromFragment(dataset, 1, Rows{8, 0}).ValueOrDie()), ElementsAre(19, 11));
  EXPECT_THAT(TakeFromFragment(dataset, 1, Rows{9}),
              IsError(ErrorKind::kInvalidInput, "beyond the 9 rows of fragment 1"));
  EXPECT_THAT(TakeFromFragment(dataset, 5, Rows{0}),
              IsError(ErrorKind::kInvalidInput, "no fragment 5"));
}

TEST(TakeTest, NothingAndTooMuch) {
  const Dataset dataset = Write(30, 10);
  EXPECT_EQ(Take(dataset, Rows{}).ValueOrDie()->num_rows(), 0);
  EXPECT_EQ(Take(dataset, Rows{3, 25}, {.columns = {{}}}).ValueOrDie()->num_rows(), 2);
  EXPECT_THAT(Take(dataset, Rows{30}), IsError(ErrorKind::kInvalidInput, "30"));
  EXPECT_THAT(Take(dataset, Rows{0}, {.columns = {{"nope"}}}),
              IsError(ErrorKind::kInvalidInput, "nope"));
}

TEST(TakeTest, EightColdRowsCostFewRequests) {
  const auto store = std::make_shared<CountingStore>(io::MakeMemoryStore());
  io::RegisterStore("counting", store);
  Write(100'000, 100'000, "counting://table");
  const auto dataset =
      Dataset::Open("counting://table", {.session = std::make_shared<Session>()}).ValueOrDie();
  store->Reset();
  const Rows rows = {99'000, 5, 12'345, 50'000, 77'777, 31, 64'000, 20'202};
  EXPECT_EQ(Take(dataset, rows, {.columns = {{"id"}}}).ValueOrDie()->num_rows(), 8);
  uint64_t requests = 0;
  for (const auto& request : store->requests()) requests += request.num_requests;
  // One that opens the file, one for the page's chunks, one for each row's chunk.
  EXPECT_LE(requests, 10);
  io::RegisterStore("counting", nullptr);
}

}  // namespace
}  // namespace glaive
