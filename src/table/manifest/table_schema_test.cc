#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>

#include "table/manifest/table_schema.h"
#include "testing/matchers.h"

namespace glaive {
namespace {

using testing::IsError;

std::shared_ptr<arrow::Schema> Nested() {
  const auto inner = arrow::struct_(
      {arrow::field("x", arrow::int32()), arrow::field("ys", arrow::list(arrow::utf8()), false)});
  return arrow::schema({arrow::field("id", arrow::int64(), false), arrow::field("s", inner)},
                       arrow::key_value_metadata({"k"}, {"v"}));
}

TEST(TableSchema, GivesIdsInPreOrder) {
  const auto schema = TableSchema::FromArrow(*Nested()).ValueOrDie();
  const auto fields = schema.fields();
  ASSERT_EQ(fields.size(), 2u);
  EXPECT_EQ(fields[1].id, 1);
  EXPECT_EQ(fields[1].children[1].id, 3);
  EXPECT_EQ(fields[1].children[1].children[0].id, 4);
  EXPECT_TRUE(schema.arrow_schema()->Equals(*Nested(), true));
}

TEST(TableSchema, TravelsAsBytes) {
  wire::Schema fields = wire::FromArrow(*Nested(), 7).ValueOrDie();
  const auto schema = table::MakeTableSchema(std::move(fields)).ValueOrDie();
  const auto again = TableSchema::Parse(schema.Serialize()).ValueOrDie();
  EXPECT_EQ(again, schema);
  EXPECT_EQ(again.fields()[0].id, 7);
  EXPECT_TRUE(again.arrow_schema()->Equals(*Nested(), true));
  EXPECT_FALSE(again == TableSchema::FromArrow(*Nested()).ValueOrDie());
}

TEST(TableSchema, RefusesOtherBytes) {
  EXPECT_THAT(TableSchema::Parse("\x08\x01"), IsError(ErrorKind::kCorrupt, "not one of a schema"));
  EXPECT_THAT(TableSchema::Parse("\x0a\x05"), IsError(ErrorKind::kCorrupt, ""));
}

}  // namespace
}  // namespace glaive
