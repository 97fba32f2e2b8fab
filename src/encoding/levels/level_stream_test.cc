#include "encoding/levels/level_stream.h"

#include <memory>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "encoding/levels/level_survey.h"
#include "testing/random_values.h"

namespace glaive::encoding {
namespace {

using wire::RepDefLayer;

struct Shredded {
  LevelSurvey survey;
  LevelScheme scheme;
  std::vector<uint16_t> rep;
  std::vector<uint16_t> def;
};

std::vector<uint16_t> ToVector(const LevelBuffer& levels) {
  const auto all = levels.first(levels.size());
  return {all.begin(), all.end()};
}

Shredded Shred(const std::vector<std::shared_ptr<arrow::ArrayData>>& pieces, const LeafPath& path) {
  std::vector<Nest> nests;
  for (const auto& piece : pieces) nests.push_back(ResolveNest(*piece, path).ValueOrDie());
  Shredded shredded;
  shredded.survey = SurveyLevels(nests, path);
  shredded.scheme = MakeLevelScheme(path, shredded.survey.layers);
  Levels levels;
  LevelStream stream(nests, shredded.scheme);
  while (stream.Next(levels)) {
  }
  shredded.rep = ToVector(levels.rep);
  shredded.def = ToVector(levels.def);
  // The ranges point into nests that end here.
  shredded.survey.ranges.clear();
  return shredded;
}

LeafPath FirstLeaf(const std::shared_ptr<arrow::DataType>& type) {
  return LeavesOf(*arrow::field("c", type)).ValueOrDie().front();
}

Shredded ShredJson(const std::shared_ptr<arrow::DataType>& type, const std::string& json) {
  const auto array = arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
  return Shred({array->data()}, FirstLeaf(type));
}

TEST(LevelStreamTest, ListsOfNumbers) {
  const auto levels = ShredJson(arrow::list(arrow::int32()), "[[1, 2], null, [], [null, 4]]");
  EXPECT_EQ(levels.scheme.types,
            (std::vector{RepDefLayer::kNullableItem, RepDefLayer::kNullAndEmptyList}));
  EXPECT_EQ(levels.rep, (std::vector<uint16_t>{1, 0, 1, 1, 1, 0}));
  EXPECT_EQ(levels.def, (std::vector<uint16_t>{0, 0, 2, 3, 1, 0}));
  EXPECT_EQ(levels.scheme.max_visible_def(), 1);
  EXPECT_EQ(levels.survey.num_entries, 6u);
  EXPECT_EQ(levels.survey.num_visible, 4u);
  EXPECT_EQ(levels.survey.max_gap, 2u);
}

TEST(LevelStreamTest, TheFirstItemOfARowRepeatsTheMost) {
  const auto levels = ShredJson(arrow::list(arrow::list(arrow::int32())), "[[[1, 2], [3]], [[4]]]");
  EXPECT_EQ(levels.rep, (std::vector<uint16_t>{2, 0, 1, 2}));
  EXPECT_TRUE(levels.def.empty());
  EXPECT_TRUE(levels.survey.all_visible());
}

TEST(LevelStreamTest, AnAbsentListEndsItsEntry) {
  const auto type = arrow::list(arrow::list(arrow::int32()));
  const auto levels = ShredJson(type, "[[], [[], null, [5]], null, [[6, null]]]");
  EXPECT_EQ(levels.scheme.types,
            (std::vector{RepDefLayer::kNullableItem, RepDefLayer::kNullAndEmptyList,
                         RepDefLayer::kNullAndEmptyList}));
  EXPECT_EQ(levels.rep, (std::vector<uint16_t>{2, 2, 1, 1, 2, 2, 0}));
  EXPECT_EQ(levels.def, (std::vector<uint16_t>{5, 3, 2, 0, 4, 0, 1}));
}

TEST(LevelStreamTest, TheOutermostNullOfAStructWins) {
  const auto type = arrow::struct_({arrow::field("a", arrow::int32())});
  const auto levels = ShredJson(type, R"([{"a": 1}, null, {"a": null}])");
  EXPECT_EQ(levels.def, (std::vector<uint16_t>{0, 2, 1}));
  EXPECT_TRUE(levels.rep.empty());
  EXPECT_EQ(levels.survey.num_visible, 3u);
}

TEST(LevelStreamTest, ListsInNullStructsCountAsNullLists) {
  const auto type = arrow::struct_({arrow::field("a", arrow::list(arrow::int32()))});
  const auto levels = ShredJson(type, R"([{"a": [1, 2]}, null, {"a": [3]}])");
  EXPECT_EQ(levels.scheme.types,
            (std::vector{RepDefLayer::kAllValidItem, RepDefLayer::kNullableList,
                         RepDefLayer::kNullableItem}));
  EXPECT_EQ(levels.rep, (std::vector<uint16_t>{1, 0, 1, 1}));
  EXPECT_EQ(levels.def, (std::vector<uint16_t>{0, 0, 2, 0}));
}

TEST(LevelStreamTest, WhatIsNeverNullHasNoLevels) {
  EXPECT_TRUE(ShredJson(arrow::int32(), "[1, 2, 3]").def.empty());
  const auto lists = ShredJson(arrow::list(arrow::int32()), "[[1], [2, 3]]");
  EXPECT_TRUE(lists.def.empty());
  EXPECT_EQ(lists.scheme.types,
            (std::vector{RepDefLayer::kAllValidItem, RepDefLayer::kAllValidList}));
}

// More entries than one batch of the stream, whose borders fall anywhere.
TEST(LevelStreamTest, CuttingRowsLeavesNoTrace) {
  const auto type = arrow::list(arrow::struct_(
      {arrow::field("a", arrow::large_list(arrow::struct_({arrow::field("b", arrow::int8())})))}));
  testing::RandomValues random({.nulls = 0.15, .max_items = 9}, 4);
  const auto rows = random.Make(type, 20'000);
  const LeafPath path = FirstLeaf(type);
  const Shredded whole = Shred({rows}, path);
  EXPECT_GT(whole.rep.size(), 200'000u);
  EXPECT_EQ(whole.survey.num_entries, whole.rep.size());
  for (const int64_t step : {1, 777, 8'000}) {
    std::vector<std::shared_ptr<arrow::ArrayData>> pieces;
    for (int64_t at = 0; at < rows->length; at += step) {
      pieces.push_back(rows->Slice(at, std::min(step, rows->length - at)));
    }
    const Shredded cut = Shred(pieces, path);
    EXPECT_EQ(cut.rep, whole.rep);
    EXPECT_EQ(cut.def, whole.def);
    EXPECT_EQ(cut.survey.num_visible, whole.survey.num_visible);
    EXPECT_EQ(cut.survey.max_gap, whole.survey.max_gap);
    EXPECT_EQ(cut.survey.num_rep_runs, whole.survey.num_rep_runs);
    EXPECT_EQ(cut.survey.num_def_runs, whole.survey.num_def_runs);
  }
}

}  // namespace
}  // namespace glaive::encoding
