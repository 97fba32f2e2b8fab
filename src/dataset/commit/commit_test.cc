#include "glaive/commit.h"
#include "glaive/history.h"
#include "glaive/schema.h"

#include <string>
#include <vector>

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "glaive/scan.h"
#include "glaive/session.h"
#include "testing/matchers.h"

namespace glaive {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::Pair;

std::string Uri() {
  return std::string("memory://commit_test/") +
         ::testing::UnitTest::GetInstance()->current_test_info()->name();
}

std::shared_ptr<arrow::RecordBatchReader> Rows(int64_t num_rows) {
  arrow::Int64Builder a;
  for (int64_t i = 0; i < num_rows; ++i) EXPECT_THAT(a.Append(i), IsOk());
  const auto rows = arrow::RecordBatch::Make(arrow::schema({arrow::field("a", arrow::int64())}),
                                             num_rows, {a.Finish().ValueOrDie()});
  return arrow::RecordBatchReader::Make({rows}, rows->schema()).ValueOrDie();
}

Dataset Create(int64_t num_rows) {
  return WriteDataset(Rows(num_rows), Uri()).ValueOrDie().dataset;
}

Transaction AppendOf(const Dataset& dataset, int64_t num_rows) {
  return WriteTransaction(Rows(num_rows), dataset, {.mode = WriteMode::kAppend}).ValueOrDie();
}

TEST(CommitTest, CreatesATableOfFilesThatWereWrittenBefore) {
  const auto transaction = WriteTransaction(Rows(3), Uri()).ValueOrDie();
  EXPECT_EQ(NameOf(*transaction.operation), "Overwrite");
  const Dataset made = Commit(Uri(), transaction).ValueOrDie();
  EXPECT_EQ(made.version(), 1);
  EXPECT_THAT(made.CountRows(), IsOkAndHolds(3));
  EXPECT_EQ(TransactionOf(made, 1).ValueOrDie()->uuid, transaction.uuid);
}

TEST(CommitTest, OnlyAnOverwriteCreates) {
  const Transaction append{.read_version = 1, .operation = operation::Append{}};
  EXPECT_THAT(Commit(Uri(), append), IsError(ErrorKind::kNotFound, "was not found"));
}

TEST(CommitTest, AnAppendFollowsWhatCameBetween) {
  const Dataset first = Create(3);
  const auto early = AppendOf(first, 2);
  EXPECT_THAT(Commit(Uri(), AppendOf(first, 5)), IsOk());
  const Dataset after = Commit(first, early).ValueOrDie();
  EXPECT_EQ(after.version(), 3);
  EXPECT_THAT(after.CountRows(), IsOkAndHolds(10));
  const auto recent = RecentTransactions(after, 2).ValueOrDie();
  ASSERT_EQ(recent.size(), 2);
  EXPECT_EQ(recent[0]->uuid, early.uuid);
  EXPECT_EQ(recent[0]->read_version, 1);
}

TEST(CommitTest, StrictWantsNothingBetween) {
  const Dataset first = Create(3);
  const auto early = AppendOf(first, 2);
  EXPECT_THAT(Commit(first, AppendOf(first, 5), {.strict = true}), IsOk());
  const auto late = Commit(first, early, {.strict = true});
  EXPECT_THAT(late, IsError(ErrorKind::kCommitConflict, "version 2"));
  EXPECT_TRUE(IsRetryable(late.status()));
  EXPECT_THAT(Commit(first, early), IsOk());
}

TEST(CommitTest, ATokenNamesOneVersion) {
  const Dataset first = Create(3);
  const auto append = AppendOf(first, 2);
  const CommitOptions options{.idempotency_token = "load 7"};
  EXPECT_EQ(Commit(first, append, options)->version(), 2);
  EXPECT_THAT(Commit(first, AppendOf(first, 5)), IsOk());
  EXPECT_EQ(Commit(first, append, options)->version(), 2);
  // Also when it is committed as of a version that has it already.
  auto later = append;
  later.read_version = 3;
  EXPECT_EQ(Commit(Uri(), later, options)->version(), 2);
  EXPECT_EQ(first.CheckoutLatest()->version(), 3);
  EXPECT_EQ(Commit(first, append, {.idempotency_token = "load 8"})->version(), 4);
}

TEST(CommitTest, ATokenNamesOneCreation) {
  const auto transaction = WriteTransaction(Rows(3), Uri()).ValueOrDie();
  const CommitOptions options{.idempotency_token = "create"};
  EXPECT_EQ(Commit(Uri(), transaction, options)->version(), 1);
  EXPECT_EQ(Commit(Uri(), transaction, options)->version(), 1);
}

TEST(CommitTest, ABatchKeepsItsProperties) {
  const Dataset first = Create(3);
  std::vector<Transaction> batch = {AppendOf(first, 1), AppendOf(first, 2)};
  batch[0].properties = {{"job", "a"}, {"day", "monday"}};
  batch[1].properties = {{"job", "a"}};
  const auto result = CommitBatch(first, batch).ValueOrDie();
  EXPECT_EQ(result.dataset.version(), 2);
  EXPECT_THAT(result.dataset.CountRows(), IsOkAndHolds(6));
  EXPECT_THAT(TransactionOf(result.dataset, 2).ValueOrDie()->properties,
              ElementsAre(Pair("day", "monday"), Pair("job", "a")));
  batch[1].properties = {{"job", "b"}};
  EXPECT_THAT(CommitBatch(first, batch), IsError(ErrorKind::kInvalidInput, "job"));
  batch[1].operation = operation::Restore{1};
  EXPECT_THAT(CommitBatch(first, batch), IsError(ErrorKind::kInvalidInput, "appends"));
  EXPECT_THAT(CommitBatch(first, {}), IsError(ErrorKind::kInvalidInput, "No transactions"));
}

TEST(CommitTest, ADetachedVersionIsFoundByItsNumberOnly) {
  const Dataset first = Create(3);
  const auto append = AppendOf(first, 2);
  EXPECT_THAT(Commit(first, AppendOf(first, 5)), IsOk());
  const Dataset detached = Commit(first, append, {.detached = true}).ValueOrDie();
  EXPECT_GE(detached.version(), uint64_t{1} << 63);
  EXPECT_THAT(detached.CountRows(), IsOkAndHolds(5));  // as of version 1, not of 2
  EXPECT_EQ(LatestVersion(first).ValueOrDie(), 2);
  EXPECT_EQ(Versions(first)->size(), 2);
  const Dataset found = Dataset::Open(Uri(), {.version = detached.version()}).ValueOrDie();
  EXPECT_THAT(found.CountRows(), IsOkAndHolds(5));
  EXPECT_EQ(TransactionOf(found, found.version()).ValueOrDie()->uuid, append.uuid);
  // What follows it is detached as well.
  auto next = AppendOf(found, 1);
  EXPECT_THAT(Commit(found, next), IsError(ErrorKind::kInvalidInput, "detached"));
  EXPECT_THAT(Commit(found, next, {.detached = true})->CountRows(), IsOkAndHolds(6));
}

TEST(CommitTest, ATableOfV1NamesHasNoDetachedVersions) {
  const Dataset first = WriteDataset(Rows(3), Uri(), {.enable_v2_manifest_paths = false})->dataset;
  EXPECT_THAT(Commit(first, AppendOf(first, 2), {.detached = true}),
              IsError(ErrorKind::kUnsupported, "V1"));
}

TEST(CommitTest, AReadVersionThatIsNotThere) {
  const Dataset first = Create(3);
  auto append = AppendOf(first, 1);
  append.read_version = 99;
  EXPECT_THAT(Commit(first, append), IsError(ErrorKind::kNotFound, "99"));
  append.read_version.reset();
  EXPECT_THAT(Commit(first, append), IsError(ErrorKind::kInvalidInput, "read_version"));
}

TEST(CommitTest, OperationsComeBackAsTheyWere) {
  const Dataset dataset = Create(3);
  const TableSchema schema = SchemaOf(dataset).ValueOrDie();
  const auto fragment = dataset.Fragments().ValueOrDie().front();
  EXPECT_THAT(Commit(dataset, {.read_version = 1, .operation = operation::Project{schema, true}}),
              IsOk());
  const auto read = TransactionOf(dataset, 2).ValueOrDie();
  const auto& project = std::get<operation::Project>(*read->operation);
  EXPECT_EQ(project.schema, schema);
  EXPECT_TRUE(project.preserves_nullability);
  const auto append = TransactionOf(dataset, 1).ValueOrDie();
  const auto& overwrite = std::get<operation::Overwrite>(*append->operation);
  EXPECT_EQ(overwrite.fragments.front().files().front().path, fragment.files().front().path);
}

}  // namespace
}  // namespace glaive
