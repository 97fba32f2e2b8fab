#include <numeric>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "glaive/dataset.h"
#include "glaive/scan.h"
#include "glaive/session.h"
#include "glaive/write.h"
#include "io/memory_store.h"
#include "testing/counting_store.h"
#include "testing/matchers.h"

// What verbs on a table of many fragments ask of a store.
namespace glaive {
namespace {

using glaive::testing::CountingStore;
using glaive::testing::IsOkAndHolds;

constexpr const char* kUri = "counted://table";

std::shared_ptr<arrow::RecordBatchReader> Rows(int64_t num_rows) {
  std::vector<int64_t> values(static_cast<size_t>(num_rows));
  std::iota(values.begin(), values.end(), 0);
  arrow::Int64Builder builder;
  EXPECT_TRUE(builder.AppendValues(values).ok());
  const auto schema = arrow::schema({arrow::field("a", arrow::int64())});
  const auto batch = arrow::RecordBatch::Make(schema, num_rows, {builder.Finish().ValueOrDie()});
  return arrow::RecordBatchReader::Make({batch}, schema).ValueOrDie();
}

class RequestCountsTest : public ::testing::Test {
 protected:
  // A manifest that is larger than what one read of its end has.
  void SetUp() override {
    io::RegisterStore("counted", store_);
    WriteOptions options;
    options.limits.max_rows_per_file = 1;
    ASSERT_TRUE(WriteDataset(Rows(kFragments), kUri, options).ok());
    store_->Reset();
  }
  void TearDown() override { io::RegisterStore("counted", nullptr); }

  Dataset Open(std::optional<uint64_t> version = std::nullopt) {
    return Dataset::Open(kUri, {.version = version, .session = session_}).ValueOrDie();
  }

  static constexpr int64_t kFragments = 1000;
  std::shared_ptr<CountingStore> store_ = std::make_shared<CountingStore>(io::MakeMemoryStore());
  std::shared_ptr<Session> session_ = std::make_shared<Session>();
};

TEST_F(RequestCountsTest, OpeningIsAListingAndTwoReads) {
  EXPECT_EQ(Open().num_fragments(), kFragments);
  IoStats stats = store_->stats();
  EXPECT_EQ(stats.list_requests, 1);
  EXPECT_EQ(stats.get_requests, 2);
  EXPECT_EQ(stats.requests(), 3);
  store_->Reset();
  EXPECT_EQ(Open().num_fragments(), kFragments);  // the session has it
  EXPECT_EQ(store_->stats().list_requests, 1);
  EXPECT_EQ(store_->stats().requests(), 1);
}

TEST_F(RequestCountsTest, AVersionByItsNumberIsALookAndTwoReads) {
  EXPECT_EQ(Open(1).num_fragments(), kFragments);
  EXPECT_EQ(store_->stats().head_requests, 1);
  EXPECT_EQ(store_->stats().get_requests, 2);
  EXPECT_EQ(store_->stats().list_requests, 1);  // of version 1: whether its creator yields
  store_->Reset();
  EXPECT_EQ(Open(1).num_fragments(), kFragments);
  EXPECT_EQ(store_->stats().requests(), 2);
}

TEST_F(RequestCountsTest, AppendingByAHandleIsFourPutsAndOneListing) {
  const Dataset dataset = Open();
  store_->Reset();
  ASSERT_TRUE(WriteDataset(Rows(3), dataset, {.mode = WriteMode::kAppend}).ok());
  const IoStats stats = store_->stats();
  EXPECT_EQ(stats.put_requests, 4);   // data file, transaction, manifest, hint
  EXPECT_EQ(stats.list_requests, 2);  // what came meanwhile, and the look after the put
  EXPECT_EQ(stats.head_requests, 2);  // whether it is the same table, before and after
  EXPECT_EQ(stats.requests(), 8);
}

TEST_F(RequestCountsTest, CountingAndLookingUpAskForNothing) {
  const Dataset dataset = Open();
  store_->Reset();
  EXPECT_THAT(dataset.CountRows(), IsOkAndHolds(kFragments));
  EXPECT_EQ(FragmentAt(dataset, 500).ValueOrDie().id(), 500);
  EXPECT_EQ(PositionOf(dataset, 999), 999);
  EXPECT_EQ(PositionOf(dataset, 1000), std::nullopt);
  EXPECT_EQ(FragmentIds(dataset).size(), kFragments);
  EXPECT_EQ(CountSmallFragments(dataset, 2), kFragments);
  EXPECT_EQ(store_->stats().requests(), 0);
  const std::vector<uint64_t> rows = {777};
  ASSERT_TRUE(Take(dataset, rows, {}).ok());
  for (const auto& request : store_->requests()) {
    EXPECT_NE(request.path.find("/data/"), std::string::npos) << request.path;
  }
}

}  // namespace
}  // namespace glaive
