#include "read/projection.h"

#include <string>
#include <vector>

#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "testing/matchers.h"

namespace glaive::read {
namespace {

using glaive::testing::IsError;
using ::testing::ElementsAre;

// a: int64, s: struct { x: int32 not null, b: struct { y: utf8, z: double } }, "odd name": bool
wire::Schema TestSchema() {
  const auto b =
      arrow::struct_({arrow::field("y", arrow::utf8()), arrow::field("z", arrow::float64())});
  const auto s = arrow::struct_({arrow::field("x", arrow::int32(), false), arrow::field("b", b)});
  return wire::FromArrow(
             arrow::Schema({arrow::field("a", arrow::int64(), false), arrow::field("s", s),
                            arrow::field("odd name", arrow::boolean())}))
      .ValueOrDie();
}

std::string SchemaOf(std::vector<std::string> columns, NestedPaths nested = NestedPaths::kFlat) {
  const auto projection =
      Projection::Make(TestSchema(), {.columns = std::move(columns), .nested = nested});
  return projection.ok() ? (*projection)->schema->ToString() : projection.status().ToString();
}

TEST(ProjectionTest, ColumnsComeInTheOrderAsked) {
  EXPECT_EQ(SchemaOf({"odd name", "a"}), "odd name: bool\na: int64 not null");
  EXPECT_EQ(SchemaOf({"_rowaddr", "a", "_rowoffset"}),
            "_rowaddr: uint64\na: int64 not null\n_rowoffset: uint64");
}

TEST(ProjectionTest, PathsAreColumnsOfTheirOwn) {
  // Null where the struct is, so nullable whatever the field says.
  EXPECT_EQ(SchemaOf({"s.b.z", "a", "s.x"}), "s.b.z: double\na: int64 not null\ns.x: int32");
  const auto projection =
      Projection::Make(TestSchema(), {.columns = std::vector<std::string>{"s.b.z", "s.x"}})
          .ValueOrDie();
  ASSERT_EQ(projection->fields.size(), 1);  // s is read once
  EXPECT_EQ(projection->fields[0].arrow->ToString(),
            "s: struct<x: int32 not null, b: struct<z: double>>");
  EXPECT_THAT(projection->outputs[0].path, ElementsAre(1, 0));
  EXPECT_THAT(projection->outputs[1].path, ElementsAre(0));
  EXPECT_EQ(projection->fields[0].leaf_ids.size(), 2);
}

TEST(ProjectionTest, OrArePrunedStructs) {
  EXPECT_EQ(SchemaOf({"s.b.z", "a", "s.x"}, NestedPaths::kPruned),
            "s: struct<x: int32 not null, b: struct<z: double>>\na: int64 not null");
}

TEST(ProjectionTest, RowIdsThatAreAskedForTwiceStandAtTheEnd) {
  const auto projection =
      Projection::Make(TestSchema(), {.columns = std::vector<std::string>{"_rowid", "a"},
                                      .with_row_id = true,
                                      .with_row_address = true})
          .ValueOrDie();
  EXPECT_THAT(projection->schema->field_names(), ElementsAre("a", "_rowid", "_rowaddr"));
}

TEST(ProjectionTest, QuotesKeepNamesTogether) {
  EXPECT_EQ(SchemaOf({"`s`.`b`.y"}), "`s`.`b`.y: string");
  EXPECT_THAT(SchemaOf({"`s.x"}), ::testing::HasSubstr("opens a quote"));
}

TEST(ProjectionTest, UnknownAndRepeatedColumnsAreNamed) {
  const auto make = [](std::vector<std::string> columns) {
    return Projection::Make(TestSchema(), {.columns = std::move(columns)});
  };
  EXPECT_THAT(make({"nope"}), IsError(ErrorKind::kInvalidInput, "nope"));
  EXPECT_THAT(make({"a.nope"}), IsError(ErrorKind::kInvalidInput, "a.nope"));
  EXPECT_THAT(make({"s.nope"}), IsError(ErrorKind::kInvalidInput, "s.nope"));
  EXPECT_THAT(make({"A"}), IsError(ErrorKind::kInvalidInput, "A"));
  EXPECT_THAT(make({"a", "a"}), IsError(ErrorKind::kInvalidInput, "Duplicate column name: a"));
}

}  // namespace
}  // namespace glaive::read
