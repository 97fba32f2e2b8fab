#include "dataset/scan/units.h"

#include <algorithm>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "core/executor.h"
#include "core/memory_budget.h"
#include "dataset/scan/array_bytes.h"
#include "dataset/scan/plan.h"
#include "glaive/scan.h"
#include "glaive/write.h"
#include "testing/matchers.h"

namespace glaive::dataset {
namespace {

using glaive::testing::IsOk;

using BatchPtr = std::shared_ptr<arrow::RecordBatch>;
using TextOf = std::function<std::string(int64_t)>;

constexpr int64_t kRows = 20'000;
constexpr uint64_t kUnitBytes = uint64_t{64} << 10;  // of a budget of half a MiB

std::string Uri(const std::string& name = "") {
  return std::string("memory://scan_units_test/") +
         ::testing::UnitTest::GetInstance()->current_test_info()->name() + name;
}

// {i: 0 ..., s: text of i}, in one fragment.
Dataset Write(const TextOf& text_of, const std::string& uri = Uri()) {
  const auto schema =
      arrow::schema({arrow::field("i", arrow::int64()), arrow::field("s", arrow::utf8())});
  arrow::RecordBatchVector batches;
  for (int64_t begin = 0; begin < kRows; begin += 1000) {
    arrow::Int64Builder numbers;
    arrow::StringBuilder texts;
    for (int64_t i = begin; i < begin + 1000; ++i) {
      EXPECT_THAT(numbers.Append(i), IsOk());
      EXPECT_THAT(texts.Append(text_of(i)), IsOk());
    }
    batches.push_back(arrow::RecordBatch::Make(
        schema, 1000, {numbers.Finish().ValueOrDie(), texts.Finish().ValueOrDie()}));
  }
  auto stream = arrow::RecordBatchReader::Make(batches, schema).ValueOrDie();
  return WriteDataset(stream, uri, {}).ValueOrDie().dataset;
}

// What comes of the units of a scan: the bytes of the largest batch and the number of rows.
struct Outcome {
  uint64_t largest_bytes = 0;
  int64_t num_rows = 0;
  size_t num_batches = 0;
};

Outcome RunUnits(const Dataset& dataset, ScanOptions options) {
  options.read_ahead_bytes = kUnitBytes * 8;
  Outcome outcome;
  ScanUnits units(PlanScan(dataset, options).ValueOrDie(), [&](const BatchPtr& batch) {
    outcome.largest_bytes = std::max(outcome.largest_bytes, BatchBytes(*batch));
    outcome.num_rows += batch->num_rows();
    ++outcome.num_batches;
    return arrow::Status::OK();
  });
  MemoryBudget budget(options.read_ahead_bytes);
  EXPECT_THAT(RunInOrder(ProcessExecutor(), budget, [&] { return units.Next(); }), IsOk());
  return outcome;
}

// Texts that many rows share lie in a dictionary; one that all share lies in the page itself.
TEST(ScanUnitsTest, AreCutByWhatTheirRowsDecodeTo) {
  const std::vector<std::string> texts = {std::string(3000, 'a'), std::string(3000, 'b'),
                                          std::string(3000, 'c')};
  const Dataset few = Write([&](int64_t i) { return texts[static_cast<size_t>(i) % 3]; });
  const Dataset one = Write([&](int64_t) { return texts[0]; }, Uri("_one"));
  for (const Dataset& dataset : {few, one}) {
    const Outcome outcome = RunUnits(dataset, {});
    EXPECT_EQ(outcome.num_rows, kRows);
    EXPECT_LE(outcome.largest_bytes, 2 * kUnitBytes);
    // The filter's column counts by itself, as well as what comes beside it.
    const Outcome filtered =
        RunUnits(dataset, {.filter = Predicate::Sql("length(s) = 3000 AND i % 2 = 0")});
    EXPECT_EQ(filtered.num_rows, kRows / 2);
    EXPECT_LE(filtered.largest_bytes, 2 * kUnitBytes);
  }
  // What is not read does not make units small.
  EXPECT_LE(RunUnits(few, {.columns = {{"i"}}}).num_batches, 4u);
}

// Nearly all rows have the one long text among many short ones, which no average tells.
TEST(ScanUnitsTest, StopWhereRowsDecodeToMoreThanTheyTell) {
  const std::string text(20'000, 'x');
  const Dataset dataset =
      Write([&](int64_t i) { return i % 20 == 0 ? "short " + std::to_string(i % 500) : text; });
  const Outcome outcome = RunUnits(dataset, {});
  EXPECT_EQ(outcome.num_rows, kRows);
  EXPECT_LE(outcome.largest_bytes, uint64_t{1} << 20);
}

TEST(ScanUnitsTest, AFunctionThatMakesTooMuchIsGivenFewerRows) {
  const Dataset dataset = Write([](int64_t i) { return std::to_string(i); });
  ScanOptions options;
  options.computed = {{"i", "i"}, {"padded", "rpad(s, 10000)"}};
  const Outcome outcome = RunUnits(dataset, options);  // 200 MB
  EXPECT_EQ(outcome.num_rows, kRows);
  EXPECT_LE(outcome.largest_bytes, uint64_t{66} << 20);
  // What is computed on the way to yes or no may be too much, too.
  EXPECT_EQ(CountRows(dataset, {.filter = Predicate::Sql("length(rpad(s, 10000)) = 10000 AND "
                                                         "i % 10 = 3")})
                .ValueOrDie(),
            kRows / 10);
}

TEST(ScanUnitsTest, SmallBatchesMakeSmallUnits) {
  const std::string text(3000, 'a');
  const Dataset dataset = Write([&](int64_t i) { return text + std::to_string(i % 7); });
  ScanOptions options{.batch_size = 10};
  options.read_ahead_bytes = uint64_t{64} << 20;
  uint64_t largest = 0;
  ScanUnits units(PlanScan(dataset, options).ValueOrDie(), [&](const BatchPtr& batch) {
    largest = std::max(largest, BatchBytes(*batch));
    EXPECT_TRUE(batch->num_rows() % 10 == 0);
    return arrow::Status::OK();
  });
  MemoryBudget budget(options.read_ahead_bytes);
  ASSERT_THAT(RunInOrder(ProcessExecutor(), budget, [&] { return units.Next(); }), IsOk());
  EXPECT_LE(largest, uint64_t{1} << 20);
}

}  // namespace
}  // namespace glaive::dataset
