#include "glaive/scan.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "glaive/rows.h"
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
using glaive::testing::IsOkAndHolds;
using ::testing::ElementsAre;

using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

std::string Uri() {
  return std::string("memory://scan_test/") +
         ::testing::UnitTest::GetInstance()->current_test_info()->name();
}

// id: int64 from 0; n: id % 7, null every fifth; t: "row <id>"; st: struct { x: id % 3 }.
BatchPtr Rows(int64_t num_rows) {
  arrow::Int64Builder id;
  arrow::Int32Builder n;
  arrow::StringBuilder t;
  arrow::Int64Builder x;
  for (int64_t i = 0; i < num_rows; ++i) {
    EXPECT_THAT(id.Append(i), IsOk());
    EXPECT_THAT(i % 5 == 0 ? n.AppendNull() : n.Append(static_cast<int32_t>(i % 7)), IsOk());
    EXPECT_THAT(t.Append("row " + std::to_string(i)), IsOk());
    EXPECT_THAT(x.Append(i % 3), IsOk());
  }
  const auto x_field = arrow::field("x", arrow::int64());
  const auto st =
      arrow::StructArray::Make({x.Finish().ValueOrDie()}, arrow::FieldVector{x_field}).ValueOrDie();
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("id", arrow::int64()), arrow::field("n", arrow::int32()),
                     arrow::field("t", arrow::utf8()), arrow::field("st", st->type())}),
      num_rows, {id.Finish().ValueOrDie(), n.Finish().ValueOrDie(), t.Finish().ValueOrDie(), st});
}

Dataset Write(int64_t num_rows, uint64_t rows_per_file, const std::string& uri = Uri()) {
  const auto rows = Rows(num_rows);
  auto stream = arrow::RecordBatchReader::Make({rows}, rows->schema()).ValueOrDie();
  return WriteDataset(stream, uri, {.limits = {.max_rows_per_file = rows_per_file}})
      .ValueOrDie()
      .dataset;
}

Dataset DeleteWhere(const Dataset& dataset, std::string sql) {
  return Delete(dataset, Predicate::Sql(std::move(sql))).ValueOrDie().dataset;
}

std::vector<BatchPtr> Batches(const Dataset& dataset, const ScanOptions& options) {
  std::vector<BatchPtr> batches;
  const auto stream = Scan(dataset, options).ValueOrDie();
  while (auto batch = stream->Next().ValueOrDie()) batches.push_back(std::move(batch));
  return batches;
}

std::vector<int64_t> Sizes(const Dataset& dataset, const ScanOptions& options) {
  std::vector<int64_t> sizes;
  for (const BatchPtr& batch : Batches(dataset, options)) sizes.push_back(batch->num_rows());
  return sizes;
}

std::vector<int64_t> Ids(const Dataset& dataset, ScanOptions options) {
  if (!options.columns) options.columns = {"id"};
  std::vector<int64_t> ids;
  for (const BatchPtr& batch : Batches(dataset, options)) {
    const auto& column = static_cast<const arrow::Int64Array&>(*batch->GetColumnByName("id"));
    ids.insert(ids.end(), column.raw_values(), column.raw_values() + column.length());
  }
  return ids;
}

Predicate Sql(std::string text) { return Predicate::Sql(std::move(text)); }

TEST(ScanTest, BatchesAreFilledAcrossFragmentsOnlyWhereASizeIsGiven) {
  const Dataset dataset = Write(20 * 300, 300);
  EXPECT_EQ(dataset.num_fragments(), 20);
  EXPECT_EQ(Sizes(dataset, {}), std::vector<int64_t>(20, 300));
  EXPECT_THAT(Sizes(dataset, {.batch_size = 6000}), ElementsAre(6000));
  EXPECT_EQ(Sizes(dataset, {.batch_size = 1000}), std::vector<int64_t>(6, 1000));
  EXPECT_THAT(Sizes(dataset, {.batch_size = 5000}), ElementsAre(5000, 1000));
  EXPECT_THAT(Sizes(Write(20'000, 100'000, Uri() + "2"), {}), ElementsAre(8192, 8192, 3616));
}

TEST(ScanTest, TheSameRowsWhateverTheBudget) {
  const Dataset dataset = DeleteWhere(Write(50'000, 20'000), "id % 11 = 3");
  std::vector<int64_t> expected;
  for (int64_t i = 0; i < 50'000; ++i) {
    if (i % 11 != 3) expected.push_back(i);
  }
  for (const uint64_t budget : {uint64_t{0}, uint64_t{1} << 20, uint64_t{1} << 30}) {
    EXPECT_EQ(Ids(dataset, {.read_ahead_bytes = budget}), expected);
  }
}

// Every window and filter against a plain loop over the rows.
TEST(ScanTest, WindowsAndFiltersAgreeWithALoop) {
  const Dataset dataset =
      DeleteWhere(Write(1000, 170), "id < 40 OR id % 13 = 5 OR id BETWEEN 340 AND 509");
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    ScanOptions options;
    const auto limit = random() % 4 == 0 ? std::optional<uint64_t>() : random() % 700;
    options.limit = limit;
    options.offset = random() % 3 == 0 ? random() % 900 : 0;
    if (random() % 2 == 0) options.batch_size = 1 + random() % 300;
    const int64_t modulus = 1 + static_cast<int64_t>(random() % 30);
    const bool filtered = random() % 2 == 0;
    if (filtered)
      options.filter = Sql("id % " + std::to_string(modulus) + " = 0 AND n IS NOT NULL");
    if (random() % 2 == 0) options.columns = {"t", "st.x", "id"};
    std::vector<int64_t> expected;
    for (int64_t id = 0; id < 1000; ++id) {
      const bool deleted = id < 40 || id % 13 == 5 || (id >= 340 && id <= 509);
      const bool passes = !filtered || (id % modulus == 0 && id % 5 != 0);
      if (!deleted && passes) expected.push_back(id);
    }
    const auto skip = std::min<size_t>(options.offset, expected.size());
    expected.erase(expected.begin(), expected.begin() + static_cast<ptrdiff_t>(skip));
    if (limit && *limit < expected.size()) expected.resize(*limit);
    ASSERT_EQ(Ids(dataset, options), expected) << "round " << round;
    ASSERT_THAT(CountRows(dataset, options), IsOkAndHolds(expected.size())) << "round " << round;
  }
}

TEST(ScanTest, WhatTheFilterReadAndTheRestComeTogether) {
  const Dataset dataset = Write(3000, 1000);
  // Few rows pass, so that the rest is picked; many pass, so that it is read whole; all; none.
  for (const char* filter : {"id IN (3, 4, 999, 1000, 2999)", "id % 3 != 1", "true", "id < 0"}) {
    const auto batches =
        Batches(dataset, {.columns = {{"t", "id", "st", "_rowaddr"}}, .filter = Sql(filter)});
    int64_t rows = 0;
    for (const BatchPtr& batch : batches) {
      EXPECT_THAT(batch->schema()->field_names(), ElementsAre("t", "id", "st", "_rowaddr"));
      ASSERT_THAT(batch->ValidateFull(), IsOk());
      const auto& t = static_cast<const arrow::StringArray&>(*batch->column(0));
      const auto& id = static_cast<const arrow::Int64Array&>(*batch->column(1));
      const auto& st = static_cast<const arrow::StructArray&>(*batch->column(2));
      const auto& address = static_cast<const arrow::UInt64Array&>(*batch->column(3));
      for (int64_t i = 0; i < batch->num_rows(); ++i, ++rows) {
        const int64_t value = id.Value(i);
        EXPECT_EQ(t.GetView(i), "row " + std::to_string(value));
        EXPECT_EQ(static_cast<const arrow::Int64Array&>(*st.field(0)).Value(i), value % 3);
        EXPECT_EQ(address.Value(i),
                  static_cast<uint64_t>(value / 1000) << 32 | static_cast<uint64_t>(value % 1000));
      }
    }
    EXPECT_THAT(CountRows(dataset, {.filter = Sql(filter)}),
                IsOkAndHolds(static_cast<uint64_t>(rows)));
  }
}

TEST(ScanTest, NoColumnsStillHaveRows) {
  const Dataset dataset = Write(100, 30);
  EXPECT_THAT(Sizes(dataset, {.columns = {{}}}), ElementsAre(30, 30, 30, 10));
  EXPECT_THAT(Sizes(dataset, {.columns = {{}}, .batch_size = 64}), ElementsAre(64, 36));
  EXPECT_THAT(Sizes(dataset, {.columns = {{}}, .filter = Sql("id > 94")}), ElementsAre(5));
}

TEST(ScanTest, RowOffsetsCountLiveRowsOfTheWholeVersion) {
  const Dataset dataset = DeleteWhere(Write(30, 10), "id IN (1, 12)");
  const auto batches = Batches(dataset, {.columns = {{"_rowoffset"}}, .fragment_ids = {{2, 1}}});
  ASSERT_EQ(batches.size(), 2);
  const auto first = [](const BatchPtr& batch) {
    return static_cast<const arrow::UInt64Array&>(*batch->column(0)).Value(0);
  };
  EXPECT_EQ(first(batches[0]), 18);
  EXPECT_EQ(first(batches[1]), 9);
}

TEST(ScanTest, DeletedRowsCanBeSeen) {
  const Dataset dataset = DeleteWhere(Write(10, 10), "id IN (2, 9)");
  const auto batches = Batches(dataset, {.with_row_id = true, .include_deleted_rows = true});
  ASSERT_EQ(batches.size(), 1);
  const auto row_ids = batches[0]->GetColumnByName("_rowid");
  EXPECT_EQ(row_ids->length(), 10);
  EXPECT_EQ(row_ids->null_count(), 2);
  EXPECT_TRUE(row_ids->IsNull(2) && row_ids->IsNull(9));
  EXPECT_THAT(Scan(dataset, {.include_deleted_rows = true}),
              IsError(ErrorKind::kInvalidInput, "with_row_id is false"));
}

TEST(ScanTest, WhatCannotBeIsRefusedBeforeAnythingIsRead) {
  const Dataset dataset = Write(10, 10);
  EXPECT_THAT(Scan(dataset, {.columns = {{"nope"}}}), IsError(ErrorKind::kInvalidInput, "nope"));
  EXPECT_THAT(Scan(dataset, {.filter = Sql("nope > 1")}),
              IsError(ErrorKind::kInvalidInput, "nope"));
  EXPECT_THAT(Scan(dataset, {.batch_size = 0}), IsError(ErrorKind::kInvalidInput, "batch_size"));
  EXPECT_THAT(Scan(dataset, {.fragment_ids = {{4}}}),
              IsError(ErrorKind::kInvalidInput, "no fragment 4"));
}

TEST(ScanTest, AScanInsideTheLoopOverAnother) {
  const Dataset dataset = Write(400, 50);
  const auto outer = Scan(dataset, {.read_ahead_bytes = 1 << 20}).ValueOrDie();
  int64_t rows = 0;
  while (const auto batch = outer->Next().ValueOrDie()) {
    rows += batch->num_rows();
    EXPECT_EQ(Ids(dataset, {.read_ahead_bytes = 1 << 20}).size(), 400);
  }
  EXPECT_EQ(rows, 400);
}

TEST(ScanTest, AnOpenScanKeepsItsSnapshot) {
  const Dataset dataset = Write(100, 10);
  const auto stream = Scan(dataset, {.columns = {{"id"}}}).ValueOrDie();
  int64_t rows = stream->Next().ValueOrDie()->num_rows();
  EXPECT_EQ(DeleteWhere(dataset, "id >= 10").CountRows().ValueOrDie(), 10);
  while (const auto batch = stream->Next().ValueOrDie()) rows += batch->num_rows();
  EXPECT_EQ(rows, 100);
  EXPECT_THAT(dataset.CountRows(), IsOkAndHolds(100));
}

TEST(ScanTest, OpeningAndCountingReadNoDataFile) {
  const auto store = std::make_shared<CountingStore>(io::MakeMemoryStore());
  io::RegisterStore("counting", store);
  Write(1000, 10, "counting://table");
  store->Reset();
  const auto dataset =
      Dataset::Open("counting://table", {.session = std::make_shared<Session>()}).ValueOrDie();
  EXPECT_THAT(dataset.CountRows(), IsOkAndHolds(1000));
  EXPECT_THAT(CountRows(dataset, {.limit = 300, .offset = 800}), IsOkAndHolds(200));
  for (const auto& request : store->requests()) {
    EXPECT_EQ(request.path.find("/data/"), std::string::npos) << request.path;
  }
  // A window reads the files it lies in, and no others.
  store->Reset();
  EXPECT_EQ(Ids(dataset, {.limit = 15, .offset = 500}).size(), 15);
  std::set<std::string> files;
  for (const auto& request : store->requests()) files.insert(request.path);
  EXPECT_EQ(files.size(), 2);
  io::RegisterStore("counting", nullptr);
}

TEST(ScanTest, AsAReader) {
  const Dataset dataset = Write(100, 30);
  const auto table = ToReader(Scan(dataset, {}).ValueOrDie())->ToTable().ValueOrDie();
  EXPECT_TRUE(table->CombineChunks().ValueOrDie()->Equals(
      *arrow::Table::FromRecordBatches({Rows(100)}).ValueOrDie()));
  EXPECT_TRUE(ScanSchema(dataset, {}).ValueOrDie()->Equals(*table->schema()));
}

}  // namespace
}  // namespace glaive
