#include "dataset/scan/batch_cutter.h"

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

// Rows of texts that are as long as said.
std::shared_ptr<arrow::RecordBatch> Texts(const std::vector<size_t>& lengths) {
  arrow::StringBuilder builder;
  for (const size_t length : lengths) EXPECT_TRUE(builder.Append(std::string(length, 'x')).ok());
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("s", arrow::utf8())}),
                                  static_cast<int64_t>(lengths.size()),
                                  {builder.Finish().ValueOrDie()});
}

TEST(BatchCutterTest, WhatOffsetsDoNotReachComesInTheNextBatch) {
  BatchCutter cutter(1000, true, /*reach=*/100);
  // More than a batch holds does not wait for more rows.
  cutter.Add(Texts({40, 40}));
  EXPECT_EQ(cutter.Next(false).ValueOrDie(), nullptr);
  cutter.Add(Texts({30, 30, 30}));
  EXPECT_EQ(cutter.Next(false).ValueOrDie()->num_rows(), 2);
  EXPECT_EQ(cutter.Next(false).ValueOrDie(), nullptr);
  cutter.Add(Texts({5}));
  EXPECT_EQ(cutter.Next(false).ValueOrDie(), nullptr);
  EXPECT_EQ(cutter.Next(true).ValueOrDie()->num_rows(), 4);
  EXPECT_EQ(cutter.Next(true).ValueOrDie(), nullptr);
}

TEST(BatchCutterTest, NoRowIsLostWhereOffsetsDoNotReach) {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    const auto max_rows = static_cast<int64_t>(1 + random() % 30);
    BatchCutter cutter(max_rows, true, /*reach=*/100);
    std::vector<size_t> expected;
    std::vector<size_t> lengths;
    const auto drain = [&](bool is_last) {
      while (const auto batch = cutter.Next(is_last).ValueOrDie()) {
        EXPECT_LE(batch->num_rows(), max_rows);
        const auto& texts = static_cast<const arrow::StringArray&>(*batch->column(0));
        for (int64_t i = 0; i < texts.length(); ++i) {
          lengths.push_back(static_cast<size_t>(texts.value_length(i)));
        }
      }
    };
    for (int i = 0; i < 10; ++i) {
      std::vector<size_t> input(random() % 20);
      for (size_t& length : input) length = random() % 40;
      expected.insert(expected.end(), input.begin(), input.end());
      cutter.Add(Texts(input));
      drain(false);
    }
    drain(true);
    EXPECT_EQ(lengths, expected);
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
