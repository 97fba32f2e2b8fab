// How verbs end: what they report of a version that is published, and what they do where another
// writer was faster.
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>
#include <arrow/util/logging.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "glaive/columns.h"
#include "glaive/compaction.h"
#include "glaive/retention.h"
#include "glaive/rows.h"
#include "glaive/scan.h"
#include "glaive/session.h"
#include "glaive/write.h"
#include "io/memory_store.h"
#include "io/object_store.h"
#include "testing/hooked_store.h"
#include "testing/matchers.h"
#include "testing/numbered_rows.h"

namespace glaive {
namespace {

using glaive::testing::HookedStore;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::NumberedRows;
using glaive::testing::StoreCall;
using glaive::testing::StoreCallKind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kUri[] = "verbs://table";

// Runs functions one by one, each right before a manifest is put.
class BeforePuts final : public HookedStore {
 public:
  using HookedStore::HookedStore;

  void Add(std::function<void()> run) { waiting_.push_back(std::move(run)); }
  bool has_run() const { return waiting_.empty(); }

  arrow::Status Around(const StoreCall& call,
                       const std::function<arrow::Status()>& perform) override {
    const bool is_manifest =
        call.kind == StoreCallKind::kPutIfAbsent && call.path.ends_with(".manifest");
    if (is_manifest && !is_running_ && !waiting_.empty()) {
      const auto run = std::move(waiting_.front());
      waiting_.erase(waiting_.begin());
      is_running_ = true;
      run();
      is_running_ = false;
    }
    return perform();
  }

 private:
  std::vector<std::function<void()>> waiting_;
  bool is_running_ = false;
};

std::shared_ptr<arrow::RecordBatchReader> Rows(int64_t begin, int64_t end) {
  const auto rows = NumberedRows(begin, end);
  return arrow::RecordBatchReader::Make({rows}, rows->schema()).ValueOrDie();
}

class CommitVerbTest : public ::testing::Test {
 protected:
  CommitVerbTest() { io::RegisterStore("verbs", store_); }
  ~CommitVerbTest() override { io::RegisterStore("verbs", nullptr); }

  static Dataset Open() {
    return Dataset::Open(kUri, {.session = std::make_shared<Session>()}).ValueOrDie();
  }

  static arrow::Result<WriteResult> Write(int64_t begin, int64_t end, WriteMode mode) {
    return WriteDataset(
        Rows(begin, end), kUri,
        {.mode = mode, .limits = {.max_rows_per_file = 5}, .session = std::make_shared<Session>()});
  }

  static std::set<int64_t> Numbers() {
    std::set<int64_t> numbers;
    auto stream = Scan(Open(), {.columns = {{"a"}}}).ValueOrDie();
    const auto table =
        ToReader(std::move(stream))->ToTable().ValueOrDie()->CombineChunks().ValueOrDie();
    for (int64_t row = 0; row < table->num_rows(); ++row) {
      const auto value = table->column(0)->GetScalar(row).ValueOrDie();
      EXPECT_TRUE(numbers.insert(std::stoll(value->ToString())).second);
    }
    return numbers;
  }

  static std::set<int64_t> Range(int64_t begin, int64_t end) {
    std::set<int64_t> numbers;
    for (int64_t i = begin; i < end; ++i) numbers.insert(i);
    return numbers;
  }

  // In all manifests, which are changed in place, as nobody but a test does.
  void ReplaceInManifests(const std::string& from, const std::string& to) {
    ASSERT_EQ(from.size(), to.size());
    for (const auto& file : memory_->List("/table/_versions").ValueOrDie()) {
      if (!file.path.ends_with(".manifest")) continue;
      std::string bytes = memory_->ReadWhole(file.path).ValueOrDie()->ToString();
      for (size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from)) {
        bytes.replace(at, from.size(), to);
      }
      ASSERT_THAT(memory_->Put(file.path, std::as_bytes(std::span(bytes))), IsOk());
    }
  }

  // What a newer build does that knows one more type.
  void AddColumnOfUnknownType() {
    const auto schema =
        arrow::schema({arrow::field("n", arrow::duration(arrow::TimeUnit::SECOND))});
    ASSERT_THAT(AddColumns(Open(), NullColumns{schema}).status(), IsOk());
    ReplaceInManifests("duration:s", "duration:?");
  }

  const std::shared_ptr<io::ObjectStore> memory_ = io::MakeMemoryStore();
  const std::shared_ptr<BeforePuts> store_ = std::make_shared<BeforePuts>(memory_);
};

TEST_F(CommitVerbTest, ACompactionThatIsPublishedKeepsItsFiles) {
  ASSERT_THAT(Write(0, 30, WriteMode::kCreate).status(), IsOk());
  const Dataset table = Open();
  store_->Add([&] { AddColumnOfUnknownType(); });
  EXPECT_THAT(CompactFiles(table).status(), IsError(ErrorKind::kCommitUnknown, "version 3"));
  ReplaceInManifests("duration:?", "duration:s");
  EXPECT_EQ(Open().version(), 3u);
  EXPECT_EQ(Numbers(), Range(0, 30));
  EXPECT_THAT(Validate(Open()), IsOk());
}

TEST_F(CommitVerbTest, AnAppendThatIsPublishedIsNoFailure) {
  ASSERT_THAT(Write(0, 5, WriteMode::kCreate).status(), IsOk());
  const Dataset table = Open();
  store_->Add([&] { AddColumnOfUnknownType(); });
  EXPECT_THAT(WriteDataset(Rows(5, 10), table, {.mode = WriteMode::kAppend}).status(),
              IsError(ErrorKind::kCommitUnknown, "version 3"));
  ReplaceInManifests("duration:?", "duration:s");
  EXPECT_EQ(Numbers(), Range(0, 10));
}

TEST_F(CommitVerbTest, WhoeverMakesTheTableAllAppendsAreThere) {
  store_->Add([&] { EXPECT_THAT(Write(0, 5, WriteMode::kAppend).status(), IsOk()); });
  store_->Add([&] { EXPECT_THAT(Write(5, 10, WriteMode::kAppend).status(), IsOk()); });
  EXPECT_THAT(Write(10, 15, WriteMode::kAppend).status(), IsOk());
  EXPECT_TRUE(store_->has_run());
  EXPECT_EQ(Numbers(), Range(0, 15));
  EXPECT_EQ(Open().version(), 3u);
  EXPECT_THAT(Validate(Open()), IsOk());
}

TEST_F(CommitVerbTest, OverwritesOfAPathWithoutATableAllSucceed) {
  store_->Add([&] { EXPECT_THAT(Write(0, 5, WriteMode::kOverwrite).status(), IsOk()); });
  store_->Add([&] { EXPECT_THAT(Write(5, 10, WriteMode::kOverwrite).status(), IsOk()); });
  EXPECT_THAT(Write(10, 15, WriteMode::kOverwrite).status(), IsOk());
  EXPECT_TRUE(store_->has_run());
  EXPECT_EQ(Numbers(), Range(10, 15));
  EXPECT_EQ(Open().version(), 3u);
}

TEST_F(CommitVerbTest, CreationsBesideACreatorAreRefused) {
  store_->Add([&] { EXPECT_THAT(Write(0, 5, WriteMode::kAppend).status(), IsOk()); });
  EXPECT_THAT(Write(5, 10, WriteMode::kCreate).status(),
              IsError(ErrorKind::kAlreadyExists, "already exists"));
  EXPECT_EQ(Numbers(), Range(0, 5));
}

TEST_F(CommitVerbTest, AppendsToATableOfOtherColumnsAreNotMade) {
  store_->Add([&] {
    const auto rows = NumberedRows(0, 5, /*with_text=*/false)->RenameColumns({"b"}).ValueOrDie();
    EXPECT_THAT(WriteDataset(arrow::RecordBatchReader::Make({rows}, rows->schema()).ValueOrDie(),
                             kUri, {.session = std::make_shared<Session>()})
                    .status(),
                IsOk());
  });
  const auto refused = Write(5, 10, WriteMode::kAppend).status();
  EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, "column 'a' is no longer"));
  EXPECT_TRUE(IsRetryable(refused));
  EXPECT_EQ(Open().version(), 1u);
  EXPECT_EQ(memory_->List("/table/data").ValueOrDie().size(), 1u);
}

TEST_F(CommitVerbTest, OnlyTracesOfVersionsAreDamage) {
  const std::string sibling = "the file of a sibling that is still at work";
  const auto bytes = std::as_bytes(std::span(sibling));
  ASSERT_THAT(memory_->Put("/table/data/other.lance", bytes), IsOk());
  ASSERT_THAT(memory_->Put("/table/_transactions/0-uuid.txn", bytes), IsOk());
  EXPECT_THAT(Write(0, 5, WriteMode::kAppend).status(), IsOk());
  EXPECT_EQ(Numbers(), Range(0, 5));

  for (const char* const trace :
       {"_transactions/1-uuid.txn", "_deletions/0-1-2.arrow", "_indices/uuid/index.idx",
        "_refs/tags/t.json", "_versions/latest_version_hint.json"}) {
    SCOPED_TRACE(trace);
    ASSERT_THAT(memory_->DeleteFolder("/table"), IsOk());
    ASSERT_THAT(memory_->Put("/table/data/other.lance", bytes), IsOk());
    ASSERT_THAT(memory_->Put("/table/" + std::string(trace), bytes), IsOk());
    EXPECT_THAT(Write(0, 5, WriteMode::kAppend).status(),
                IsError(ErrorKind::kInvalidInput, "the table is damaged"));
  }
}

TEST_F(CommitVerbTest, AnAppendFollowsATableWhoseVersionsWereCleaned) {
  ASSERT_THAT(Write(0, 5, WriteMode::kCreate).status(), IsOk());
  const Dataset stale = Open();
  ASSERT_THAT(Write(5, 10, WriteMode::kAppend).status(), IsOk());
  ASSERT_THAT(Write(10, 15, WriteMode::kAppend).status(), IsOk());
  ASSERT_THAT(CleanUp(Open(), {.older_than_ns = 0}).status(), IsOk());
  EXPECT_THAT(WriteDataset(Rows(15, 20), stale, {.mode = WriteMode::kAppend}).status(), IsOk());
  EXPECT_EQ(Numbers(), Range(0, 20));
}

// The data file of the table that is gone is still open in the session.
TEST_F(CommitVerbTest, ADeleteDoesNotGoOnInAnotherTable) {
  ASSERT_THAT(Write(0, 5, WriteMode::kCreate).status(), IsOk());
  const Dataset stale = Open();
  EXPECT_THAT(ToReader(Scan(stale, {}).ValueOrDie())->ToTable().status(), IsOk());
  ASSERT_THAT(memory_->DeleteFolder("/table"), IsOk());
  ASSERT_THAT(Write(0, 5, WriteMode::kCreate).status(), IsOk());
  ASSERT_THAT(Write(5, 10, WriteMode::kAppend).status(), IsOk());
  ASSERT_THAT(CleanUp(Open(), {.older_than_ns = 0}).status(), IsOk());
  const auto refused = Delete(stale, Predicate::Sql("a = 1")).status();
  EXPECT_FALSE(refused.ok());
  EXPECT_EQ(Numbers(), Range(0, 10));
  EXPECT_EQ(Open().version(), 2u);
}

}  // namespace
}  // namespace glaive
