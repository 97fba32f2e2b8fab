// Rows that are changed in a table that is another one, or elsewhere, by the time they are.
#include <memory>
#include <string>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "glaive/compaction.h"
#include "glaive/retention.h"
#include "glaive/rows.h"
#include "glaive/session.h"
#include "glaive/write.h"
#include "io/memory_store.h"
#include "testing/interrupted_store.h"
#include "testing/matchers.h"
#include "testing/numbered_rows.h"

namespace glaive {
namespace {

using glaive::testing::InterruptedStore;
using glaive::testing::IsOk;
using glaive::testing::IsOkAndHolds;
using glaive::testing::NumberedRows;

constexpr char kUri[] = "row-commits://table";

class RowCommitTest : public ::testing::Test {
 protected:
  void SetUp() override { Begin(); }
  void TearDown() override { io::RegisterStore("row-commits", nullptr); }

  void Begin() {
    store_ = std::make_shared<InterruptedStore>(io::MakeMemoryStore());
    io::RegisterStore("row-commits", store_);
  }

  static Dataset Open() {
    return Dataset::Open(kUri, {.session = std::make_shared<Session>()}).ValueOrDie();
  }

  static arrow::Status Write(int64_t begin, int64_t end, WriteMode mode,
                             std::optional<std::string> version = std::nullopt) {
    const auto rows = NumberedRows(begin, end);
    return WriteDataset(arrow::RecordBatchReader::Make({rows}, rows->schema()).ValueOrDie(), kUri,
                        {.mode = mode,
                         .data_storage_version = std::move(version),
                         .session = std::make_shared<Session>()})
        .status();
  }

  std::shared_ptr<InterruptedStore> store_;
};

// With as many versions as the one before had, and one more.
TEST_F(RowCommitTest, AnAppendDoesNotGoOnInAnotherTable) {
  for (uint64_t call = 0;; ++call) {
    Begin();
    SCOPED_TRACE("before call " + std::to_string(call));
    ASSERT_THAT(Write(0, 5, WriteMode::kCreate), IsOk());
    const Dataset stale = Open();
    store_->InterruptAt(call, [&] {
      ASSERT_THAT(DropDataset(kUri), IsOk());
      ASSERT_THAT(Write(100, 105, WriteMode::kCreate), IsOk());
      ASSERT_THAT(Write(105, 110, WriteMode::kAppend), IsOk());
    });
    const auto rows = NumberedRows(5, 10);
    const auto appended =
        WriteDataset(arrow::RecordBatchReader::Make({rows}, rows->schema()).ValueOrDie(), stale,
                     {.mode = WriteMode::kAppend});
    if (!store_->was_interrupted()) break;
    store_->Disarm();
    EXPECT_THAT(Open().CountRows(), IsOkAndHolds(10)) << appended.status().ToString();
    EXPECT_THAT(Validate(Open()), IsOk());
  }
}

// The creator that is faster makes a table whose files are of another version of the format.
TEST_F(RowCommitTest, FilesOfAnotherFormatAreNotAppended) {
  bool was_refused = false;
  for (uint64_t call = 0;; ++call) {
    Begin();
    SCOPED_TRACE("before call " + std::to_string(call));
    arrow::Status other;
    store_->InterruptAt(call, [&] { other = Write(0, 5, WriteMode::kCreate, "2.1"); });
    const arrow::Status appended = Write(5, 10, WriteMode::kAppend);
    if (!store_->was_interrupted()) break;
    store_->Disarm();
    EXPECT_TRUE(other.ok() || appended.ok());
    EXPECT_THAT(Open().CountRows(), IsOkAndHolds((other.ok() ? 5u : 0u) + (appended.ok() ? 5 : 0)));
    EXPECT_THAT(Validate(Open()), IsOk());
    was_refused |= other.ok() && !appended.ok();
  }
  EXPECT_TRUE(was_refused);
}

// Its files went with the versions that referred to them: the newest has the same rows elsewhere.
TEST_F(RowCommitTest, ADeleteWhoseFilesWereCleanedUpIsDoneOnTheNewestVersion) {
  ASSERT_THAT(Write(0, 5, WriteMode::kCreate), IsOk());
  ASSERT_THAT(Write(5, 10, WriteMode::kAppend), IsOk());
  const Dataset stale = Open();
  ASSERT_THAT(CompactFiles(Open()), IsOk());
  ASSERT_THAT(CleanUp(Open()), IsOk());
  ASSERT_THAT(Delete(stale, Predicate::Sql("a = 1")), IsOk());
  EXPECT_THAT(Open().CountRows(), IsOkAndHolds(9));
}

}  // namespace
}  // namespace glaive
