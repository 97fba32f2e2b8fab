#include "glaive/columns.h"
#include "glaive/history.h"
#include "glaive/rows.h"
#include "glaive/schema.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>
#include <arrow/json/from_string.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "glaive/scan.h"
#include "io/object_store.h"
#include "testing/matchers.h"

namespace glaive {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Batch = std::shared_ptr<arrow::RecordBatch>;

std::string Uri() {
  return std::string("memory://columns_test/") +
         ::testing::UnitTest::GetInstance()->current_test_info()->name();
}

size_t NumFiles() {
  const auto place = io::Resolve(Uri()).ValueOrDie();
  return place.store->ListRecursive(place.path + "/data").ValueOrDie().size();
}

std::shared_ptr<arrow::Array> Json(const std::shared_ptr<arrow::DataType>& type,
                                   const std::string& json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

std::shared_ptr<arrow::RecordBatchReader> Stream(const arrow::FieldVector& fields,
                                                 const arrow::ArrayVector& columns,
                                                 int64_t rows_per_batch = 2) {
  const auto batch = arrow::RecordBatch::Make(arrow::schema(fields), columns[0]->length(), columns);
  arrow::RecordBatchVector batches;
  for (int64_t row = 0; row < batch->num_rows(); row += rows_per_batch) {
    batches.push_back(batch->Slice(row, rows_per_batch));
  }
  return arrow::RecordBatchReader::Make(batches, batch->schema()).ValueOrDie();
}

const auto kList = arrow::list(arrow::int32());

// Rows 0 to 9 in two fragments; 0, 1 and 9 are deleted.
Dataset Make(bool stable_row_ids = false) {
  const auto rows = Stream({arrow::field("a", arrow::int64()), arrow::field("l", kList)},
                           {Json(arrow::int64(), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"),
                            Json(kList, "[[0], [1], [2], [3], [4], [5], [6], [7], [8], [9]]")});
  const auto written =
      WriteDataset(rows, Uri(),
                   {.limits = {.max_rows_per_file = 5}, .enable_stable_row_ids = stable_row_ids})
          .ValueOrDie();
  return Delete(written.dataset, Predicate::Sql("a < 2 OR a = 9")).ValueOrDie().dataset;
}

std::shared_ptr<arrow::Array> Column(const Dataset& dataset, const std::string& name) {
  const auto table =
      ToReader(Scan(dataset, {.columns = {{name}}}).ValueOrDie())->ToTable().ValueOrDie();
  if (table->num_rows() == 0) return nullptr;
  return table->CombineChunksToBatch().ValueOrDie()->column(0);
}

void ExpectColumn(const Dataset& dataset, const std::string& name, const std::string& json) {
  const auto found = Column(dataset, name);
  const auto expected = Json(found->type(), json);
  EXPECT_TRUE(found->Equals(*expected)) << found->ToString();
}

TEST(AddColumnsTest, ValuesOfAStreamGoToLiveRows) {
  const auto fields = arrow::FieldVector{arrow::field("x", arrow::utf8(), /*nullable=*/false)};
  const auto values = Json(arrow::utf8(), R"(["c", "d", "e", "f", "g", "h", "i"])");
  for (const int64_t rows_per_batch : {1, 3, 7}) {
    const auto after = AddColumns(Make(), Stream(fields, {values}, rows_per_batch)).ValueOrDie();
    ExpectColumn(after, "x", R"(["c", "d", "e", "f", "g", "h", "i"])");
    EXPECT_FALSE(after.schema()->GetFieldByName("x")->nullable());
    EXPECT_THAT(ValidateFragment(after, 0), IsOk());
    const auto place = io::Resolve(Uri()).ValueOrDie();
    for (const auto& object : place.store->ListRecursive(place.path).ValueOrDie()) {
      ASSERT_THAT(place.store->Delete(object.path), IsOk());
    }
  }
}

TEST(AddColumnsTest, AStreamOfAnotherLengthLeavesNothing) {
  const Dataset dataset = Make();
  const size_t before = NumFiles();
  const auto add = [&](const std::string& json) {
    return AddColumns(dataset,
                      Stream({arrow::field("x", arrow::int8())}, {Json(arrow::int8(), json)}));
  };
  EXPECT_THAT(add("[1, 2, 3, 4, 5, 6]"), IsError(ErrorKind::kInvalidInput, "ended before"));
  EXPECT_THAT(add("[1, 2, 3, 4, 5, 6, 7, 8]"), IsError(ErrorKind::kInvalidInput, "more values"));
  EXPECT_EQ(NumFiles(), before);
  EXPECT_EQ(LatestVersion(dataset).ValueOrDie(), dataset.version());
}

TEST(AddColumnsTest, NullsWriteNoFile) {
  const Dataset dataset = Make();
  const size_t before = NumFiles();
  const auto after = AddColumns(dataset, NullColumns{arrow::schema({arrow::field("n", kList)})});
  ASSERT_THAT(after, IsOk());
  EXPECT_EQ(NumFiles(), before);
  EXPECT_EQ(Column(*after, "n")->null_count(), 7);
  const auto required = arrow::schema({arrow::field("r", arrow::int8(), false)});
  EXPECT_THAT(AddColumns(dataset, NullColumns{required}),
              IsError(ErrorKind::kInvalidInput, "must be nullable"));
}

// Doubles `a`, and fails when it is called for the `fail_at`th time.
ColumnFunction Doubling(int fail_at, int* calls) {
  return {.compute = [=](const Batch& batch) -> arrow::Result<Batch> {
            if (++*calls == fail_at) return arrow::Status::UnknownError("broke off");
            arrow::Int64Builder doubled;
            const auto& a = static_cast<const arrow::Int64Array&>(*batch->GetColumnByName("a"));
            for (int64_t i = 0; i < a.length(); ++i) {
              ARROW_RETURN_NOT_OK(doubled.Append(a.Value(i) * 2));
            }
            ARROW_ASSIGN_OR_RAISE(auto column, doubled.Finish());
            return arrow::RecordBatch::Make(arrow::schema({arrow::field("d", arrow::int64())}),
                                            batch->num_rows(), {std::move(column)});
          },
          .schema = arrow::schema({arrow::field("d", arrow::int64())}),
          .inputs = {{"a"}},
          .batch_rows = 2};
}

TEST(AddColumnsTest, AFunctionGoesOnWhereItBrokeOff) {
  std::map<std::pair<uint64_t, uint64_t>, Batch> batches;
  std::map<uint64_t, FragmentMetadata> fragments;
  ColumnCheckpoint checkpoint{
      .find_batch = [&](uint64_t fragment, uint64_t index) -> arrow::Result<Batch> {
        const auto found = batches.find({fragment, index});
        return found == batches.end() ? nullptr : found->second;
      },
      .keep_batch =
          [&](uint64_t fragment, uint64_t index, const Batch& batch) {
            batches[{fragment, index}] = batch;
            return arrow::Status::OK();
          },
      .find_fragment = [&](uint64_t id) -> arrow::Result<std::optional<FragmentMetadata>> {
        const auto found = fragments.find(id);
        if (found == fragments.end()) return std::nullopt;
        return found->second;
      },
      .keep_fragment =
          [&](const FragmentMetadata& fragment) {
            fragments.emplace(fragment.id(), fragment);
            return arrow::Status::OK();
          }};
  const Dataset dataset = Make();
  int calls = 0;
  ColumnFunction function = Doubling(/*fail_at=*/4, &calls);
  function.checkpoint = checkpoint;
  EXPECT_THAT(AddColumns(dataset, function), IsError(ErrorKind::kInternal, "broke off"));
  EXPECT_EQ(fragments.size(), 1u);  // of two batches: rows 0 and 1 are deleted
  EXPECT_EQ(batches.size(), 3u);

  int more_calls = 0;
  function.compute = Doubling(/*fail_at=*/0, &more_calls).compute;
  const auto after = AddColumns(dataset, function).ValueOrDie();
  EXPECT_EQ(more_calls, 1);  // for rows 7 and 8
  ExpectColumn(after, "d", "[4, 6, 8, 10, 12, 14, 16]");
}

TEST(AddColumnsTest, AFunctionOfAnotherLengthIsRefused) {
  ColumnFunction function;
  function.schema = arrow::schema({arrow::field("d", arrow::int64())});
  function.compute = [&](const Batch&) -> arrow::Result<Batch> {
    return arrow::RecordBatch::Make(function.schema, 1, {Json(arrow::int64(), "[1]")});
  };
  const Dataset dataset = Make();
  const size_t before = NumFiles();
  EXPECT_THAT(AddColumns(dataset, function), IsError(ErrorKind::kInvalidInput, "different size"));
  EXPECT_EQ(NumFiles(), before);
}

TEST(AddColumnsTest, FieldsGoIntoStructs) {
  const auto inner = arrow::struct_({arrow::field("x", arrow::int32())});
  const Dataset before =
      AddColumns(Make(), Stream({arrow::field("s", inner)},
                                {Json(inner, R"([{"x": 1}, null, {"x": 3}, null, {"x": 5},
                                                 {"x": 6}, {"x": 7}])")}))
          .ValueOrDie();
  const auto more = arrow::struct_({arrow::field("y", arrow::utf8())});
  const Dataset after =
      AddColumns(before, Stream({arrow::field("s", more)},
                                {Json(more, R"([{"y": "a"}, {"y": "b"}, null, null, {"y": null},
                                                {"y": "f"}, {"y": "g"}])")}))
          .ValueOrDie();
  EXPECT_EQ(MaxFieldId(after), MaxFieldId(before) + 1);
  ExpectColumn(after, "s",
               R"([{"x": 1, "y": "a"}, {"x": null, "y": "b"}, {"x": 3, "y": null}, null,
                   {"x": 5, "y": null}, {"x": 6, "y": "f"}, {"x": 7, "y": "g"}])");
  EXPECT_THAT(AddColumns(after, NullColumns{arrow::schema({arrow::field("s", inner)})}),
              IsError(ErrorKind::kInvalidInput, "x already exists"));
}

TEST(MergeColumnsTest, TheLastRowOfAKeyCounts) {
  const auto right = Stream({arrow::field("key", arrow::int64()), arrow::field("w", arrow::utf8())},
                            {Json(arrow::int64(), "[5, 3, 5, 77, null]"),
                             Json(arrow::utf8(), R"(["a", "b", "c", "d", "e"])")});
  const auto after = MergeColumns(Make(), right, "a", "key").ValueOrDie();
  ExpectColumn(after, "w", R"([null, "b", null, "c", null, null, null])");
}

TEST(MergeColumnsTest, RowAddressesAreKeysToo) {
  const auto right =
      Stream({arrow::field("_rowaddr", arrow::uint64()), arrow::field("w", arrow::int8())},
             {Json(arrow::uint64(), "[4294967296, 4]"), Json(arrow::int8(), "[1, 2]")});
  const Dataset dataset = Make();
  const auto after = MergeColumns(dataset, right, "_rowaddr", "_rowaddr").ValueOrDie();
  ExpectColumn(after, "w", "[null, null, 2, 1, null, null, null]");
  const auto other = Stream({arrow::field("k", arrow::int32()), arrow::field("w", arrow::int8())},
                            {Json(arrow::int32(), "[4]"), Json(arrow::int8(), "[1]")});
  EXPECT_THAT(MergeColumns(dataset, other, "a", "k"),
              IsError(ErrorKind::kInvalidInput, "type mismatch"));
}

TEST(AlterColumnsTest, ACastGetsANewId) {
  const Dataset before = Make();
  const ColumnAlteration cast{.path = "a", .name = "b", .type = arrow::int16()};
  const Dataset after = AlterColumns(before, {&cast, 1}).ValueOrDie();
  EXPECT_TRUE(after.schema()->field(0)->Equals(arrow::field("b", arrow::int16())));
  EXPECT_EQ(MaxFieldId(after), MaxFieldId(before) + 1);
  ExpectColumn(after, "b", "[2, 3, 4, 5, 6, 7, 8]");
  ExpectColumn(after, "l", "[[2], [3], [4], [5], [6], [7], [8]]");
}

// Rows written for the column as it was would have no value in the new one.
TEST(AlterColumnsTest, RowsWrittenBeforeACastAreNotLost) {
  const Dataset stale = Make();
  const ColumnAlteration cast{.path = "a", .type = arrow::int32()};
  const Dataset after = AlterColumns(stale, {&cast, 1}).ValueOrDie();
  const auto late =
      WriteDataset(Stream({arrow::field("a", arrow::int64()), arrow::field("l", kList)},
                          {Json(arrow::int64(), "[100]"), Json(kList, "[[100]]")}),
                   stale, {.mode = WriteMode::kAppend});
  EXPECT_THAT(late, IsError(ErrorKind::kCommitConflict, ""));
  EXPECT_TRUE(IsRetryable(late.status()));
  const Dataset newest = stale.CheckoutLatest().ValueOrDie();
  EXPECT_EQ(newest.version(), after.version());
  EXPECT_EQ(Column(newest, "a")->null_count(), 0);
}

TEST(AlterColumnsTest, WhatCannotBe) {
  const Dataset dataset = Make();
  const size_t before = NumFiles();
  const auto alter = [&](const ColumnAlteration& alteration) {
    return AlterColumns(dataset, {&alteration, 1});
  };
  EXPECT_THAT(alter({.path = "z"}), IsError(ErrorKind::kInvalidInput, "does not exist"));
  EXPECT_THAT(alter({.path = "a", .name = "l"}), IsError(ErrorKind::kInvalidInput, "Duplicate"));
  EXPECT_THAT(alter({.path = "a", .type = arrow::utf8()}),
              IsError(ErrorKind::kInvalidInput, "Cannot cast"));
  EXPECT_THAT(alter({.path = "l", .type = arrow::large_list(arrow::utf8())}),
              IsError(ErrorKind::kInvalidInput, "Cannot cast"));
  const Dataset wide =
      AddColumns(dataset, std::vector<ComputedColumn>{{"w", "a * 100"}}).ValueOrDie();
  const ColumnAlteration narrow{.path = "w", .type = arrow::int8()};
  EXPECT_THAT(AlterColumns(wide, {&narrow, 1}),
              IsError(ErrorKind::kInvalidInput, "Cannot cast value '200' to value of Int8"));
  EXPECT_EQ(NumFiles(), before + 2);  // those of `w`
}

TEST(FragmentEditTest, UpdatesNameTheListThatTheyRewrite) {
  const Dataset dataset = Make(/*stable_row_ids=*/true);
  const auto right =
      Stream({arrow::field("a", arrow::int64()), arrow::field("l", kList)},
             {Json(arrow::int64(), "[6, 8, 2]"), Json(kList, "[[60, 61], null, [2]]")});
  const auto result = UpdateFragmentColumns(dataset, 1, right, "a", "a").ValueOrDie();
  EXPECT_THAT(result.fields_modified,
              ElementsAre(1, 2));  // the list, which an index is of; its items
  const auto files = result.fragment.files();
  ASSERT_THAT(files, SizeIs(2));
  EXPECT_THAT(files[0].fields, ElementsAre(0, -2));
  EXPECT_THAT(files[1].fields, ElementsAre(2));
  EXPECT_EQ(result.matched_offsets.size(), 20u);  // an array of the two rows
  const auto missing = Stream({arrow::field("a", arrow::int64()), arrow::field("z", kList)},
                              {Json(arrow::int64(), "[6]"), Json(kList, "[[]]")});
  EXPECT_THAT(UpdateFragmentColumns(dataset, 1, missing, "a", "a"),
              IsError(ErrorKind::kInvalidInput, "z"));
  EXPECT_THAT(UpdateFragmentColumns(dataset, 7, missing, "a", "a"),
              IsError(ErrorKind::kInvalidInput, "no fragment 7"));
}

TEST(FragmentEditTest, DeletesWriteAllDeletedRows) {
  const Dataset dataset = Make();
  const auto left = DeleteFromFragment(dataset, 0, Predicate::Sql("a = 3")).ValueOrDie();
  EXPECT_EQ(left->num_deletions(), 3);
  const std::vector<uint64_t> rows = {4, 2, 2};
  EXPECT_EQ(DeleteFragmentRows(dataset, 0, rows).ValueOrDie()->num_deletions(), 4);
  EXPECT_EQ(DeleteFromFragment(dataset, 0, Predicate::Sql("true")).ValueOrDie(), std::nullopt);
  const std::vector<uint64_t> beyond = {5};
  EXPECT_THAT(DeleteFragmentRows(dataset, 0, beyond),
              IsError(ErrorKind::kInvalidInput, "row 5 is not one of the 5"));
}

TEST(FragmentEditTest, AdoptsFilesThatFit) {
  const Dataset dataset = Make();
  const auto write = [&](const arrow::FieldVector& fields, const arrow::ArrayVector& columns) {
    return WriteFragments(Stream(fields, columns), dataset, {.mode = WriteMode::kAppend})
        .ValueOrDie()
        .front();
  };
  const auto list = arrow::field("l", kList);
  const auto fragment = write({list}, {Json(kList, "[[1], [2]]")});
  const std::string path = fragment.files().front().path;
  const auto info = DescribeDataFile(dataset, path).ValueOrDie();
  EXPECT_THAT(info.fields, ElementsAre(2));
  EXPECT_EQ(info.file_size_bytes, fragment.files().front().file_size_bytes);
  const auto adopted = AdoptDataFile(dataset, path, 9).ValueOrDie();
  EXPECT_EQ(adopted.id(), 9u);
  EXPECT_EQ(adopted.physical_rows(), 2u);
  EXPECT_THAT(AdoptDataFile(dataset, "no.lance", 9), IsError(ErrorKind::kFileNotFound, "no.lance"));
}

}  // namespace
}  // namespace glaive
