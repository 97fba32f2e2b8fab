#include "encoding/structural/page/levels.h"

#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "testing/matchers.h"

namespace glaive::encoding {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;
using wire::RepDefLayer;
using Type = std::shared_ptr<arrow::DataType>;

constexpr Location kPage = {"data/a.lance", 64};

struct PageOfLevels {
  std::vector<RepDefLayer> layers;
  std::vector<uint16_t> repetition;  // empty: none
  std::vector<uint16_t> definition;
};

LeafPath OnlyLeaf(const Type& type) { return LeavesOf(*arrow::field("c", type)).ValueOrDie()[0]; }

// Appends pages to one leaf of int8, in pieces of `piece` entries; slots get the values 0, 1, 2,
// ...
arrow::Result<std::shared_ptr<arrow::Array>> Unravel(const Type& type,
                                                     const std::vector<PageOfLevels>& pages,
                                                     size_t piece) {
  const LeafPath path = OnlyLeaf(type);
  LeafBuilder builder(path);
  LeafBuilder::State& leaf = builder.state();
  for (PageOfLevels page : pages) {
    ARROW_ASSIGN_OR_RAISE(const auto levels, PageLevels::Validate(page.layers, path, kPage));
    const size_t size = std::max(page.repetition.size(), page.definition.size());
    for (size_t at = 0; at < size; at += piece) {
      const LevelSpan span = {
          .repetition = page.repetition.empty() ? nullptr : page.repetition.data() + at,
          .definition = page.definition.empty() ? nullptr : page.definition.data() + at,
          .size = std::min(piece, size - at)};
      for (size_t i = levels.CountVisible(span); i > 0; --i) {
        const auto value = static_cast<std::byte>(leaf.values.num_slots());
        ARROW_RETURN_NOT_OK(leaf.values.AppendFixed(&value, 1));
      }
      ARROW_RETURN_NOT_OK(levels.Unravel(span, leaf, kPage));
    }
  }
  std::vector<LeafRows> leaves;
  ARROW_ASSIGN_OR_RAISE(leaves.emplace_back(), std::move(builder).Finish());
  ARROW_ASSIGN_OR_RAISE(auto array, AssembleField(*arrow::field("c", type), std::move(leaves)));
  ARROW_RETURN_NOT_OK(array->ValidateFull());
  return array;
}

void ExpectUnravels(const Type& type, const std::vector<PageOfLevels>& pages,
                    const std::string& json) {
  const auto expected = arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
  for (const size_t piece : {1, 2, 3, 1000}) {
    const auto array = Unravel(type, pages, piece);
    ASSERT_THAT(array, IsOk());
    EXPECT_TRUE((*array)->Equals(*expected)) << (*array)->ToString();
  }
}

TEST(PageLevelsTest, NullAndEmptyLists) {
  const PageOfLevels page = {{RepDefLayer::kNullableItem, RepDefLayer::kNullAndEmptyList},
                             {1, 0, 1, 1, 1, 0},
                             {0, 0, 2, 3, 1, 0}};
  ExpectUnravels(arrow::list(arrow::int8()), {page}, "[[0, 1], null, [], [null, 3]]");
  ExpectUnravels(arrow::large_list(arrow::int8()), {page, page},
                 "[[0, 1], null, [], [null, 3], [4, 5], null, [], [null, 7]]");
}

TEST(PageLevelsTest, ListsOfLists) {
  ExpectUnravels(
      arrow::list(arrow::list(arrow::int8())),
      {{{RepDefLayer::kAllValidItem, RepDefLayer::kAllValidList, RepDefLayer::kAllValidList},
        {2, 0, 1, 2},
        {}},
       {{RepDefLayer::kNullableItem, RepDefLayer::kEmptyableList, RepDefLayer::kNullableList},
        {2, 1, 1, 2, 2},
        {0, 2, 1, 3, 2}}},
      "[[[0, 1], [2]], [[3]], [[4], [], [null]], null, [[]]]");
}

TEST(PageLevelsTest, NullStructsAroundAndInsideLists) {
  const Type inside = arrow::struct_({arrow::field("x", arrow::int8())});
  const Type type = arrow::struct_({arrow::field("l", arrow::list(inside))});
  ExpectUnravels(type,
                 {{{RepDefLayer::kNullableItem, RepDefLayer::kNullableItem,
                    RepDefLayer::kNullAndEmptyList, RepDefLayer::kNullableItem},
                   {1, 0, 0, 1, 1, 1},
                   {0, 2, 1, 5, 3, 4}}},
                 R"([{"l": [{"x": 0}, null, {"x": null}]}, null, {"l": null}, {"l": []}])");
}

// A struct above a list, with nulls in one page and none in the next: the second page has as many
// valid structs as rows, not as values.
TEST(PageLevelsTest, AllValidLayersCountTheirOwnSlots) {
  const Type type = arrow::struct_({arrow::field("l", arrow::list(arrow::int8()))});
  ExpectUnravels(
      type,
      {{{RepDefLayer::kAllValidItem, RepDefLayer::kAllValidList, RepDefLayer::kNullableItem},
        {1, 0, 1},
        {0, 0, 1}},
       {{RepDefLayer::kAllValidItem, RepDefLayer::kAllValidList, RepDefLayer::kAllValidItem},
        {1, 0, 0, 0, 1},
        {}},
       {{RepDefLayer::kNullableItem, RepDefLayer::kEmptyableList, RepDefLayer::kAllValidItem},
        {1, 1, 0},
        {2, 0, 1}}},
      R"([{"l": [0, 1]}, null, {"l": [2, 3, 4, 5]}, {"l": [6]}, {"l": []}, {"l": [7, null]}])");
}

TEST(PageLevelsTest, LongListsAndBatches) {
  PageOfLevels page = {{RepDefLayer::kAllValidItem, RepDefLayer::kAllValidList}, {}, {}};
  std::string json = "[";
  int value = 0;
  for (int row = 0; row < 40; ++row) {
    json += row == 0 ? "[" : ",[";
    for (int i = 0; i < 1 + row * 7 % 90; ++i, ++value) {
      page.repetition.push_back(i == 0 ? 1 : 0);
      json += (i == 0 ? "" : ",") + std::to_string(static_cast<int8_t>(value));
    }
    json += "]";
  }
  ASSERT_GT(page.repetition.size(), 1024u);
  ExpectUnravels(arrow::list(arrow::int8()), {page}, json + "]");
}

TEST(PageLevelsTest, LayersMustBeThoseOfTheColumn) {
  const LeafPath list = OnlyLeaf(arrow::list(arrow::int8()));
  const auto validate = [&](std::vector<RepDefLayer> layers) {
    return PageLevels::Validate(layers, list, kPage).status();
  };
  EXPECT_THAT(validate({RepDefLayer::kNullableItem}),
              IsError(ErrorKind::kCorrupt, "1 layers; its column has 2"));
  EXPECT_THAT(validate({RepDefLayer::kAllValidList, RepDefLayer::kAllValidItem}),
              IsError(ErrorKind::kCorrupt, "layer 0 from the leaf is of kind 2; an item"));
  EXPECT_THAT(validate({RepDefLayer::kAllValidItem, RepDefLayer::kUnspecified}),
              IsError(ErrorKind::kCorrupt, "of kind 0; a list"));
  EXPECT_THAT(validate({static_cast<RepDefLayer>(7), RepDefLayer::kAllValidList}),
              IsError(ErrorKind::kCorrupt, "of kind 7"));
}

// Whatever the levels say, there is an array that fits together, or Corrupt.
TEST(PageLevelsTest, ImpossibleLevelsAreRefused) {
  const Type lists = arrow::list(arrow::list(arrow::int8()));
  // Goes on with a list that is null.
  EXPECT_THAT(
      Unravel(
          lists,
          {{{RepDefLayer::kAllValidItem, RepDefLayer::kAllValidList, RepDefLayer::kNullableList},
            {2, 1},
            {0, 1}}},
          10),
      IsError(ErrorKind::kCorrupt, "the lists of layer 2 hold 2 slots, of which 1"));
  EXPECT_THAT(
      Unravel(
          lists,
          {{{RepDefLayer::kAllValidItem, RepDefLayer::kNullableList, RepDefLayer::kAllValidList},
            {2, 0},
            {0, 1}}},
          10),
      IsError(ErrorKind::kCorrupt, "the lists of layer 1"));
}

}  // namespace
}  // namespace glaive::encoding
