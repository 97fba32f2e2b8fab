#include "dataset/batch_cutter.h"

#include <random>
#include <vector>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

namespace glaive::dataset {
namespace {

std::shared_ptr<arrow::RecordBatch> Counting(int64_t begin, int64_t size) {
  arrow::Int64Builder builder;
  for (int64_t i = begin; i < begin + size; ++i) EXPECT_TRUE(builder.Append(i).ok());
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("v", arrow::int64())}), size,
                                  {builder.Finish().ValueOrDie()});
}

// Cuts inputs of these sizes; checks that the values go on, and returns the sizes that come out.
std::vector<int64_t> Cut(const std::vector<int64_t>& inputs, int64_t max_rows, bool exactly) {
  BatchCutter cutter(max_rows, exactly);
  std::vector<int64_t> sizes;
  int64_t next_in = 0;
  int64_t next_out = 0;
  const auto drain = [&](bool is_last) {
    while (const auto batch = cutter.Next(is_last).ValueOrDie()) {
      sizes.push_back(batch->num_rows());
      const auto& values = static_cast<const arrow::Int64Array&>(*batch->column(0));
      for (int64_t i = 0; i < values.length(); ++i) EXPECT_EQ(values.Value(i), next_out++);
    }
  };
  for (const int64_t size : inputs) {
    cutter.Add(Counting(next_in, size));
    next_in += size;
    drain(false);
  }
  drain(true);
  EXPECT_EQ(next_out, next_in);
  return sizes;
}

using Sizes = std::vector<int64_t>;

TEST(BatchCutterTest, AtMostSoManyRowsNeverJoinsBatches) {
  EXPECT_EQ(Cut({5, 0, 3, 10}, 4, false), (Sizes{4, 1, 3, 4, 4, 2}));
  EXPECT_EQ(Cut({}, 4, false), Sizes{});
}

TEST(BatchCutterTest, ExactlySoManyRowsAreFilledAcrossBatches) {
  EXPECT_EQ(Cut(Sizes(20, 300), 6000, true), Sizes{6000});
  EXPECT_EQ(Cut({5, 0, 3, 10}, 4, true), (Sizes{4, 4, 4, 4, 2}));
  EXPECT_EQ(Cut({3, 3}, 100, true), Sizes{6});
}

TEST(BatchCutterTest, AnyCuttingGivesTheSameSizes) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    Sizes inputs;
    int64_t total = 0;
    for (int i = 0; i < 6; ++i) {
      inputs.push_back(static_cast<int64_t>(random() % 40));
      total += inputs.back();
    }
    const auto max_rows = static_cast<int64_t>(1 + random() % 30);
    Sizes expected(static_cast<size_t>(total / max_rows), max_rows);
    if (total % max_rows != 0) expected.push_back(total % max_rows);
    EXPECT_EQ(Cut(inputs, max_rows, true), expected);
  }
}

TEST(BatchCutterTest, RowsWithoutColumnsAreCountedToo) {
  BatchCutter cutter(10, true);
  const auto schema = arrow::schema(arrow::FieldVector{});
  for (int i = 0; i < 3; ++i) {
    cutter.Add(arrow::RecordBatch::Make(schema, 6, arrow::ArrayVector{}));
  }
  EXPECT_EQ(cutter.Next(false).ValueOrDie()->num_rows(), 10);
  EXPECT_EQ(cutter.Next(true).ValueOrDie()->num_rows(), 8);
  EXPECT_EQ(cutter.Next(true).ValueOrDie(), nullptr);
}

}  // namespace
}  // namespace glaive::dataset
