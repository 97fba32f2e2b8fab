#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "glaive/columns.h"
#include "glaive/commit.h"
#include "glaive/history.h"
#include "glaive/refs.h"
#include "glaive/retention.h"
#include "glaive/rows.h"
#include "glaive/staged_columns.h"
#include "io/memory_store.h"
#include "testing/column_writes.h"
#include "testing/counting_store.h"
#include "testing/interrupted_store.h"
#include "testing/matchers.h"

namespace glaive {
namespace {

using namespace glaive::testing;  // the small table and its columns

TEST(DiscardColumnsTest, AllOrNone) {
  const Dataset dataset = MakeColumnTable();
  const size_t before = NumDataFiles();
  const StagedColumns committed = StageOk(dataset, 1, {{"v", {1, 2, 3}}});
  const std::vector<StagedColumns> staged = {StageOk(dataset, 0, {{"v", {1, 2, 3}}}), committed};
  ExpectOk(CommitAll(dataset, {committed}));
  EXPECT_THAT(Discard(dataset, staged), IsError(ErrorKind::kInvalidInput, "version 2"));
  EXPECT_EQ(NumDataFiles(), before + 2);
  EXPECT_THAT(Discard(dataset, std::vector{staged.front()}), IsOk());
  EXPECT_THAT(Discard(dataset, std::vector<StagedColumns>()), IsOk());
  EXPECT_EQ(NumDataFiles(), before + 1);
}

// Whatever became of the version that brought the file in.
TEST(DiscardColumnsTest, WhatWasReplacedIsStillReferredTo) {
  const Dataset dataset = MakeColumnTable();
  const StagedColumns staged = StageOk(dataset, 0, {{"v", {1, 2, 3}}});
  ExpectOk(CommitAll(dataset, {staged}));
  const Dataset second = NewestColumnTable();
  ExpectOk(CommitAll(second, {StageOk(second, 0, {{"v", {4, 5, 6}}})}));
  EXPECT_THAT(Discard(dataset, staged), IsError(ErrorKind::kInvalidInput, "version 2"));
  // Restored, the version that named it gone: its name is in no transaction any more.
  ExpectOk(Restore(second));
  ASSERT_THAT(CleanUp(NewestColumnTable()).status(), IsOk());
  EXPECT_THAT(Discard(NewestColumnTable(), staged), IsError(ErrorKind::kInvalidInput, "version 4"));
}

TEST(DiscardColumnsTest, ABranchKeepsWhatIsCommitted) {
  const Dataset dataset = MakeColumnTable();
  const StagedColumns staged = StageOk(dataset, 0, {{"v", {1, 2, 3}}});
  ExpectOk(CommitAll(dataset, {staged}));
  const Dataset second = NewestColumnTable();
  ASSERT_THAT(CreateBranch(second, "b").status(), IsOk());
  // As a clean-up by another engine may leave it.
  const std::string root = io::Resolve(ColumnTableUri())->path;
  for (const auto& object : io::MemoryStore()->List(root + "/_versions").ValueOrDie()) {
    if (object.path.ends_with("613.manifest")) {
      ASSERT_THAT(io::MemoryStore()->Delete(object.path), IsOk());
    }
  }
  EXPECT_THAT(VersionNumbers(dataset), IsOkAndHolds(std::vector<uint64_t>{1}));
  EXPECT_THAT(Discard(dataset, staged), IsError(ErrorKind::kInvalidInput, "version 2"));
}

TEST(DiscardColumnsTest, ACommitBetweenTwoOfItsRequestsKeepsItsFiles) {
  bool was_refused = false;
  for (uint64_t call = 0;; ++call) {
    SCOPED_TRACE("commit before call " + std::to_string(call));
    const auto store = std::make_shared<InterruptedStore>(io::MakeMemoryStore());
    io::RegisterStore("discard-race", store);
    const auto rows = ColumnStream({{"id", {0, 1, 2}}, {"v", {0, 10, 20}}});
    const Dataset dataset = WriteDataset(rows, "discard-race://t").ValueOrDie().dataset;
    const StagedColumns staged = StageOk(dataset, 0, {{"v", {1, 2, 3}}});
    arrow::Status committed;
    store->InterruptAt(call, [&] { committed = CommitAll(dataset, {staged}).status(); });
    const arrow::Status discarded = Discard(dataset, staged);
    if (!store->was_interrupted()) break;
    store->Disarm();
    const Dataset latest = Dataset::Open("discard-race://t").ValueOrDie();
    EXPECT_EQ(committed.ok(), latest.version() == 2);
    EXPECT_THAT(Validate(latest), IsOk()) << discarded.ToString();
    was_refused |= committed.ok() && !discarded.ok();
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_TRUE(was_refused);
  io::RegisterStore("discard-race", nullptr);
}

TEST(DiscardColumnsTest, ADiscardBetweenTwoRequestsOfACommitLeavesNoVersionWithoutFiles) {
  bool was_refused = false;
  bool was_kept = false;
  for (uint64_t call = 0;; ++call) {
    SCOPED_TRACE("discard before call " + std::to_string(call));
    const auto store = std::make_shared<InterruptedStore>(io::MakeMemoryStore());
    io::RegisterStore("discard-race", store);
    const auto rows = ColumnStream({{"id", {0, 1, 2}}, {"v", {0, 10, 20}}});
    const Dataset dataset = WriteDataset(rows, "discard-race://t").ValueOrDie().dataset;
    const StagedColumns staged = StageOk(dataset, 0, {{"v", {1, 2, 3}}});
    arrow::Status discarded;
    store->InterruptAt(call, [&] { discarded = Discard(dataset, staged); });
    const arrow::Status committed = CommitAll(dataset, {staged}).status();
    if (!store->was_interrupted()) break;
    store->Disarm();
    const Dataset latest = Dataset::Open("discard-race://t").ValueOrDie();
    EXPECT_EQ(committed.ok(), latest.version() == 2) << committed.ToString();
    EXPECT_THAT(Validate(latest), IsOk()) << discarded.ToString();
    was_refused |= !committed.ok() && discarded.ok();
    was_kept |= committed.ok() && !discarded.ok();
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_TRUE(was_refused);
  EXPECT_TRUE(was_kept);
  io::RegisterStore("discard-race", nullptr);
}

TEST(DiscardColumnsTest, WhatADetachedVersionHasIsReferredTo) {
  const Dataset dataset = MakeColumnTable();
  const StagedColumns staged = StageOk(dataset, 0, {{"v", {1, 2, 3}}});
  operation::DataReplacement replacement;
  replacement.replacements.push_back({0, DescribeDataFile(dataset, staged.path()).ValueOrDie()});
  const Transaction transaction = {.read_version = 1, .operation = replacement};
  ASSERT_THAT(Commit(dataset, transaction, {.detached = true}), IsOk());
  EXPECT_THAT(Discard(dataset, staged), IsError(ErrorKind::kInvalidInput, "is committed"));
}

TEST(DiscardColumnsTest, ReadsNoManifestTwiceForMany) {
  const auto store = std::make_shared<CountingStore>(io::MemoryStore());
  io::RegisterStore("counted", store);
  const Dataset dataset = WriteDataset(ColumnStream({{"id", {0, 1, 2}}}), "counted://discard/table")
                              .ValueOrDie()
                              .dataset;
  std::vector<StagedColumns> staged;
  for (int i = 0; i < 20; ++i) staged.push_back(StageOk(dataset, 0, {{"y", {1, 2, 3}}}));
  Dataset latest = dataset;
  constexpr uint64_t kVersions = 10;
  for (uint64_t i = 0; i < kVersions; ++i) {
    latest = WriteDataset(ColumnStream({{"id", {9}}}), latest, {.mode = WriteMode::kAppend})
                 .ValueOrDie()
                 .dataset;
  }
  store->Reset();
  EXPECT_THAT(Discard(latest, staged), IsOk());
  uint64_t reads = 0;
  for (const CountedRequest& request : store->requests()) {
    if (request.kind == io::RequestKind::kGet) ++reads;
  }
  // Files are linked out of the way, which here is a copy.
  EXPECT_LE(reads, 2 * kVersions + staged.size());
  io::RegisterStore("counted", nullptr);
}

}  // namespace
}  // namespace glaive
