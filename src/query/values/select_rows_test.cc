#include "query/values/select_rows.h"

#include <random>
#include <vector>

#include <arrow/api.h>
#include <arrow/compute/api.h>
#include <arrow/util/logging.h>
#include <gtest/gtest.h>

#include "query/bind/filter.h"
#include "testing/matchers.h"

namespace glaive::query {
namespace {

using testing::IsOk;

// Lists of up to five numbers; one in `one_in` lists, and numbers, is null, none for 0.
template <typename Builder, typename Values>
std::shared_ptr<arrow::Array> Lists(int64_t count, uint32_t null_lists, uint32_t null_items) {
  std::mt19937 random(11);
  const auto is_null = [&](uint32_t one_in) { return one_in > 0 && random() % one_in == 0; };
  const auto values = std::make_shared<Values>();
  Builder lists(arrow::default_memory_pool(), values);
  for (int64_t i = 0; i < count; ++i) {
    if (is_null(null_lists)) {
      ARROW_CHECK_OK(lists.AppendNull());
      continue;
    }
    ARROW_CHECK_OK(lists.Append());
    for (auto items = random() % 6; items > 0; --items) {
      ARROW_CHECK_OK(is_null(null_items) ? values->AppendNull()
                                         : values->Append(random() % 2 != 0));
    }
  }
  return lists.Finish().ValueOrDie();
}

void ExpectAsArrow(const std::shared_ptr<arrow::Array>& column) {
  ASSERT_THAT(InitCompute(), IsOk());
  std::mt19937 random(3);
  for (const int64_t begin : {0, 7}) {
    const auto rows = column->Slice(begin, column->length() - 2 * begin);
    const auto batch = arrow::RecordBatch::Make(arrow::schema({arrow::field("l", rows->type())}),
                                                rows->length(), {rows});
    for (const size_t count : {0, 1, 50, 500}) {
      std::vector<uint32_t> positions(count);
      arrow::UInt32Builder indices;
      for (uint32_t& position : positions) {
        position = static_cast<uint32_t>(random() % static_cast<uint64_t>(rows->length()));
        ASSERT_THAT(indices.Append(position), IsOk());
      }
      const auto selected = SelectRows(batch, positions).ValueOrDie();
      ASSERT_THAT(selected->ValidateFull(), IsOk());
      const auto expected =
          arrow::compute::Take(*rows, *indices.Finish().ValueOrDie()).ValueOrDie();
      EXPECT_TRUE(selected->column(0)->Equals(*expected)) << column->type()->ToString();
    }
  }
}

TEST(SelectRowsTest, ListsAreThoseThatArrowSelects) {
  for (const uint32_t null_lists : {0, 3}) {
    for (const uint32_t null_items : {0, 4}) {
      ExpectAsArrow(Lists<arrow::ListBuilder, arrow::Int16Builder>(100, null_lists, null_items));
      ExpectAsArrow(
          Lists<arrow::LargeListBuilder, arrow::DoubleBuilder>(100, null_lists, null_items));
      ExpectAsArrow(Lists<arrow::ListBuilder, arrow::BooleanBuilder>(100, null_lists, null_items));
    }
  }
}

TEST(SelectRowsTest, NestedListsAndEmptyOnes) {
  const auto inner = Lists<arrow::ListBuilder, arrow::Int32Builder>(100, 3, 0);
  arrow::Int32Builder offsets;
  for (int32_t i = 0; i <= 40; ++i) ASSERT_THAT(offsets.Append(2 * i), IsOk());
  ExpectAsArrow(arrow::ListArray::FromArrays(*offsets.Finish().ValueOrDie(), *inner).ValueOrDie());
  ExpectAsArrow(arrow::MakeArrayOfNull(arrow::list(arrow::int64()), 40).ValueOrDie());
}

}  // namespace
}  // namespace glaive::query
