#include "glaive/compaction.h"

#include <random>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <arrow/util/logging.h>
#include <gtest/gtest.h>

#include "glaive/files.h"
#include "glaive/scan.h"
#include "glaive/write.h"
#include "testing/matchers.h"
#include "testing/random_table.h"

namespace glaive {
namespace {

using glaive::testing::CutAtRandom;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::RandomBatch;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

std::string Uri(const std::string& name = "table") {
  return std::string("memory://compaction_test/") +
         ::testing::UnitTest::GetInstance()->current_test_info()->name() + "/" + name;
}

std::shared_ptr<arrow::RecordBatchReader> Stream(std::vector<BatchPtr> batches) {
  const auto schema = batches.at(0)->schema();
  return arrow::RecordBatchReader::Make(std::move(batches), schema).ValueOrDie();
}

// Lists of `items` int16 and an int64 id: the rows that compaction was built for.
BatchPtr FatRows(int64_t num_rows, int64_t items) {
  std::mt19937 random(1);
  arrow::ListBuilder lists(arrow::default_memory_pool(), std::make_shared<arrow::Int16Builder>());
  auto& values = static_cast<arrow::Int16Builder&>(*lists.value_builder());
  arrow::Int64Builder ids;
  std::vector<int16_t> row(static_cast<size_t>(items));
  for (int64_t i = 0; i < num_rows; ++i) {
    for (int16_t& value : row) value = static_cast<int16_t>(random() % 200);
    ARROW_CHECK_OK(lists.Append());
    ARROW_CHECK_OK(values.AppendValues(row));
    ARROW_CHECK_OK(ids.Append(i));
  }
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("feat", arrow::list(arrow::int16())),
                                                 arrow::field("id", arrow::int64())}),
                                  num_rows,
                                  {lists.Finish().ValueOrDie(), ids.Finish().ValueOrDie()});
}

Dataset SmallFragments(const std::string& uri, const BatchPtr& rows, uint64_t rows_per_file) {
  return WriteDataset(Stream({rows}), uri, {.limits = {.max_rows_per_file = rows_per_file}})
      .ValueOrDie()
      .dataset;
}

std::shared_ptr<arrow::Table> ReadAll(const Dataset& dataset) {
  return ToReader(Scan(dataset, {}).ValueOrDie())
      ->ToTable()
      .ValueOrDie()
      ->CombineChunks()
      .ValueOrDie();
}

// Of each data file, the pages of column `column`.
std::vector<size_t> PageCounts(const Dataset& dataset, size_t column = 0) {
  std::vector<size_t> counts;
  for (const auto& fragment : dataset.Fragments().ValueOrDie()) {
    const auto file =
        DataFileReader::Open(dataset.uri() + "/data/" + fragment.files()[0].path).ValueOrDie();
    counts.push_back(file->info().columns[column].pages.size());
  }
  return counts;
}

std::vector<uint64_t> FragmentRows(const Dataset& dataset) {
  std::vector<uint64_t> rows;
  for (const auto& fragment : dataset.Fragments().ValueOrDie()) rows.push_back(fragment.num_rows());
  return rows;
}

std::vector<int64_t> Ids(const Dataset& dataset) {
  const auto ids = ReadAll(dataset)->GetColumnByName("id");
  const auto& values = static_cast<const arrow::Int64Array&>(*ids->chunk(0));
  return {values.raw_values(), values.raw_values() + values.length()};
}

std::vector<std::vector<uint64_t>> Shape(const CompactionPlan& plan) {
  std::vector<std::vector<uint64_t>> shape;
  for (const CompactionTask& task : plan.tasks) {
    auto& ids = shape.emplace_back();
    for (const auto& fragment : task.fragments) ids.push_back(fragment.id());
  }
  return shape;
}

// A tenth of the table that compaction was built for, with limits a tenth of the usual.
TEST(CompactionTest, PagesAreThoseOfADirectWrite) {
  const auto rows = FatRows(600, 20'000);
  struct Case {
    std::optional<uint64_t> max_page_bytes;
    std::optional<uint64_t> max_rows_per_group;
    std::optional<uint64_t> batch_size;
    size_t num_pages;
  };
  const Case cases[] = {{.batch_size = 600, .num_pages = 1},
                        {.max_page_bytes = (uint64_t{32} << 20) / 10, .num_pages = 8},
                        {.max_rows_per_group = 250, .num_pages = 3},
                        {.max_rows_per_group = 1024, .num_pages = 1},
                        {.batch_size = 7, .num_pages = 1}};
  for (const Case& limits : cases) {
    const std::string name = std::to_string(&limits - cases);
    const auto before = SmallFragments(Uri(name), rows, 30);
    EXPECT_EQ(before.num_fragments(), 20u);
    EXPECT_THAT(PageCounts(before), Each(1u));
    const auto compacted = CompactFiles(before, {.max_rows_per_group = limits.max_rows_per_group,
                                                 .max_page_bytes = limits.max_page_bytes,
                                                 .batch_size = limits.batch_size})
                               .ValueOrDie();
    EXPECT_THAT(PageCounts(compacted.dataset), ElementsAre(limits.num_pages));
    EXPECT_THAT(PageCounts(compacted.dataset, 1), ElementsAre(1u));
    EXPECT_EQ(compacted.summary.pages.total, limits.num_pages + 1);
    EXPECT_TRUE(ReadAll(compacted.dataset)->Equals(*ReadAll(before)));

    WriteOptions direct = {.limits = {.max_rows_per_group = limits.max_rows_per_group}};
    if (limits.max_page_bytes) direct.limits.max_page_bytes = *limits.max_page_bytes;
    const auto written = WriteDataset(Stream({rows}), Uri("direct" + name), direct).ValueOrDie();
    EXPECT_THAT(PageCounts(written.dataset), ElementsAre(limits.num_pages));
  }
}

TEST(CompactionTest, FragmentBordersLeaveNoTrace) {
  std::mt19937_64 random(77);
  for (int round = 0; round < 6; ++round) {
    const auto rows = RandomBatch({.num_rows = 900, .hidden_values = round % 2 == 1}, random);
    const std::string uri = Uri(std::to_string(round));
    uint64_t fragments = 0;
    for (const auto& slice : CutAtRandom(rows, random)) {
      if (slice->num_rows() == 0) continue;
      ASSERT_THAT(WriteDataset(Stream({slice}), uri, {.mode = WriteMode::kAppend}), IsOk());
      ++fragments;
    }
    const FileLimits limits = {.max_page_bytes = 4000, .data_cache_bytes = 40'000};
    const auto direct =
        WriteDataset(Stream({rows}), Uri("direct" + std::to_string(round)), {.limits = limits})
            .ValueOrDie();
    const auto table = Dataset::Open(uri).ValueOrDie();
    ASSERT_EQ(table.num_fragments(), fragments);
    if (fragments < 2) continue;
    const auto compacted = CompactFiles(table, {.max_page_bytes = limits.max_page_bytes,
                                                .data_cache_bytes = limits.data_cache_bytes})
                               .ValueOrDie();
    EXPECT_EQ(compacted.metrics.fragments_removed, fragments);
    EXPECT_EQ(compacted.metrics.fragments_added, 1u);
    for (size_t column = 0; column < 15; ++column) {
      EXPECT_EQ(PageCounts(compacted.dataset, column), PageCounts(direct.dataset, column));
    }
    EXPECT_TRUE(ReadAll(compacted.dataset)->Equals(*ReadAll(direct.dataset)));
  }
}

TEST(CompactionTest, OutputsAreEvenAndASecondRunDoesNothing) {
  for (const uint64_t target : {100u, 333u, 450u, 1000u}) {
    const auto before = SmallFragments(Uri(std::to_string(target)), FatRows(1000, 4), 20);
    const CompactionOptions options = {.target_rows_per_fragment = target};
    const auto once = CompactFiles(before, options).ValueOrDie();
    for (const uint64_t rows : FragmentRows(once.dataset)) {
      EXPECT_GE(rows, target);
      EXPECT_LT(rows, 2 * target);
    }
    EXPECT_EQ(once.dataset.version(), before.version() + 1);
    const auto twice = CompactFiles(once.dataset, options).ValueOrDie();
    EXPECT_EQ(twice.dataset.version(), once.dataset.version());
    EXPECT_EQ(twice.metrics.fragments_removed, 0u);
  }
}

TEST(CompactionTest, ALimitOnBytesThatGainsNothingMakesNoVersion) {
  const auto before = SmallFragments(Uri(), FatRows(100, 1000), 20);  // 40 kB each
  const auto same = CompactFiles(before, {.max_bytes_per_file = 40'000}).ValueOrDie();
  EXPECT_EQ(same.dataset.version(), before.version());
  const auto fewer = CompactFiles(before, {.max_bytes_per_file = 120'000}).ValueOrDie();
  EXPECT_LT(fewer.dataset.num_fragments(), 5u);
  EXPECT_TRUE(ReadAll(fewer.dataset)->Equals(*ReadAll(before)));
}

TEST(CompactionTest, SmallPagesAreJoinedWhenThatIsAskedFor) {
  const auto rows = FatRows(400, 1000);
  const auto before =
      WriteDataset(Stream({rows}), Uri(), {.limits = {.max_page_bytes = 40'000}}).ValueOrDie();
  ASSERT_THAT(PageCounts(before.dataset), ElementsAre(23u));
  const auto tasks = [](const Dataset& dataset, const CompactionOptions& options) {
    return PlanCompaction(dataset, options).ValueOrDie().tasks.size();
  };
  EXPECT_EQ(tasks(before.dataset, {}), 0u);
  // These limits make such pages; so a run would make them again.
  EXPECT_EQ(tasks(before.dataset, {.rewrite_small_pages = true, .max_page_bytes = 40'000}), 0u);
  const CompactionOptions options = {.rewrite_small_pages = true};
  const auto after = CompactFiles(before.dataset, options).ValueOrDie();
  EXPECT_THAT(PageCounts(after.dataset), ElementsAre(1u));
  EXPECT_TRUE(ReadAll(after.dataset)->Equals(*ReadAll(before.dataset)));
  EXPECT_EQ(tasks(after.dataset, options), 0u);
}

TEST(CompactionTest, PagesThatAreSmallSinceTheyCompressWellStay) {
  arrow::StringBuilder texts;
  for (int i = 0; i < 20'000; ++i) ARROW_CHECK_OK(texts.Append(std::string(100, 'x')));
  const auto rows = arrow::RecordBatch::Make(arrow::schema({arrow::field("t", arrow::utf8())}),
                                             20'000, {texts.Finish().ValueOrDie()});
  const auto table =
      WriteDataset(Stream({rows}), Uri(), {.limits = {.max_page_bytes = 200'000}}).ValueOrDie();
  ASSERT_THAT(PageCounts(table.dataset), ElementsAre(11u));
  EXPECT_LT(table.dataset.summary().data_file_bytes, 200'000u);
  const auto plan =
      PlanCompaction(table.dataset, {.rewrite_small_pages = true, .max_page_bytes = 200'000});
  EXPECT_THAT(plan.ValueOrDie().tasks, IsEmpty());
}

TEST(CompactionTest, ASecondRunIsEmptyWithBytesToo) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 8; ++round) {
    const auto rows = RandomBatch({.num_rows = 600}, random);
    const std::string uri = Uri(std::to_string(round));
    for (const auto& slice : CutAtRandom(rows, random)) {
      if (slice->num_rows() == 0) continue;
      ASSERT_THAT(WriteDataset(Stream({slice}), uri, {.mode = WriteMode::kAppend}), IsOk());
    }
    const auto before = Dataset::Open(uri).ValueOrDie();
    const uint64_t bytes = before.summary().data_file_bytes;
    CompactionOptions options = {.rewrite_small_pages = round % 2 == 0};
    if (round % 3 != 0) options.target_bytes_per_fragment = 1 + random() % bytes;
    if (round % 3 != 1) options.max_bytes_per_file = 1 + random() % bytes;
    if (round % 4 == 0) options.memory_limit = 64 << 20;
    const auto after = CompactFiles(before, options).ValueOrDie();
    EXPECT_THAT(Ids(after.dataset), UnorderedElementsAreArray(Ids(before)));
    EXPECT_THAT(PlanCompaction(after.dataset, options).ValueOrDie().tasks, IsEmpty()) << round;
  }
}

TEST(CompactionTest, TasksMayRunElsewhereAndSideBySide) {
  const auto before = SmallFragments(Uri(), FatRows(500, 5), 25);
  const auto plan = PlanCompaction(before, {.target_rows_per_fragment = 100}).ValueOrDie();
  ASSERT_EQ(plan.tasks.size(), 5u);
  const auto copy = CompactionPlan::FromJson(plan.ToJson()).ValueOrDie();
  EXPECT_EQ(copy.ToJson(), plan.ToJson());
  std::vector<RewriteResult> results;
  for (const CompactionTask& task : copy.tasks) {
    const auto there = CompactionTask::FromJson(task.ToJson()).ValueOrDie();
    const auto result = ExecuteCompaction(before, there, there.options).ValueOrDie();
    results.push_back(RewriteResult::FromJson(result.ToJson()).ValueOrDie());
  }
  const auto committed = CommitCompaction(before, results).ValueOrDie();
  EXPECT_EQ(committed.metrics.fragments_removed, 20u);
  EXPECT_THAT(FragmentRows(committed.dataset), ElementsAre(100, 100, 100, 100, 100));
  EXPECT_TRUE(ReadAll(committed.dataset)->Equals(*ReadAll(before)));

  const auto other = SmallFragments(Uri("threads"), FatRows(500, 5), 25);
  uint64_t tasks_seen = 0;
  const auto threads = CompactFiles(other, {.target_rows_per_fragment = 100,
                                            .num_threads = 3,
                                            .version = {.progress =
                                                            [&](const Progress& progress) {
                                                              tasks_seen = progress.total_tasks;
                                                              return arrow::Status::OK();
                                                            }}})
                           .ValueOrDie();
  EXPECT_EQ(tasks_seen, 5u);
  EXPECT_TRUE(ReadAll(threads.dataset)->Equals(*ReadAll(other)));
}

TEST(CompactionTest, ChangedFragmentsAreAConflict) {
  const auto before = SmallFragments(Uri(), FatRows(100, 5), 20);
  const auto plan = PlanCompaction(before).ValueOrDie();
  const auto result = ExecuteCompaction(before, plan.tasks[0], plan.options).ValueOrDie();
  const auto other = CompactFiles(before).ValueOrDie();
  const auto late = CommitCompaction(other.dataset, {&result, 1});
  EXPECT_THAT(late, IsError(ErrorKind::kCommitConflict, "Commit conflict for version"));
  EXPECT_TRUE(IsRetryable(late.status()));
}

TEST(CompactionTest, PlansArePylances) {
  // The fragments and the plans of pylance 14.0.2 for them.
  std::optional<Dataset> table;
  for (const int64_t size : {10, 10, 10, 10, 3, 30, 2, 2, 10}) {
    table = WriteDataset(Stream({FatRows(size, 2)}), Uri(), {.mode = WriteMode::kAppend})
                .ValueOrDie()
                .dataset;
  }
  const auto shape = [&](CompactionOptions options) {
    options.look_ahead = false;
    return Shape(PlanCompaction(*table, options).ValueOrDie());
  };
  using Ids = std::vector<uint64_t>;
  EXPECT_THAT(shape({}), ElementsAre(Ids{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_THAT(shape({.target_rows_per_fragment = 20}),
              ElementsAre(Ids{0, 1}, Ids{2, 3, 4}, Ids{6, 7, 8}));
  EXPECT_THAT(shape({.target_rows_per_fragment = 20, .max_source_fragments = 4}),
              ElementsAre(Ids{0, 1}));
  EXPECT_THAT(shape({.target_rows_per_fragment = 20, .max_source_rows = 45}),
              ElementsAre(Ids{0, 1}, Ids{2, 3, 4}));
  EXPECT_THAT(shape({.excluded_fragment_ids = {3, 99}}),
              ElementsAre(Ids{0, 1, 2}, Ids{4, 5, 6, 7, 8}));
}

TEST(CompactionTest, OptionsThatCannotBeAreNamed) {
  const auto table = SmallFragments(Uri(), FatRows(4, 2), 2);
  const auto plan = [&](const CompactionOptions& options) {
    return PlanCompaction(table, options);
  };
  EXPECT_THAT(plan({.mode = CompactionMode::kTryBinaryCopy}), IsOk());
  EXPECT_THAT(plan({.max_source_rows = 0}), IsError(ErrorKind::kInvalidInput, "max_source_rows"));
  EXPECT_THAT(plan({.data_storage_version = "0.1"}), IsError(ErrorKind::kUnsupported, "0.1"));
}

}  // namespace
}  // namespace glaive
