#include "read/field_source.h"

#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "testing/matchers.h"

namespace glaive::read {
namespace {

using glaive::testing::IsError;
using ::testing::ElementsAre;

wire::Field Leaf(int32_t id, std::string name, bool nullable = true) {
  wire::Field field;
  field.id = id;
  field.name = std::move(name);
  field.logical_type = "int64";
  field.nullable = nullable;
  return field;
}

wire::Field Parent(int32_t id, std::string name, std::string type,
                   std::vector<wire::Field> children, bool nullable = true) {
  wire::Field field = Leaf(id, std::move(name), nullable);
  field.logical_type = std::move(type);
  field.children = std::move(children);
  return field;
}

// a (0), s (1) { x (2), y (3) }, l (4): list of item (5) { p (6), q (7) }, r (8), not null
wire::Schema TestSchema() {
  return {.fields = {Leaf(0, "a"), Parent(1, "s", "struct", {Leaf(2, "x"), Leaf(3, "y")}),
                     Parent(4, "l", "list.struct",
                            {Parent(5, "item", "struct", {Leaf(6, "p"), Leaf(7, "q")})}),
                     Leaf(8, "r", /*nullable=*/false)},
          .metadata = {}};
}

wire::DataFile File(std::vector<int32_t> fields, std::vector<int32_t> columns) {
  wire::DataFile file;
  file.path = "f.lance";
  file.fields = std::move(fields);
  file.column_indices = std::move(columns);
  file.file_major_version = 2;
  file.file_minor_version = 2;
  return file;
}

wire::DataFragment FragmentOf(std::vector<wire::DataFile> files) {
  wire::DataFragment fragment;
  fragment.id = 7;
  fragment.physical_rows = 10;
  fragment.files = std::move(files);
  return fragment;
}

arrow::Result<std::vector<FieldSource>> Find(std::vector<std::string> columns,
                                             std::vector<wire::DataFile> files) {
  ARROW_ASSIGN_OR_RAISE(const auto projection,
                        Projection::Make(TestSchema(), {.columns = std::move(columns)}));
  return FindSources(*projection, FragmentOf(std::move(files)));
}

TEST(FieldSourceTest, ColumnsAreFoundInAnyOrderAndFile) {
  const auto sources =
      Find({"a", "s", "l"}, {File({7, 3, 0}, {2, 0, 1}), File({2, 6}, {0, 1})}).ValueOrDie();
  ASSERT_EQ(sources.size(), 3);
  EXPECT_THAT(sources[0].columns, ElementsAre(StoredColumn{0, 1}));
  EXPECT_THAT(sources[1].columns, ElementsAre(StoredColumn{1, 0}, StoredColumn{0, 0}));
  EXPECT_THAT(sources[2].columns, ElementsAre(StoredColumn{1, 1}, StoredColumn{0, 2}));
}

TEST(FieldSourceTest, TombstonesAndForeignIdsAreNotSources) {
  // -2: the column is dead and its values lie in the second file; 99: a dropped column's id; a
  // parent that old writers listed, with column -1.
  const auto sources =
      Find({"a", "s"}, {File({-2, 99, 1, 2, 3}, {0, 1, -1, 2, 3}), File({0}, {5})}).ValueOrDie();
  EXPECT_THAT(sources[0].columns, ElementsAre(StoredColumn{1, 5}));
  EXPECT_THAT(sources[1].columns, ElementsAre(StoredColumn{0, 2}, StoredColumn{0, 3}));
}

TEST(FieldSourceTest, AFieldThatNoFileHasIsNull) {
  const auto sources = Find({"a", "s"}, {File({3}, {0})}).ValueOrDie();
  EXPECT_EQ(sources[0].stored, nullptr);
  EXPECT_TRUE(sources[0].columns.empty());
  ASSERT_NE(sources[1].stored, nullptr);
  EXPECT_EQ(sources[1].stored->ToString(), "s: struct<y: int64>");
  EXPECT_THAT(sources[1].columns, ElementsAre(StoredColumn{0, 0}));
}

TEST(FieldSourceTest, AFieldThatCannotBeNullNeedsAFile) {
  EXPECT_THAT(Find({"r"}, {File({0}, {0})}),
              IsError(ErrorKind::kCorrupt, "fragment 7 has no values for field 8 ('r')"));
  EXPECT_THAT(Find({"r"}, {}), IsError(ErrorKind::kCorrupt, "field 8"));
}

TEST(FieldSourceTest, ListsOfFieldsAndColumnsMustMatch) {
  EXPECT_THAT(Find({"a"}, {File({0, 2}, {0})}),
              IsError(ErrorKind::kCorrupt, "lists 2 fields and 1 columns"));
}

TEST(FieldSourceTest, MissingChildrenAreFilledWithNulls) {
  const auto stored = arrow::struct_({arrow::field("y", arrow::int64())});
  const auto array = arrow::json::ArrayFromJSONString(arrow::list(stored),
                                                      R"([[{"y": 1}], null, [], [{"y": 2}, null]])")
                         .ValueOrDie();
  const auto whole = arrow::list(
      arrow::struct_({arrow::field("x", arrow::utf8()), arrow::field("y", arrow::int64()),
                      arrow::field("z", arrow::list(arrow::int8()))}));
  const auto filled = AddMissing(array, *arrow::field("l", whole)).ValueOrDie();
  const auto expected =
      arrow::json::ArrayFromJSONString(whole, R"([[{"x": null, "y": 1, "z": null}], null, [],
                     [{"x": null, "y": 2, "z": null}, null]])")
          .ValueOrDie();
  ASSERT_TRUE(filled->ValidateFull().ok());
  EXPECT_TRUE(filled->Equals(expected)) << filled->ToString();
}

}  // namespace
}  // namespace glaive::read
