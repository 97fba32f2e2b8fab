#include "glaive/history.h"
#include "glaive/rows.h"

#include <map>
#include <string>
#include <thread>
#include <vector>

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "glaive/session.h"
#include "io/memory_store.h"
#include "io/object_store.h"
#include "testing/faulty_store.h"
#include "testing/matchers.h"

namespace glaive {
namespace {

using glaive::testing::FaultyStore;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::IsOkAndHolds;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Key and value; a negative key is null.
using Rows = std::vector<std::pair<int64_t, int64_t>>;

std::string Uri() {
  return std::string("memory://merge_insert_test/") +
         ::testing::UnitTest::GetInstance()->current_test_info()->name();
}

std::shared_ptr<arrow::RecordBatchReader> Stream(const Rows& rows, int64_t rows_per_batch = 1000) {
  arrow::Int64Builder keys;
  arrow::Int64Builder values;
  for (const auto& [key, value] : rows) {
    EXPECT_THAT(key < 0 ? keys.AppendNull() : keys.Append(key), IsOk());
    EXPECT_THAT(values.Append(value), IsOk());
  }
  const auto schema =
      arrow::schema({arrow::field("k", arrow::int64()), arrow::field("v", arrow::int64())});
  const auto all =
      arrow::RecordBatch::Make(schema, static_cast<int64_t>(rows.size()),
                               {keys.Finish().ValueOrDie(), values.Finish().ValueOrDie()});
  arrow::RecordBatchVector batches;
  for (int64_t begin = 0; begin < all->num_rows(); begin += rows_per_batch) {
    batches.push_back(all->Slice(begin, rows_per_batch));
  }
  return arrow::RecordBatchReader::Make(std::move(batches), schema).ValueOrDie();
}

Dataset Write(int64_t num_rows, const std::string& uri = Uri(), bool stable = false) {
  Rows rows;
  for (int64_t i = 0; i < num_rows; ++i) rows.emplace_back(i % 10 == 9 ? -1 : i, i);
  return WriteDataset(Stream(rows), uri,
                      {.limits = {.max_rows_per_file = 10}, .enable_stable_row_ids = stable})
      .ValueOrDie()
      .dataset;
}

const MergeInsertOptions kUpsert = {
    .on = {"k"}, .when_matched = WhenMatched::kUpdateAll, .insert_not_matched = true};

std::multimap<int64_t, int64_t> Read(const Dataset& dataset) {
  const auto table = ToReader(Scan(dataset, {}).ValueOrDie())->ToTable().ValueOrDie();
  const auto batch = table->CombineChunksToBatch().ValueOrDie();
  const auto& keys = static_cast<const arrow::Int64Array&>(*batch->column(0));
  const auto& values = static_cast<const arrow::Int64Array&>(*batch->column(1));
  std::multimap<int64_t, int64_t> rows;
  for (int64_t i = 0; i < batch->num_rows(); ++i) {
    rows.emplace(keys.IsNull(i) ? -1 : keys.Value(i), values.Value(i));
  }
  return rows;
}

TEST(MergeInsertTest, UpdatesAndInserts) {
  const Dataset before = Write(30);
  const auto merged =
      MergeInsert(before, Stream({{5, 500}, {40, 400}, {-1, 7}, {25, 250}}, 2), kUpsert)
          .ValueOrDie();
  EXPECT_EQ(merged.stats.num_updated_rows, 2);
  EXPECT_EQ(merged.stats.num_inserted_rows, 2);
  EXPECT_EQ(merged.stats.num_deleted_rows, 0);
  EXPECT_EQ(merged.stats.num_attempts, 1);
  EXPECT_EQ(merged.dataset.version(), 2);
  const auto rows = Read(merged.dataset);
  EXPECT_THAT(rows, SizeIs(32));
  EXPECT_EQ(rows.count(-1), 4) << "nulls are never alike";
  EXPECT_EQ(rows.find(5)->second, 500);
  EXPECT_EQ(rows.find(40)->second, 400);
  EXPECT_THAT(before.CountRows(), IsOkAndHolds(30));
}

TEST(MergeInsertTest, RowsOfTheSourceThatDisagree) {
  const Dataset dataset = Write(10);
  const Rows rows = {{5, 1}, {50, 2}, {5, 3}, {50, 4}, {-1, 5}, {-1, 6}};
  EXPECT_THAT(MergeInsert(dataset, Stream(rows), kUpsert),
              IsError(ErrorKind::kInvalidInput, "k = 5"));
  MergeInsertOptions first = kUpsert;
  first.source_duplicates = SourceDuplicates::kFirstSeen;
  for (const int64_t rows_per_batch : {1, 4, 1000}) {
    const auto staged = StageMergeInsert(dataset, Stream(rows, rows_per_batch), first).ValueOrDie();
    EXPECT_EQ(staged.stats.num_skipped_duplicates, 2);
    EXPECT_EQ(staged.stats.num_updated_rows, 1);
    EXPECT_EQ(staged.stats.num_inserted_rows, 3);
  }
  const auto merged = MergeInsert(dataset, Stream(rows), first).ValueOrDie();
  EXPECT_EQ(Read(merged.dataset).find(5)->second, 1);
  EXPECT_EQ(Read(merged.dataset).find(50)->second, 2);
}

TEST(MergeInsertTest, AStagedMergeIsCommittedOnce) {
  const Dataset dataset = Write(20);
  const auto first = StageMergeInsert(dataset, Stream({{5, 1}, {50, 1}}), kUpsert).ValueOrDie();
  const auto same_new_key = StageMergeInsert(dataset, Stream({{50, 2}}), kUpsert).ValueOrDie();
  const auto same_row = StageMergeInsert(dataset, Stream({{5, 3}}), kUpsert).ValueOrDie();
  const auto others = StageMergeInsert(dataset, Stream({{6, 4}, {60, 4}}), kUpsert).ValueOrDie();
  EXPECT_THAT(LatestVersion(dataset), IsOkAndHolds(1));
  EXPECT_THAT(Commit(dataset, first.transaction), IsOk());
  for (const auto& late : {same_new_key, same_row}) {
    const auto refused = Commit(dataset, late.transaction);
    EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, "version 2"));
    EXPECT_TRUE(IsRetryable(refused.status()));
  }
  const auto after = Commit(dataset, others.transaction).ValueOrDie();
  EXPECT_THAT(Read(after), SizeIs(22));
}

TEST(MergeInsertTest, RacingUpsertsInsertNoKeyTwice) {
  for (const bool stable : {false, true}) {
    const Dataset base = Write(20, Uri() + (stable ? "/stable" : ""), stable);
    std::vector<std::thread> writers;
    for (int64_t writer = 0; writer < 4; ++writer) {
      writers.emplace_back([&, writer] {
        MergeInsertOptions options = kUpsert;
        options.conflict_retries = 1000;
        for (int64_t turn = 0; turn < 5; ++turn) {
          Rows rows;
          for (int64_t key = 15 + 2 * turn; key < 25 + 2 * turn; ++key) {
            if (key % 10 != 9) rows.emplace_back(key, writer);
          }
          EXPECT_THAT(MergeInsert(base, Stream(rows), options), IsOk());
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
    const auto rows = Read(base.CheckoutLatest().ValueOrDie());
    for (int64_t key = 0; key < 33; ++key) {
      EXPECT_EQ(rows.count(key), key % 10 != 9 ? 1 : 0) << key;
    }
    EXPECT_EQ(rows.count(-1), 2);
  }
}

// Whichever call fails: either the version is there and right, or neither it nor a file is.
TEST(MergeInsertTest, FailsWhole) {
  for (uint64_t call = 0;; ++call) {
    SCOPED_TRACE(call);
    const auto store = std::make_shared<FaultyStore>(io::MakeMemoryStore());
    io::RegisterStore("faulty", store);
    Write(20, "faulty://table");
    const std::string root = io::Resolve("faulty://table").ValueOrDie().path;
    const auto open = [] {
      return Dataset::Open("faulty://table", {.session = std::make_shared<Session>()});
    };
    const Dataset dataset = open().ValueOrDie();
    store->FailAt(call);
    const auto merged = MergeInsert(dataset, Stream({{5, 1}, {50, 1}}), kUpsert);
    if (!store->has_failed()) {
      EXPECT_THAT(merged, IsOk());
      EXPECT_GT(call, 5);
      break;
    }
    store->Disarm();
    const Dataset after = open().ValueOrDie();
    if (after.version() == 1) {
      ASSERT_FALSE(merged.ok());
      EXPECT_THAT(Read(after), SizeIs(20));
      EXPECT_THAT(store->List(root + "/data").ValueOrDie(), SizeIs(2));
      EXPECT_THAT(store->List(root + "/_deletions"), IsOkAndHolds(IsEmpty()));
    } else {
      EXPECT_EQ(Read(after).find(5)->second, 1);
      EXPECT_THAT(Read(after), SizeIs(21));
    }
  }
  io::RegisterStore("faulty", nullptr);
}

TEST(UpdateTest, MovesRowsAndMergesWithOtherChanges) {
  const Dataset base = Write(40);
  const std::vector<ColumnUpdate> plus = {{"v", "v + 1000"}};
  const auto first = Update(base, plus, Predicate::Sql("k = 3")).ValueOrDie();
  EXPECT_EQ(first.num_updated_rows, 1);
  EXPECT_EQ(first.dataset.num_fragments(), 5);
  // The handle is stale: another row of the fragment, then the same row.
  EXPECT_EQ(Update(base, plus, Predicate::Sql("k = 4"))->num_updated_rows, 1);
  const auto again = Update(base, plus, Predicate::Sql("k = 3 OR k = 35")).ValueOrDie();
  EXPECT_EQ(again.num_updated_rows, 2);
  const auto rows = Read(again.dataset);
  EXPECT_EQ(rows.find(3)->second, 2003);
  EXPECT_EQ(rows.find(4)->second, 1004);
  EXPECT_EQ(rows.find(35)->second, 1035);
  EXPECT_THAT(rows, SizeIs(40));
}

TEST(UpdateTest, OfAllRowsLeavesNoOldFragment) {
  const auto updated = Update(Write(40), std::vector<ColumnUpdate>{{"v", "7"}}).ValueOrDie();
  EXPECT_EQ(updated.num_updated_rows, 40);
  EXPECT_EQ(updated.dataset.num_fragments(), 1);
  EXPECT_EQ(updated.dataset.summary().num_deletion_files, 0);
}

TEST(UpdateTest, WhatDoesNotFitChangesNothing) {
  const Dataset dataset = Write(10);
  const auto refuses = [&](std::string column, std::string sql) {
    return Update(dataset, std::vector<ColumnUpdate>{{std::move(column), std::move(sql)}});
  };
  EXPECT_THAT(refuses("nope", "1"), IsError(ErrorKind::kInvalidInput, "nope"));
  EXPECT_THAT(refuses("v", "nope"), IsError(ErrorKind::kInvalidInput, "nope"));
  EXPECT_THAT(refuses("v", "1e300"), IsError(ErrorKind::kInvalidInput, "column 'v'"));
  EXPECT_THAT(refuses("v", "'x'"), IsError(ErrorKind::kInvalidInput, "column 'v'"));
  EXPECT_THAT(Update(dataset, {}), IsError(ErrorKind::kInvalidInput, "No updates"));
  EXPECT_THAT(LatestVersion(dataset), IsOkAndHolds(1));
}

}  // namespace
}  // namespace glaive
