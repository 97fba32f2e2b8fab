#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "glaive/maintenance.h"
#include "glaive/refs.h"
#include "glaive/staged_columns.h"
#include "glaive/update.h"
#include "testing/column_writes.h"
#include "testing/counting_store.h"
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
  EXPECT_LE(reads, 2 * kVersions);
  io::RegisterStore("counted", nullptr);
}

}  // namespace
}  // namespace glaive
