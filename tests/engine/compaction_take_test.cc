#include <random>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <arrow/util/logging.h>
#include <gtest/gtest.h>

#include "glaive/compaction.h"
#include "glaive/scan.h"
#include "glaive/session.h"
#include "glaive/write.h"
#include "io/memory_store.h"
#include "testing/counting_store.h"
#include "testing/matchers.h"

// What compaction is for: scattered rows cost what they would had all been written at once.
namespace glaive {
namespace {

using glaive::testing::CountingStore;
using glaive::testing::IsOk;

constexpr int64_t kRows = 1'000;
constexpr int64_t kItems = 2'000;  // of each row on average, 4 kB

std::shared_ptr<arrow::RecordBatchReader> Rows() {
  std::mt19937 random(5);
  arrow::ListBuilder lists(arrow::default_memory_pool(), std::make_shared<arrow::Int16Builder>());
  auto& values = static_cast<arrow::Int16Builder&>(*lists.value_builder());
  arrow::Int64Builder ids;
  for (int64_t i = 0; i < kRows; ++i) {
    ARROW_CHECK_OK(lists.Append());
    for (auto left = static_cast<int64_t>(random() % (2 * kItems)); left > 0; --left) {
      ARROW_CHECK_OK(values.Append(static_cast<int16_t>(random() % 30'000)));
    }
    ARROW_CHECK_OK(ids.Append(i));
  }
  const auto schema = arrow::schema(
      {arrow::field("feat", arrow::list(arrow::int16())), arrow::field("id", arrow::int64())});
  const auto batch = arrow::RecordBatch::Make(
      schema, kRows, {lists.Finish().ValueOrDie(), ids.Finish().ValueOrDie()});
  return arrow::RecordBatchReader::Make({batch}, schema).ValueOrDie();
}

class CompactionTakeTest : public ::testing::TestWithParam<CompactionMode> {
 protected:
  void SetUp() override { io::RegisterStore("counted", store_); }
  void TearDown() override { io::RegisterStore("counted", nullptr); }

  static Dataset Write(const std::string& uri, uint64_t max_rows_per_file) {
    return WriteDataset(Rows(), uri, {.limits = {.max_rows_per_file = max_rows_per_file}})
        .ValueOrDie()
        .dataset;
  }

  // Of the lists of eight scattered rows, by a session that knows nothing of the files.
  IoStats ColdTake(const std::string& uri) {
    const auto dataset = Dataset::Open(uri, {.session = std::make_shared<Session>()}).ValueOrDie();
    const std::vector<uint64_t> rows = {3, 140, 271, 402, 533, 664, 795, 926};
    store_->Reset();
    const auto taken = Take(dataset, rows, {.columns = std::vector<std::string>{"feat"}});
    EXPECT_THAT(taken, IsOk());
    EXPECT_EQ((*taken)->num_rows(), 8);
    return store_->stats();
  }

  std::shared_ptr<CountingStore> store_ = std::make_shared<CountingStore>(io::MakeMemoryStore());
};

TEST_P(CompactionTakeTest, ScatteredRowsCostWhatTheyDoAfterOneWrite) {
  const Dataset dataset = Write("counted://small", kRows / 20);
  Write("counted://bulk", kRows);
  const IoStats before = ColdTake("counted://small");
  ASSERT_THAT(CompactFiles(dataset, {.mode = GetParam()}), IsOk());
  const IoStats after = ColdTake("counted://small");
  const IoStats bulk = ColdTake("counted://bulk");

  EXPECT_EQ(after.requests(), after.get_requests);
  // One for each row behind three that open: the end of the file, then the page's table of chunks
  // and its index of rows, which go out at once.
  EXPECT_LE(after.get_requests, 8 + 3);
  EXPECT_LE(after.dependent_rounds, 3);
  EXPECT_LE(after.get_requests, bulk.get_requests);
  EXPECT_LE(after.dependent_rounds, bulk.dependent_rounds);
  EXPECT_GT(before.get_requests, 2 * 8);
}

INSTANTIATE_TEST_SUITE_P(Modes, CompactionTakeTest,
                         ::testing::Values(CompactionMode::kReencode,
                                           CompactionMode::kTryBinaryCopy),
                         [](const auto& mode) {
                           return mode.param == CompactionMode::kReencode ? "Reencode"
                                                                          : "TryBinaryCopy";
                         });

}  // namespace
}  // namespace glaive
