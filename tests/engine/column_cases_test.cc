#include <set>
#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/staging/state.h"
#include "glaive/compaction.h"
#include "glaive/index.h"
#include "glaive/refs.h"
#include "glaive/rows.h"
#include "glaive/staged_columns.h"
#include "table/manifest/table_schema.h"
#include "testing/column_writes.h"
#include "testing/matchers.h"

// What is wrong with staged columns themselves, and what fragments may look like that they are for;
// docs/column_writes.md numbers the cases.
namespace glaive {
namespace {

using namespace glaive::testing;  // the small table and its columns
using ::testing::ElementsAre;

// As a caller might hold a schema that nobody gave out.
TableSchema Renamed(const TableSchema& schema, const std::string& name) {
  wire::Schema fields = StateOf(schema)->schema;
  fields.fields.front().name = name;
  return table::MakeTableSchema(std::move(fields)).ValueOrDie();
}

StagedColumns Changed(const StagedColumns& staged, auto change) {
  dataset::StagedColumnsState state = *StateOf(staged);
  change(state);
  return dataset::MakeStagedColumns(std::move(state));
}

TEST(ColumnCasesTest, Case4StagedUnderAnotherName) {
  const Dataset dataset = MakeColumnTable();
  const auto a = ColumnStream({{"a", {1, 2, 3}}});
  const auto schema = NewColumnSchema(dataset, *a->schema()).ValueOrDie();
  const size_t before = NumDataFiles();
  EXPECT_THAT(StageColumns(dataset, 0, a, Renamed(schema, "b")).status(),
              IsError(ErrorKind::kInvalidInput, "'a'"));
  EXPECT_EQ(NumDataFiles(), before);
  // Under the same id; the table says b by then.
  const std::vector<StagedColumns> staged = {StageOk(dataset, 0, {{"a", {1, 2, 3}}})};
  ExpectOk(CommitAll(dataset, {StageOk(dataset, 1, {{"b", {4, 5, 6}}})}));
  ExpectRefused(dataset, staged, kNull, "a");
  EXPECT_THAT(ReadColumn("b"), ElementsAre(kNull, kNull, kNull, 4, 5, 6));
}

TEST(ColumnCasesTest, Case18ReservedNames) {
  const Dataset dataset = MakeColumnTable();
  const StagedColumns plain = StageOk(dataset, 0, {{"y", {1, 2, 3}}});
  const size_t before = NumDataFiles();
  for (const char* name : {"_rowid", "_rowaddr", "_rowoffset", "_row_created_at_version",
                           "_row_last_updated_at_version"}) {
    const auto stream = ColumnStream({{name, {1, 2, 3}}});
    EXPECT_THAT(NewColumnSchema(dataset, *stream->schema()).status(),
                IsError(ErrorKind::kInvalidInput, name));
    EXPECT_THAT(
        StageColumns(dataset, 0, stream, Renamed(plain.schema().ValueOrDie(), name)).status(),
        IsError(ErrorKind::kInvalidInput, name));
    const StagedColumns forged =
        Changed(plain, [&](auto& state) { state.schema.fields.front().name = name; });
    EXPECT_THAT(CommitAll(dataset, {forged}).status(), IsError(ErrorKind::kInvalidInput, name));
  }
  EXPECT_EQ(NumDataFiles(), before);
  EXPECT_EQ(NewestColumnTable().version(), 1);
}

TEST(ColumnCasesTest, Case19AfterACompaction) {
  const Dataset dataset = MakeColumnTable();
  ExpectOk(CommitAll(
      dataset, {StageOk(dataset, 0, {{"y", {1, 2, 3}}}), StageOk(dataset, 1, {{"y", {4, 5, 6}}})}));
  ASSERT_THAT(CompactFiles(NewestColumnTable()).status(), IsOk());
  const Dataset compacted = NewestColumnTable();
  const auto fragments = compacted.Fragments().ValueOrDie();
  ASSERT_EQ(fragments.size(), 1);
  ExpectOk(CommitAll(compacted,
                     {StageOk(compacted, fragments.front().id(), {{"y", {6, 5, 4, 3, 2, 1}}})}));
  EXPECT_THAT(ReadColumn("y"), ElementsAre(6, 5, 4, 3, 2, 1));
  const auto files = NewestColumnTable().GetFragment(fragments.front().id()).ValueOrDie()->files();
  ASSERT_EQ(files.size(), 2);
  EXPECT_THAT(files[0].fields, ElementsAre(0, 1, 2, -2));
  EXPECT_THAT(files[1].fields, ElementsAre(3));
}

// The first live row's value is no deleted row's: that would be 64 KiB for each of them.
TEST(ColumnCasesTest, Case20FewLiveRows) {
  constexpr int kRows = 4000;
  Columns rows;
  for (int i = 0; i < kRows; ++i) rows["id"].emplace_back(i);
  const Dataset whole = WriteDataset(ColumnStream(rows), ColumnTableUri()).ValueOrDie().dataset;
  const Dataset dataset = Delete(whole, Predicate::Sql("id % 10 != 5")).ValueOrDie().dataset;
  for (const bool nullable : {true, false}) {
    const std::string name = nullable ? "y" : "z";
    arrow::StringBuilder builder;
    const std::string large(65536, 'x');
    for (int i = 0; i < kRows / 10; ++i) ASSERT_TRUE(builder.Append(i == 0 ? large : "s").ok());
    const auto schema = arrow::schema({arrow::field(name, arrow::utf8(), nullable)});
    const auto batch =
        arrow::RecordBatch::Make(schema, kRows / 10, {builder.Finish().ValueOrDie()});
    const Dataset latest = NewestColumnTable();
    const int64_t memory = arrow::default_memory_pool()->bytes_allocated();
    const auto staged =
        StageColumns(latest, 0, arrow::RecordBatchReader::Make({batch}).ValueOrDie(),
                     NewColumnSchema(latest, *schema).ValueOrDie(), {.live_rows_only = true});
    ASSERT_THAT(staged.status(), IsOk());
    EXPECT_LT(staged->size_bytes(), 1 << 17);
    EXPECT_LT(arrow::default_memory_pool()->bytes_allocated() - memory, 16 << 20);
    ExpectOk(CommitAll(latest, {*staged}));
    auto stream = Scan(NewestColumnTable(), {.columns = {{name}}}).ValueOrDie();
    const auto table = ToReader(std::move(stream))->ToTable().ValueOrDie();
    EXPECT_TRUE(table->column(0)->Equals(arrow::ChunkedArray(batch->column(0))));
  }
}

std::vector<uint64_t> Covered() {
  const auto indices = ListIndices(NewestColumnTable()).ValueOrDie();
  return indices.front().segments.front().fragment_ids.value();
}

TEST(ColumnCasesTest, Case29IndicesLeaveTheFragment) {
  const Dataset plain = MakeColumnTable();
  operation::CreateIndex index;
  index.new_indices.push_back({.uuid = "00000000-0000-4000-8000-000000000001",
                               .name = "v_idx",
                               .fields = {1},
                               .dataset_version = 1,
                               .fragment_bitmap = MakeBitmap({0, 1}).ValueOrDie(),
                               .index_version = 0,
                               .details = {{"/lance.table.BTreeIndexDetails", ""}}});
  ExpectOk(Commit(plain, {.read_version = 1, .operation = index}));
  const Dataset dataset = NewestColumnTable();
  // Another field, replaced or added, takes nothing from it.
  ExpectOk(CommitAll(
      dataset, {StageOk(dataset, 0, {{"w", {1, 2, 3}}}), StageOk(dataset, 1, {{"y", {1, 2, 3}}})}));
  EXPECT_THAT(Covered(), ElementsAre(0, 1));
  ExpectOk(CommitAll(dataset, {StageOk(dataset, 0, {{"v", {1, 2, 3}}})}));
  EXPECT_THAT(Covered(), ElementsAre(1));
  // In a merge, with a new column.
  const Dataset latest = NewestColumnTable();
  ExpectOk(CommitAll(
      latest, {StageOk(latest, 1, {{"v", {4, 5, 6}}}), StageOk(latest, 1, {{"z", {1, 2, 3}}})}));
  const auto indices = ListIndices(NewestColumnTable()).ValueOrDie();
  EXPECT_TRUE(indices.empty() || Covered().empty());
}

// No witness of another field tells that the rows are others.
TEST(ColumnCasesTest, AMergeOfOtherRows) {
  const Dataset dataset = MakeColumnTable();
  const std::vector<StagedColumns> staged = {StageOk(dataset, 0, {{"y", {1, 2, 3}}})};
  Edit(dataset, dataset.GetFragment(0).ValueOrDie()->files().front().path,
       dataset.GetFragment(1).ValueOrDie()->files().front().path);
  ExpectRefused(dataset, staged, 0, "");
}

// The fragment's only file gives way to others, one after another, that are of the same rows.
TEST(ColumnCasesTest, AllFilesReplaced) {
  const Dataset plain =
      WriteDataset(ColumnStream({{"id", {0, 1, 2}}}), ColumnTableUri()).ValueOrDie().dataset;
  const StagedColumns late = StageOk(plain, 0, {{"late", {1, 2, 3}}});
  const StagedColumns replaced = StageOk(plain, 0, {{"id", {5, 6, 7}}});
  ExpectOk(CommitAll(plain, {StageOk(plain, 0, {{"id", {3, 4, 5}}})}));
  const Dataset second = NewestColumnTable();
  ExpectOk(CommitAll(second, {StageOk(second, 0, {{"id", {6, 7, 8}}})}));
  EXPECT_EQ(NewestColumnTable().GetFragment(0).ValueOrDie()->files().size(), 1);
  ExpectOk(CommitAll(plain, {late}));
  EXPECT_THAT(ReadColumn("late"), ElementsAre(1, 2, 3));
  ExpectRefused(plain, {replaced}, 0, "id");
}

TEST(ColumnCasesTest, CommittedAlreadyWithAllFilesReplaced) {
  const Dataset plain =
      WriteDataset(ColumnStream({{"id", {0, 1, 2}}}), ColumnTableUri()).ValueOrDie().dataset;
  const std::vector<StagedColumns> staged = {StageOk(plain, 0, {{"id", {5, 6, 7}}}),
                                             StageOk(plain, 0, {{"y", {1, 2, 3}}})};
  ExpectOk(CommitAll(plain, staged));
  EXPECT_THAT(CommitAll(plain, staged).status(),
              IsError(ErrorKind::kCommitConflict, "committed already"));
}

}  // namespace
}  // namespace glaive
