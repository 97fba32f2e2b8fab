#include "encoding/levels/leaf.h"

#include <arrow/array.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>

#include "encoding/structural/leaf/builder.h"
#include "testing/matchers.h"

namespace glaive::encoding {
namespace {

using arrow::field;
using glaive::testing::IsError;
using glaive::testing::IsOk;

std::string Describe(const LeafPath& leaf) {
  std::string text;
  for (const Layer& layer : leaf.layers) {
    text += layer.kind == LayerKind::kList ? (layer.large_offsets ? "L" : "l") : "i";
    text += std::to_string(layer.child_index);
  }
  return text + " " + leaf.type->ToString();
}

TEST(LeafTest, LeavesInTheOrderOfTheirColumns) {
  const auto type = arrow::struct_(
      {field("a", arrow::int32()),
       field("b", arrow::large_list(arrow::struct_(
                      {field("x", arrow::utf8()), field("y", arrow::list(arrow::int8()))}))),
       field("c", arrow::fixed_size_list(arrow::fixed_size_list(arrow::float32(), 2), 3)),
       field("d", arrow::struct_({}))});
  const auto leaves = LeavesOf(*field("f", type)).ValueOrDie();
  ASSERT_EQ(leaves.size(), 5);
  EXPECT_EQ(Describe(leaves[0]), "i0i0 int32");
  EXPECT_EQ(Describe(leaves[1]), "i1L0i0i0 string");
  EXPECT_EQ(Describe(leaves[2]), "i1L0i1l0i0 int8");
  EXPECT_EQ(leaves[2].num_lists(), 2);
  EXPECT_EQ(Describe(leaves[3]).substr(0, 4), "i2i0");
  EXPECT_EQ(leaves[3].type->id(), arrow::Type::FIXED_SIZE_LIST);
  EXPECT_EQ(leaves[4].type->id(), arrow::Type::STRUCT);
}

TEST(LeafTest, MapsAreListsOfEntriesAndDictionariesTheirValues) {
  const auto map = arrow::map(arrow::utf8(), arrow::int32());
  const auto leaves = LeavesOf(*field("m", map)).ValueOrDie();
  ASSERT_EQ(leaves.size(), 2);
  EXPECT_EQ(Describe(leaves[0]), "l0i0i0 string");
  EXPECT_EQ(Describe(leaves[1]), "l0i1i0 int32");
  const auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  const auto keys = LeavesOf(*field("d", type)).ValueOrDie();
  ASSERT_EQ(keys.size(), 1);
  EXPECT_EQ(Describe(keys[0]), "i0 string");
  EXPECT_EQ(keys[0].index_bits, 8);
}

TEST(LeafTest, WhatIsNotSplitIsNamed) {
  const auto pair = arrow::struct_({field("x", arrow::int8())});
  EXPECT_THAT(LeavesOf(*field("f", arrow::fixed_size_list(pair, 2))),
              IsError(ErrorKind::kUnsupported, "'f' of type fixed_size_list"));
  const auto with = [&](const char* key, const char* value) {
    return LeavesOf(*field("p", pair, true, arrow::key_value_metadata({key}, {value})));
  };
  EXPECT_THAT(with("packed", "True"), IsError(ErrorKind::kUnsupported, "'p' is a packed struct"));
  EXPECT_THAT(with("lance-encoding:packed", "false"), IsOk());
  EXPECT_THAT(with("lance-encoding:blob", "true"),
              IsError(ErrorKind::kUnsupported, "'p' holds blobs"));
}

// A leaf of rows of int8, under the layers above it.
LeafRows Leaf(std::vector<LayerRows> layers, const std::string& json) {
  const auto values = arrow::json::ArrayFromJSONString(arrow::int8(), json).ValueOrDie();
  return {std::move(layers), values->data()};
}

LayerRows Lists(std::vector<int32_t> offsets) {
  const auto num_slots = static_cast<int64_t>(offsets.size()) - 1;
  return {num_slots, 0, nullptr, arrow::Buffer::FromVector(std::move(offsets))};
}

TEST(LeafTest, LeavesShareTheirLayers) {
  const auto type =
      arrow::list(arrow::struct_({field("x", arrow::int8()), field("y", arrow::int8())}));
  const LayerRows items = {3, 0, nullptr, nullptr};
  const auto array =
      AssembleField(*field("f", type), {Leaf({Lists({0, 1, 3}), items}, "[1, 2, null]"),
                                        Leaf({Lists({0, 1, 3}), items}, "[4, 5, 6]")});
  ASSERT_THAT(array, IsOk());
  ASSERT_THAT((*array)->ValidateFull(), IsOk());
  const auto expected = arrow::json::ArrayFromJSONString(
                            type, R"([[{"x": 1, "y": 4}], [{"x": 2, "y": 5}, {"y": 6}]])")
                            .ValueOrDie();
  EXPECT_TRUE((*array)->Equals(*expected));
}

TEST(LeafTest, AStructIsWhereAnyOfItsLeavesIs) {
  const auto type = arrow::struct_({field("x", arrow::int8()), field("y", arrow::int8())});
  const auto nulls = [](uint8_t valid, int64_t count) {
    return LayerRows{4, count, arrow::Buffer::FromString(std::string(1, static_cast<char>(valid))),
                     nullptr};
  };
  const auto array =
      AssembleField(*field("f", type), {Leaf({nulls(0b0011, 2)}, "[1, 2, null, null]"),
                                        Leaf({nulls(0b0101, 2)}, "[5, null, 7, null]")});
  ASSERT_THAT(array, IsOk());
  const auto expected =
      arrow::json::ArrayFromJSONString(
          type, R"([{"x": 1, "y": 5}, {"x": 2, "y": null}, {"x": null, "y": 7}, null])")
          .ValueOrDie();
  EXPECT_TRUE((*array)->Equals(*expected)) << (*array)->ToString();
  EXPECT_EQ((*array)->null_count(), 1);
}

TEST(LeafTest, LeavesThatDisagreeAreCorrupt) {
  const auto type =
      arrow::struct_({field("x", arrow::int8()), field("y", arrow::list(arrow::int8()))});
  const LayerRows rows = {2, 0, nullptr, nullptr};
  const LayerRows more = {3, 0, nullptr, nullptr};
  EXPECT_THAT(AssembleField(*field("f", type),
                            {Leaf({rows}, "[1, 2]"), Leaf({more, Lists({0, 0, 0, 0})}, "[]")}),
              IsError(ErrorKind::kCorrupt, "2 slots beside 3"));
  EXPECT_THAT(AssembleField(*field("f", type),
                            {Leaf({rows}, "[1, 2, 3]"), Leaf({rows, Lists({0, 0, 1})}, "[7]")}),
              IsError(ErrorKind::kCorrupt, "2 slots beside 3"));
  EXPECT_THAT(AssembleField(*field("f", type),
                            {Leaf({rows}, "[1, 2]"), Leaf({rows, Lists({0, 0, 2})}, "[7]")}),
              IsError(ErrorKind::kCorrupt, "2 slots beside 1"));
  EXPECT_THAT(AssembleField(*field("f", type), {Leaf({rows}, "[1, 2]")}),
              IsError(ErrorKind::kInternal, "the leaves are not those"));
}

TEST(LeafTest, NoRowsOfAnyType) {
  const std::shared_ptr<arrow::DataType> types[] = {
      arrow::null(),
      arrow::boolean(),
      arrow::large_utf8(),
      arrow::decimal256(50, 1),
      arrow::fixed_size_list(arrow::boolean(), 3),
      arrow::list(arrow::utf8()),
      arrow::struct_({}),
      arrow::large_list(arrow::struct_({field("x", arrow::fixed_size_binary(3))}))};
  for (const auto& type : types) {
    const auto leaves = LeavesOf(*field("f", type)).ValueOrDie();
    ASSERT_EQ(leaves.size(), 1);
    std::vector<LeafRows> rows;
    rows.push_back(LeafBuilder(leaves[0]).Finish().ValueOrDie());
    const auto array = AssembleField(*field("f", type), std::move(rows));
    ASSERT_THAT(array, IsOk()) << type->ToString();
    EXPECT_THAT((*array)->ValidateFull(), IsOk()) << type->ToString();
    EXPECT_EQ((*array)->length(), 0);
  }
}

}  // namespace
}  // namespace glaive::encoding
