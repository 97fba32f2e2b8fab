#include <string>
#include <vector>

#include <arrow/api.h>
#include <arrow/json/from_string.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "glaive/rows.h"
#include "glaive/staged_columns.h"
#include "testing/column_table.h"
#include "testing/faulty_store.h"
#include "testing/matchers.h"

namespace glaive {
namespace {

using namespace glaive::testing;  // the small table and its columns
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::shared_ptr<arrow::RecordBatchReader> Json(const std::shared_ptr<arrow::Schema>& schema,
                                               const std::vector<std::string>& columns) {
  arrow::ArrayVector arrays;
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto& type = schema->field(static_cast<int>(i))->type();
    arrays.push_back(arrow::json::ArrayFromJSONString(type, columns[i]).ValueOrDie());
  }
  const auto batch = arrow::RecordBatch::Make(schema, arrays[0]->length(), arrays);
  return arrow::RecordBatchReader::Make({batch}, schema).ValueOrDie();
}

TEST(StageColumnsTest, AValueThatTravels) {
  const Dataset dataset = MakeColumnTable();
  const auto staged = Stage(dataset, 1, {{"y", {7, 8, 9}}}).ValueOrDie();
  EXPECT_EQ(staged.fragment_id(), 1);
  EXPECT_EQ(staged.read_version(), 1);
  EXPECT_EQ(staged.physical_rows(), 3);
  EXPECT_EQ(staged.schema().ValueOrDie().fields().front().id, 3);
  const std::string json = staged.ToJson();
  EXPECT_LT(json.size(), 1200);
  const auto again = StagedColumns::FromJson(json);
  ASSERT_THAT(again.status(), IsOk());
  EXPECT_TRUE(*again == staged);
  EXPECT_EQ(again->ToJson(), json);
}

TEST(StageColumnsTest, WhatIsReplacedAndReadTravelsToo) {
  const Dataset dataset = MakeColumnTable();
  const auto staged =
      Stage(dataset, 1, {{"v", {7, 8, 9}}}, true, {.reads = {"w", "id"}}).ValueOrDie();
  const auto again = StagedColumns::FromJson(staged.ToJson());
  ASSERT_THAT(again.status(), IsOk());
  EXPECT_TRUE(*again == staged);
  EXPECT_THAT(staged.ToJson(), HasSubstr(R"("read_fields":[0,2])"));
}

// Whatever is cut out or changed, an error says so, or the value is another.
TEST(StageColumnsTest, DamagedJsonIsRefused) {
  const Dataset dataset = MakeColumnTable();
  const auto staged = Stage(dataset, 1, {{"v", {7, 8, 9}}}).ValueOrDie();
  const std::string json = staged.ToJson();
  for (size_t length = 0; length < json.size(); ++length) {
    EXPECT_THAT(StagedColumns::FromJson(json.substr(0, length)).status(),
                IsError(ErrorKind::kInvalidInput, "staged columns"));
  }
  for (size_t i = 0; i < json.size(); ++i) {
    std::string changed = json;
    changed[i] ^= 0x11;
    const auto parsed = StagedColumns::FromJson(changed);
    EXPECT_FALSE(parsed.ok() && *parsed == staged) << i;
  }
}

TEST(StageColumnsTest, NewColumnsHaveIdsBehindTheOthers) {
  const Dataset dataset = MakeColumnTable();
  const auto kStruct = arrow::struct_({arrow::field("x", arrow::int32())});
  const auto schema =
      NewColumnSchema(
          dataset, *arrow::schema({arrow::field("s", kStruct), arrow::field("y", arrow::utf8())}))
          .ValueOrDie();
  const auto fields = schema.fields();
  ASSERT_THAT(fields, SizeIs(2));
  EXPECT_EQ(fields[0].id, 3);
  EXPECT_EQ(fields[0].children.front().id, 4);
  EXPECT_EQ(fields[1].id, 5);
  const auto refused = [&](const char* name) {
    return NewColumnSchema(dataset, *arrow::schema({arrow::field(name, arrow::int32())})).status();
  };
  EXPECT_THAT(refused("v"), IsError(ErrorKind::kInvalidInput, "v"));
  EXPECT_THAT(refused("_rowid"), IsError(ErrorKind::kInvalidInput, "_rowid"));
  EXPECT_THAT(ColumnSchema(dataset, *arrow::schema({arrow::field("n", arrow::int32())})).status(),
              IsError(ErrorKind::kInvalidInput, "n"));
  EXPECT_THAT(ColumnSchema(dataset, *arrow::schema({arrow::field("v", arrow::int64())})).status(),
              IsError(ErrorKind::kInvalidInput, "int64"));
}

TEST(StageColumnsTest, OtherNumbersOfRowsAreRefused) {
  const Dataset dataset = MakeColumnTable();
  const size_t before = NumDataFiles();
  EXPECT_THAT(Stage(dataset, 0, {{"y", {1}}}).status(),
              IsError(ErrorKind::kInvalidInput, "1 rows of a fragment that has 3"));
  EXPECT_THAT(Stage(dataset, 0, {{"y", {1, 2, 3, 4}}}).status(),
              IsError(ErrorKind::kInvalidInput, "4 rows, more than the 3"));
  EXPECT_THAT(Stage(dataset, 0, {{"y", Values()}}).status(),
              IsError(ErrorKind::kInvalidInput, "0 rows of a fragment that has 3"));
  EXPECT_THAT(Stage(dataset, 7, {{"y", {1, 2, 3}}}).status(),
              IsError(ErrorKind::kInvalidInput, "fragment 7"));
  EXPECT_EQ(NumDataFiles(), before);
}

TEST(StageColumnsTest, ValuesAreThoseOfTheSchema) {
  const Dataset dataset = MakeColumnTable();
  const size_t before = NumDataFiles();
  const auto schema = NewColumnSchema(dataset, *arrow::schema({arrow::field("y", arrow::int32()),
                                                               arrow::field("z", arrow::int32())}))
                          .ValueOrDie();
  const auto stage = [&](const std::shared_ptr<arrow::DataType>& type, const char* name,
                         const char* json) {
    return StageColumns(dataset, 0, Json(arrow::schema({arrow::field(name, type)}), {json}), schema)
        .status();
  };
  EXPECT_THAT(stage(arrow::float32(), "y", "[1, 2, 3]"),
              IsError(ErrorKind::kInvalidInput, "float"));
  EXPECT_THAT(stage(arrow::int32(), "other", "[1, 2, 3]"),
              IsError(ErrorKind::kInvalidInput, "'other'"));
  EXPECT_EQ(NumDataFiles(), before);
  EXPECT_THAT(stage(arrow::int32(), "z", "[1, 2, 3]"), IsOk());
  // Ids that another handle gave to something else meanwhile.
  const auto taken = CommitAll(dataset, {Stage(dataset, 0, {{"n", {1, 2, 3}}}).ValueOrDie()});
  ASSERT_THAT(taken.status(), IsOk());
  EXPECT_THAT(StageColumns(*taken, 0, ColumnStream({{"y", {1, 2, 3}}}), schema).status(),
              IsError(ErrorKind::kInvalidInput, "field 3 is 'n'"));
}

TEST(StageColumnsTest, RequiredColumnsHaveNoNulls) {
  const Dataset dataset = MakeColumnTable();
  const auto arrow_schema = arrow::schema({arrow::field("y", arrow::int32(), false)});
  const auto schema = NewColumnSchema(dataset, *arrow_schema).ValueOrDie();
  EXPECT_THAT(
      StageColumns(dataset, 0, ColumnStream({{"y", {1, std::nullopt, 3}}}), schema).status(),
      IsError(ErrorKind::kInvalidInput, "null"));
}

TEST(StageColumnsTest, DeletedRowsCountUnlessLeftOut) {
  const Dataset dataset = Delete(MakeColumnTable(), Predicate::Sql("id = 1")).ValueOrDie().dataset;
  EXPECT_THAT(Stage(dataset, 0, {{"y", {1, 3}}}).status(), IsError(ErrorKind::kInvalidInput, "3"));
  EXPECT_THAT(Stage(dataset, 0, {{"y", {1, 2, 3}}}, true, {.live_rows_only = true}).status(),
              IsError(ErrorKind::kInvalidInput, "3 rows, more than the 2"));
  EXPECT_THAT(Stage(dataset, 0, {{"y", {1}}}, true, {.live_rows_only = true}).status(),
              IsError(ErrorKind::kInvalidInput, "1 rows of a fragment that has 2 live ones"));
  const std::vector<StagedColumns> staged = {
      Stage(dataset, 0, {{"y", {1, 3}}}, true, {.live_rows_only = true}).ValueOrDie(),
      Stage(dataset, 1, {{"y", {4, 5, 6}}}, true, {.live_rows_only = true}).ValueOrDie()};
  ASSERT_THAT(CommitAll(dataset, staged).status(), IsOk());
  EXPECT_THAT(ReadColumn("y"), ElementsAre(1, 3, 4, 5, 6));
}

TEST(StageColumnsTest, DeletedRowsOfAnyTypeTakeNoRoom) {
  const Dataset dataset =
      Delete(MakeColumnTable(), Predicate::Sql("id < 2 OR id = 5")).ValueOrDie().dataset;
  const auto kStruct = arrow::struct_({arrow::field("x", arrow::int32(), false)});
  const arrow::FieldVector fields = {
      arrow::field("text", arrow::utf8(), false),
      arrow::field("list", arrow::list(arrow::int32()), false),
      arrow::field("vector", arrow::fixed_size_list(arrow::float32(), 2), false),
      arrow::field("struct", kStruct, false), arrow::field("null", kStruct)};
  const auto stage = [&](uint64_t id, const std::vector<std::string>& rows) {
    const auto schema = NewColumnSchema(dataset, arrow::Schema(fields)).ValueOrDie();
    return StageColumns(dataset, id, Json(arrow::schema(fields), rows), schema,
                        {.live_rows_only = true});
  };
  const auto first = stage(0, {R"(["a"])", "[[1]]", "[[1, 2]]", R"([{"x": 1}])", "[null]"});
  ASSERT_THAT(first.status(), IsOk());
  const auto second = stage(1, {R"(["b", "c"])", "[[], [2]]", "[[3, 4], [5, 6]]",
                                R"([{"x": 2}, {"x": 3}])", R"([{"x": 4}, null])"});
  ASSERT_THAT(second.status(), IsOk());
  const auto made = CommitAll(dataset, {*first, *second});
  ASSERT_THAT(made.status(), IsOk());
  const auto table =
      ToReader(Scan(*made, {.columns = {{"text", "list", "struct", "null"}}}).ValueOrDie())
          ->ToTable()
          .ValueOrDie();
  EXPECT_EQ(table->num_rows(), 3);
  EXPECT_EQ(table->GetColumnByName("text")->ToString().find("null"), std::string::npos);
  EXPECT_EQ(table->GetColumnByName("null")->null_count(), 2);
}

TEST(StageColumnsTest, OfManyFragmentsAllOrNone) {
  const Dataset dataset = MakeColumnTable();
  const size_t before = NumDataFiles();
  const auto schema =
      NewColumnSchema(dataset, *arrow::schema({arrow::field("y", arrow::int32())})).ValueOrDie();
  std::vector<FragmentColumns> columns = {{0, ColumnStream({{"y", {1, 2, 3}}}), schema},
                                          {1, ColumnStream({{"y", {4, 5}}}), schema}};
  EXPECT_THAT(StageColumns(dataset, columns).status(),
              IsError(ErrorKind::kInvalidInput, "columns of fragment 1"));
  EXPECT_EQ(NumDataFiles(), before);
  columns = {{0, ColumnStream({{"y", {1, 2, 3}}}), schema},
             {1, ColumnStream({{"y", {4, 5, 6}}}), schema}};
  const auto staged = StageColumns(dataset, columns);
  ASSERT_THAT(staged.status(), IsOk());
  EXPECT_THAT(*staged, SizeIs(2));
  EXPECT_THAT(StageColumns(dataset, std::vector<FragmentColumns>()).ValueOrDie(), IsEmpty());
}

// Wherever the store fails, no file is left that nobody knows of.
TEST(StageColumnsTest, AStoreThatFailsLeavesNoFile) {
  const auto store = std::make_shared<FaultyStore>(io::MemoryStore());
  io::RegisterStore("faulty", store);
  const std::string uri = "faulty://stage_columns_test/table";
  const Dataset dataset = WriteDataset(ColumnStream({{"id", {0, 1, 2}}}), uri).ValueOrDie().dataset;
  const auto place = io::Resolve(uri).ValueOrDie();
  for (uint64_t call = 0;; ++call) {
    store->FailAt(call);
    const auto staged = Stage(dataset, 0, {{"y", {1, 2, 3}}});
    const bool failed = store->has_failed();
    store->Disarm();
    const size_t files = store->ListRecursive(place.path + "/data").ValueOrDie().size();
    EXPECT_EQ(files, staged.ok() ? 2 : 1) << call;
    if (!failed) break;
    EXPECT_THAT(staged.status(), IsError(ErrorKind::kIO, ""));
  }
  io::RegisterStore("faulty", nullptr);
}

}  // namespace
}  // namespace glaive
