#include "glaive/session.h"

#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <arrow/api.h>
#include <arrow/util/logging.h>
#include <gtest/gtest.h>

#include "glaive/commit.h"
#include "glaive/compaction.h"
#include "glaive/retention.h"
#include "glaive/write.h"
#include "testing/matchers.h"

namespace glaive {
namespace {

using glaive::testing::IsOk;
using glaive::testing::IsOkAndHolds;

const WriteOptions kAppend = {.mode = WriteMode::kAppend};

std::shared_ptr<arrow::RecordBatchReader> Rows(int64_t count) {
  arrow::Int64Builder a;
  for (int64_t i = 0; i < count; ++i) ARROW_CHECK_OK(a.Append(i));
  const auto schema = arrow::schema({arrow::field("a", arrow::int64())});
  const auto batch =
      arrow::RecordBatch::Make(schema, count, arrow::ArrayVector{a.Finish().ValueOrDie()});
  return arrow::RecordBatchReader::Make({batch}, schema).ValueOrDie();
}

std::string Uri(int i = 0) {
  return std::string("memory://session_test/") +
         ::testing::UnitTest::GetInstance()->current_test_info()->name() + "/" + std::to_string(i);
}

void Create(const std::string& uri, int64_t rows) { ARROW_CHECK_OK(WriteDataset(Rows(rows), uri)); }

// Of so many fragments, all of one file.
Dataset CreateWithFragments(const std::string& uri, size_t count) {
  Create(uri, 1);
  const auto one = WriteFragments(Rows(1), uri, kAppend).ValueOrDie();
  const std::vector<FragmentMetadata> fragments(count, one.at(0));
  return Commit(uri, Transaction{.read_version = 1, .operation = operation::Append{fragments}})
      .ValueOrDie();
}

TEST(SessionTest, HoldsNoMoreThanItsBytes) {
  constexpr uint64_t kBytes = uint64_t{1} << 20;
  CreateWithFragments(Uri(), 20'000);
  const auto session = std::make_shared<Session>(kBytes);
  const Dataset large = Dataset::Open(Uri(), {.session = session}).ValueOrDie();
  EXPECT_EQ(large.num_fragments(), 20'001u);
  EXPECT_LT(session->size_bytes(), kBytes);

  // Many that fit, one by one, do not fit together.
  for (int i = 1; i <= 200; ++i) {
    Create(Uri(i), 1);
    const Dataset small = Dataset::Open(Uri(i), {.session = session}).ValueOrDie();
    EXPECT_THAT(small.CountRows(), IsOkAndHolds(1));
    EXPECT_THAT(WriteFragments(Rows(1), small, kAppend), IsOk());
    EXPECT_GT(session->size_bytes(), 0u);
    EXPECT_LE(session->size_bytes(), kBytes);
  }
  EXPECT_EQ(large.num_fragments(), 20'001u);  // a handle keeps what it has
}

TEST(SessionTest, ATableMadeAnewIsNotTheOneBefore) {
  const auto session = std::make_shared<Session>();
  WriteOptions options = kAppend;
  options.session = session;
  for (int64_t rows = 1; rows < 4; ++rows) {
    Create(Uri(), rows);
    EXPECT_THAT(Dataset::Open(Uri(), {.session = session})->CountRows(), IsOkAndHolds(rows));
    EXPECT_THAT(WriteFragments(Rows(1), Uri(), options), IsOk());
    ASSERT_THAT(DropDataset(Uri()), IsOk());
  }
}

TEST(SessionTest, HandlesKnowTheirs) {
  Create(Uri(), 1);
  const auto session = std::make_shared<Session>();
  const Dataset dataset = Dataset::Open(Uri(), {.session = session}).ValueOrDie();
  EXPECT_EQ(SessionOf(dataset), session);
  EXPECT_EQ(SessionOf(WriteDataset(Rows(1), dataset, kAppend)->dataset), session);
  EXPECT_EQ(SessionOf(*dataset.CheckoutLatest()), session);
  EXPECT_EQ(SessionOf(*Dataset::Open(Uri())), Session::Default());
}

// What a compaction reads goes away with it, so none of it takes the place of what others use.
TEST(SessionTest, ACompactionLeavesNoFilesInIt) {
  WriteOptions options;
  options.limits.max_rows_per_file = 1;
  ASSERT_THAT(WriteDataset(Rows(200), Uri(), options), IsOk());
  const auto session = std::make_shared<Session>();
  const Dataset dataset = Dataset::Open(Uri(), {.session = session}).ValueOrDie();
  const uint64_t before = session->size_bytes();
  const auto compacted = CompactFiles(dataset, {});
  ASSERT_THAT(compacted, IsOk());
  EXPECT_EQ(compacted->metrics.fragments_removed, 200u);
  EXPECT_LT(session->size_bytes(), before + 200 * 200);
}

TEST(SessionTest, ThreadsShareOne) {
  constexpr uint64_t kBytes = 20'000;
  for (int i = 0; i < 8; ++i) Create(Uri(i), i + 1);
  const auto session = std::make_shared<Session>(kBytes);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 100; ++round) {
        const int i = (round + t) % 8;
        const auto dataset = Dataset::Open(Uri(i), {.session = session});
        ASSERT_THAT(dataset, IsOk());
        EXPECT_THAT(dataset->CountRows(), IsOkAndHolds(i + 1));
        EXPECT_LE(session->size_bytes(), kBytes);
      }
    });
  }
}

TEST(SessionTest, AForkedChildGoesOn) {
  Create(Uri(), 3);
  const auto session = std::make_shared<Session>();
  ASSERT_THAT(Dataset::Open(Uri(), {.session = session}), IsOk());
  const uint64_t held = session->size_bytes();
  const pid_t child = fork();
  if (child == 0) {
    const auto dataset = Dataset::Open(Uri(), {.session = session});
    const bool kept = session->size_bytes() == held;
    _exit(dataset.ok() && kept && *dataset->CountRows() == 3 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace glaive
