#include "inspect/row_hasher.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "testing/random_table.h"

namespace glaive::inspect {
namespace {

std::vector<RowHash> Hash(const arrow::RecordBatch& batch) {
  return HashRows(batch, batch.num_columns()).ValueOrDie();
}

RowHash SumOf(const std::vector<RowHash>& hashes) {
  RowHash sum;
  for (const RowHash& hash : hashes) AddTo(&sum, hash);
  return sum;
}

std::shared_ptr<arrow::RecordBatch> Batch(const std::shared_ptr<arrow::Array>& column) {
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("c", column->type())}),
                                  column->length(), {column});
}

// Rows of every type: a slice has the hashes of its rows, wherever it begins.
TEST(RowHasherTest, CutsLeaveNoTrace) {
  std::mt19937_64 random(7);
  const auto batch = testing::RandomBatch({.num_rows = 200, .hidden_values = true}, random);
  const std::vector<RowHash> whole = Hash(*batch);
  for (const int64_t begin : {0, 1, 7, 64, 199}) {
    const std::vector<RowHash> part = Hash(*batch->Slice(begin));
    EXPECT_TRUE(std::ranges::equal(part, std::span(whole).subspan(static_cast<size_t>(begin))));
  }
}

TEST(RowHasherTest, OrderDoesNotMatterAndRepeatsCount) {
  const std::vector<RowHash> rows = {{1, 2}, {3, 4}, {5, 6}};
  EXPECT_EQ(SumOf(rows), SumOf({{5, 6}, {1, 2}, {3, 4}}));
  EXPECT_NE(SumOf(rows), SumOf({{5, 6}, {1, 2}, {3, 4}, {3, 4}}));
}

// What looks alike in some encoding is not the same row.
TEST(RowHasherTest, DifferentValuesDiffer) {
  arrow::StringBuilder texts;
  for (const char* text : {"", "a", "b", "ab", "a\0"}) ASSERT_TRUE(texts.Append(text).ok());
  ASSERT_TRUE(texts.AppendNull().ok());
  ASSERT_TRUE(texts.Append(std::string("a\0", 2)).ok());
  const auto array = texts.Finish().ValueOrDie();
  const auto hashes = Hash(*Batch(array));
  std::set<std::string> distinct;
  for (const RowHash& hash : hashes) distinct.insert(hash.ToString());
  EXPECT_EQ(distinct.size(), 6u);  // "a\0" as a C string is "a"

  const auto values = std::make_shared<arrow::Int32Builder>();
  arrow::ListBuilder lists(arrow::default_memory_pool(), values);
  const auto add = [&](const std::vector<int>& items) {
    ASSERT_TRUE(lists.Append().ok());
    for (const int item : items) ASSERT_TRUE(values->Append(item).ok());
  };
  add({});
  add({0});
  add({0, 0});
  add({1, 2});
  add({2, 1});
  ASSERT_TRUE(lists.AppendNull().ok());
  ASSERT_TRUE(lists.Append().ok());
  ASSERT_TRUE(values->AppendNull().ok());
  distinct.clear();
  for (const RowHash& hash : Hash(*Batch(lists.Finish().ValueOrDie()))) {
    distinct.insert(hash.ToString());
  }
  EXPECT_EQ(distinct.size(), 7u);
}

TEST(RowHasherTest, ColumnsHaveAnOrder) {
  arrow::Int64Builder ones;
  arrow::Int64Builder twos;
  ASSERT_TRUE(ones.Append(1).ok());
  ASSERT_TRUE(twos.Append(2).ok());
  const auto one = ones.Finish().ValueOrDie();
  const auto two = twos.Finish().ValueOrDie();
  const auto schema =
      arrow::schema({arrow::field("a", arrow::int64()), arrow::field("b", arrow::int64())});
  EXPECT_NE(Hash(*arrow::RecordBatch::Make(schema, 1, {one, two})),
            Hash(*arrow::RecordBatch::Make(schema, 1, {two, one})));
}

// The width of offsets is no part of a value.
TEST(RowHasherTest, LayoutsLeaveNoTrace) {
  arrow::StringBuilder strings;
  arrow::LargeStringBuilder large_strings;
  for (const char* text : {"x", "", "long enough to need two words", "x"}) {
    ASSERT_TRUE(strings.Append(text).ok());
    ASSERT_TRUE(large_strings.Append(text).ok());
  }
  const auto expected = Hash(*Batch(strings.Finish().ValueOrDie()));
  EXPECT_EQ(Hash(*Batch(large_strings.Finish().ValueOrDie())), expected);
  EXPECT_EQ(expected[0], expected[3]);
}

}  // namespace
}  // namespace glaive::inspect
