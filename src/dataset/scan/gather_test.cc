#include "dataset/scan/gather.h"

#include <algorithm>
#include <random>
#include <string>

#include <arrow/api.h>
#include <arrow/json/from_string.h>
#include <gtest/gtest.h>

#include "query/bind/filter.h"
#include "testing/matchers.h"
#include "testing/random_values.h"

namespace glaive::dataset {
namespace {

using glaive::testing::IsOk;
using glaive::testing::RandomValues;

const auto kSchema =
    arrow::schema({arrow::field("i", arrow::int32()), arrow::field("s", arrow::utf8()),
                   arrow::field("l", arrow::list(arrow::utf8())),
                   arrow::field("st", arrow::struct_({arrow::field("x", arrow::large_utf8())}))});

arrow::RecordBatchVector Batches() {
  arrow::RecordBatchVector batches;
  for (const int64_t rows : {40, 1, 100}) {
    arrow::ArrayVector columns;
    for (const auto& field : kSchema->fields()) {
      columns.push_back(arrow::MakeArray(
          RandomValues({}, static_cast<uint64_t>(rows)).Make(field->type(), rows)));
    }
    batches.push_back(arrow::RecordBatch::Make(kSchema, rows, columns));
  }
  batches.push_back(batches.back()->Slice(13, 50));
  return batches;
}

std::vector<RowPlace> RandomPlaces(const arrow::RecordBatchVector& batches, size_t count) {
  std::mt19937 random(static_cast<uint32_t>(count));
  std::vector<RowPlace> places;
  for (size_t i = 0; i < count; ++i) {
    const auto batch = static_cast<uint32_t>(random() % batches.size());
    places.push_back({batch, static_cast<uint32_t>(
                                 random() % static_cast<uint32_t>(batches[batch]->num_rows()))});
  }
  return places;
}

TEST(GatherTest, AnyRowsOfSeveralBatches) {
  ASSERT_THAT(query::InitCompute(), IsOk());
  const auto batches = Batches();
  for (const size_t count : {0, 1, 7, 500}) {
    const auto places = RandomPlaces(batches, count);
    const auto gathered = GatherRows(kSchema, batches, places);
    ASSERT_THAT(gathered, IsOk());
    ASSERT_THAT((*gathered)->ValidateFull(), IsOk());
    ASSERT_EQ((*gathered)->num_rows(), static_cast<int64_t>(count));
    for (size_t i = 0; i < count; ++i) {
      EXPECT_TRUE((*gathered)
                      ->Slice(static_cast<int64_t>(i), 1)
                      ->Equals(*batches[places[i].batch]->Slice(places[i].row, 1)));
    }
  }
}

TEST(GatherTest, AsManyRowsAsTheLimitsAllow) {
  const auto batches = Batches();
  const auto places = RandomPlaces(batches, 500);
  EXPECT_EQ(CountGatherable(batches, places, {}), 500u);
  EXPECT_EQ(CountGatherable(batches, {}, {}), 0u);
  EXPECT_EQ(CountGatherable(batches, places, {.max_rows = 9}), 9u);
  EXPECT_EQ(CountGatherable(batches, places, {.bytes = 1}), 1u);
  EXPECT_EQ(CountGatherable(batches, places, {.reach = 0}), 1u);
  // Cut by reach, no column of a batch reaches further, and the next row would have.
  constexpr uint64_t kReach = 200;
  const size_t count = CountGatherable(batches, places, {.reach = kReach});
  ASSERT_GT(count, 1u);
  ASSERT_LT(count, 500u);
  const std::span rows(places);
  EXPECT_LE(OffsetReach(*GatherRows(kSchema, batches, rows.first(count)).ValueOrDie()), kReach);
  // What lies behind nulls counts where the rows come from.
  uint64_t furthest = 0;
  for (int column = 0; column < kSchema->num_fields(); ++column) {
    uint64_t reach = 0;
    for (const RowPlace& place : rows.first(count + 1)) {
      reach += OffsetReach(*batches[place.batch]->column_data(column), place.row, place.row + 1);
    }
    furthest = std::max(furthest, reach);
  }
  EXPECT_GT(furthest, kReach);
}

TEST(OffsetReachTest, IsThatOfTheFurthestOffsetsAtAnyDepth) {
  const auto of = [](const std::shared_ptr<arrow::DataType>& type, const std::string& json) {
    return OffsetReach(*arrow::json::ArrayFromJSONString(type, json).ValueOrDie());
  };
  EXPECT_EQ(of(arrow::int64(), "[1, 2]"), 0u);
  EXPECT_EQ(of(arrow::utf8(), R"(["abc", null, "de"])"), 5u);
  EXPECT_EQ(of(arrow::large_utf8(), R"(["abc"])"), 0u);
  EXPECT_EQ(of(arrow::list(arrow::int8()), "[[1, 2, 3], []]"), 3u);
  EXPECT_EQ(of(arrow::list(arrow::utf8()), R"([["abcdef"], ["g"]])"), 7u);
  EXPECT_EQ(of(arrow::large_list(arrow::utf8()), R"([["abc"], ["g"]])"), 4u);
  EXPECT_EQ(of(arrow::fixed_size_list(arrow::utf8(), 2), R"([["a", "bcd"]])"), 4u);
  EXPECT_EQ(of(arrow::struct_({arrow::field("a", arrow::utf8()), arrow::field("b", arrow::utf8())}),
               R"([{"a": "abc", "b": "x"}, {"a": "d", "b": "y"}])"),
            4u);
  const auto texts =
      arrow::json::ArrayFromJSONString(arrow::utf8(), R"(["abc", "de", "f"])").ValueOrDie();
  EXPECT_EQ(OffsetReach(*texts->Slice(1, 1)), 2u);
}

}  // namespace
}  // namespace glaive::dataset
