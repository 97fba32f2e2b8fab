#include "query/values/array_rows.h"

#include <vector>

#include <arrow/api.h>
#include <arrow/extension/uuid.h>
#include <arrow/util/logging.h>
#include <gtest/gtest.h>

#include "query/bind/filter.h"
#include "testing/matchers.h"

namespace glaive::query {
namespace {

using testing::IsOk;
using ArrayPtr = std::shared_ptr<arrow::Array>;

ArrayPtr Numbers(int64_t count) {
  arrow::Int16Builder builder;
  for (int64_t i = 0; i < count; ++i) ARROW_CHECK_OK(builder.Append(static_cast<int16_t>(i)));
  return builder.Finish().ValueOrDie();
}

ArrayPtr FixedSize(const ArrayPtr& items, int32_t width) {
  const auto type = arrow::fixed_size_list(arrow::field("item", items->type(), false), width);
  return arrow::FixedSizeListArray::FromArrays(items, type).ValueOrDie();
}

ArrayPtr Positions(const std::vector<int64_t>& positions) {
  arrow::Int64Builder builder;
  for (const int64_t position : positions) {
    ARROW_CHECK_OK(position < 0 ? builder.AppendNull() : builder.Append(position));
  }
  return builder.Finish().ValueOrDie();
}

// Rows of any slice are those of the whole.
void ExpectSlicesTakenRight(const ArrayPtr& whole) {
  ASSERT_THAT(InitCompute(), IsOk());
  for (const int64_t offset : {0, 1, 3}) {
    const auto slice = whole->Slice(offset, whole->length() - offset - 1);
    const auto taken = TakeRows(*slice, *Positions({2, 0, -1, 1})).ValueOrDie();
    ASSERT_THAT(taken->ValidateFull(), IsOk());
    ASSERT_EQ(taken->length(), 4);
    EXPECT_TRUE(taken->RangeEquals(0, 1, offset + 2, *whole)) << taken->ToString();
    EXPECT_TRUE(taken->RangeEquals(1, 2, offset, *whole)) << taken->ToString();
    EXPECT_TRUE(taken->IsNull(2));
    EXPECT_TRUE(taken->RangeEquals(3, 4, offset + 1, *whole)) << taken->ToString();
  }
}

TEST(ArrayRowsTest, SlicesOfNestedFixedSizeLists) {
  const auto pairs = FixedSize(Numbers(60), 2);
  const auto nested = FixedSize(pairs, 3);
  ExpectSlicesTakenRight(nested);
  ExpectSlicesTakenRight(FixedSize(pairs->Slice(3, 24), 3));
  ExpectSlicesTakenRight(FixedSize(nested->Slice(2, 8), 1));
  ExpectSlicesTakenRight(arrow::StructArray::Make({nested->Slice(2, 7)}, {"x"}).ValueOrDie());
  const auto offsets = arrow::Buffer::FromVector(std::vector<int32_t>{0, 2, 3, 3, 5, 7, 8, 8});
  ExpectSlicesTakenRight(arrow::MakeArray(arrow::ArrayData::Make(
      arrow::list(nested->type()), 7, {nullptr, offsets}, {nested->Slice(1, 8)->data()}, 0)));
}

TEST(ArrayRowsTest, SlicesOfNestedFixedSizeListsWithNulls) {
  const auto pairs = FixedSize(Numbers(60), 2);
  arrow::TypedBufferBuilder<bool> valid;
  for (int i = 0; i < 10; ++i) ASSERT_THAT(valid.Append(i % 4 != 1), IsOk());
  const auto validity = valid.Finish().ValueOrDie();
  const auto type = arrow::fixed_size_list(arrow::field("item", pairs->type(), false), 3);
  ExpectSlicesTakenRight(std::make_shared<arrow::FixedSizeListArray>(type, 10, pairs, validity,
                                                                     arrow::kUnknownNullCount));
}

TEST(ArrayRowsTest, PositionsBeyondTheValuesAreRefused) {
  ASSERT_THAT(InitCompute(), IsOk());
  EXPECT_TRUE(TakeRows(*Numbers(3), *Positions({3})).status().IsIndexError());
}

// As some programs give arrays without rows.
TEST(ArrayRowsTest, ArraysWithoutRowsAndBuffersAreJoined) {
  const auto no_bytes = std::make_shared<arrow::Buffer>(nullptr, 0);
  const auto empty =
      arrow::MakeArray(arrow::ArrayData::Make(arrow::utf8(), 0, {nullptr, no_bytes, no_bytes}, 0));
  arrow::StringBuilder builder;
  ASSERT_THAT(builder.AppendValues({"a", "bc"}), IsOk());
  const auto text = builder.Finish().ValueOrDie();
  EXPECT_TRUE(JoinRows({empty, text, empty}).ValueOrDie()->Equals(*text));
  const auto offsets = arrow::Buffer::FromVector(std::vector<int32_t>{0, 0, 0});
  const auto lists = arrow::MakeArray(arrow::ArrayData::Make(
      arrow::list(arrow::utf8()), 2, {nullptr, offsets}, {empty->data()}, 0));
  EXPECT_EQ(JoinRows({lists, lists}).ValueOrDie()->length(), 4);
}

TEST(ArrayRowsTest, NoRowsOfExtensionsInOtherTypesAreJoined) {
  const auto uuid = arrow::extension::uuid();
  for (const auto& type : {uuid, arrow::list(uuid), arrow::fixed_size_list(uuid, 2),
                           arrow::struct_({arrow::field("u", uuid)}),
                           arrow::dictionary(arrow::int8(), arrow::utf8())}) {
    SCOPED_TRACE(type->ToString());
    const auto none = arrow::MakeArrayOfNull(type, 0).ValueOrDie();
    const auto one = arrow::MakeArrayOfNull(type, 1).ValueOrDie();
    const auto joined = JoinRows({none, one, none});
    ASSERT_THAT(joined, IsOk());
    EXPECT_TRUE((*joined)->Equals(*one));
    const auto batch = JoinRows(arrow::schema({arrow::field("x", type)}), {});
    ASSERT_THAT(batch, IsOk());
    EXPECT_THAT((*batch)->ValidateFull(), IsOk());
    EXPECT_EQ((*batch)->num_rows(), 0);
  }
}

template <typename Index>
ArrayPtr Words(const std::vector<Index>& indices, const ArrayPtr& words) {
  const auto type = arrow::dictionary(arrow::CTypeTraits<Index>::type_singleton(), words->type());
  const auto data = arrow::ArrayData::Make(type, static_cast<int64_t>(indices.size()),
                                           {nullptr, arrow::Buffer::FromVector(indices)}, 0);
  data->dictionary = words->data();
  return arrow::MakeArray(data);
}

TEST(ArrayRowsTest, DictionariesWithNullsAreJoined) {
  ASSERT_THAT(InitCompute(), IsOk());
  arrow::StringBuilder builder;
  ASSERT_THAT(builder.AppendNull(), IsOk());
  ASSERT_THAT(builder.AppendValues({"a", "b", "a"}), IsOk());
  const auto words = builder.Finish().ValueOrDie();
  const auto one = Words<uint16_t>({9, 3, 0, 2}, words)->Slice(1);
  const auto other = Words<uint16_t>({1, 0}, words);
  const auto joined = JoinRows({one, other}).ValueOrDie();
  ASSERT_THAT(joined->ValidateFull(), IsOk());
  const auto& dictionary = static_cast<const arrow::DictionaryArray&>(*joined);
  std::vector<std::string> found;
  for (int64_t i = 0; i < joined->length(); ++i) {
    found.push_back(joined->IsNull(i)
                        ? "null"
                        : static_cast<const arrow::StringArray&>(*dictionary.dictionary())
                              .GetString(dictionary.GetValueIndex(i)));
  }
  EXPECT_EQ(found, (std::vector<std::string>{"a", "null", "b", "a", "null"}));
  EXPECT_FALSE(JoinRows({Words<int8_t>({-1}, words), other}).ok());
}

TEST(ArrayRowsTest, BatchesWithoutColumnsKeepTheirRows) {
  const auto schema = arrow::schema({});
  const auto batch = arrow::RecordBatch::Make(schema, 3, arrow::ArrayVector{});
  EXPECT_EQ(JoinRows(schema, {batch, batch}).ValueOrDie()->num_rows(), 6);
  EXPECT_EQ(JoinRows(schema, {}).ValueOrDie()->num_rows(), 0);
}

}  // namespace
}  // namespace glaive::query
