#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "glaive/columns.h"
#include "glaive/commit.h"
#include "glaive/dataset.h"
#include "glaive/refs.h"
#include "glaive/repair.h"
#include "glaive/session.h"
#include "glaive/verify.h"
#include "glaive/write.h"
#include "io/memory_store.h"
#include "testing/counting_store.h"
#include "testing/matchers.h"

// Calls that take a table's URI use the session that they are given.
namespace glaive {
namespace {

using glaive::testing::CountingStore;
using glaive::testing::IsOk;

constexpr const char* kUri = "sessions://table";

using SessionPtr = std::shared_ptr<Session>;

struct Entry {
  const char* name;
  std::function<arrow::Status(const SessionPtr&)> call;
  uint64_t reads_when_warm = 0;  // of manifests
};
void PrintTo(const Entry& entry, std::ostream* out) { *out << entry.name; }

std::shared_ptr<arrow::RecordBatchReader> Rows() {
  arrow::Int64Builder builder;
  EXPECT_TRUE(builder.AppendValues({1, 2, 3}).ok());
  const auto schema = arrow::schema({arrow::field("a", arrow::int64())});
  const auto batch = arrow::RecordBatch::Make(schema, 3, {builder.Finish().ValueOrDie()});
  return arrow::RecordBatchReader::Make({batch}, schema).ValueOrDie();
}

WriteOptions Into(WriteMode mode, const SessionPtr& session) {
  WriteOptions options;
  options.mode = mode;
  options.session = session;
  return options;
}

Transaction EmptyAppend() {
  return {.read_version = 1, .operation = operation::Append{}, .uuid = "", .properties = {}};
}

const std::vector<Entry> kEntries = {
    {"Open",
     [](const SessionPtr& session) { return Dataset::Open(kUri, {.session = session}).status(); }},
    {"OpenVersion",
     [](const SessionPtr& session) {
       return Dataset::Open(kUri, {.version = 1, .session = session}).status();
     }},
    {"Append",
     [](const SessionPtr& session) {
       return WriteDataset(Rows(), kUri, Into(WriteMode::kAppend, session)).status();
     }},
    {"Overwrite",
     [](const SessionPtr& session) {
       return WriteDataset(Rows(), kUri, Into(WriteMode::kOverwrite, session)).status();
     }},
    {"WriteFragments",
     [](const SessionPtr& session) {
       return WriteFragments(Rows(), kUri, Into(WriteMode::kAppend, session)).status();
     }},
    {"WriteTransaction",
     [](const SessionPtr& session) {
       return WriteTransaction(Rows(), kUri, Into(WriteMode::kAppend, session)).status();
     }},
    {"CreateFragment",
     [](const SessionPtr& session) {
       return CreateFragment(Rows(), kUri, 0, Into(WriteMode::kAppend, session)).status();
     }},
    {"Commit",
     [](const SessionPtr& session) {
       CommitOptions options;
       options.session = session;
       return Commit(kUri, EmptyAppend(), options).status();
     }},
    {"CommitBatch",
     [](const SessionPtr& session) {
       CommitOptions options;
       options.session = session;
       const std::vector<Transaction> batch = {EmptyAppend(), EmptyAppend()};
       return CommitBatch(kUri, batch, options).status();
     }},
    {"CachedWriteTarget",
     [](const SessionPtr& session) {
       CloseCachedWriteTargets(kUri);
       CachedTargetOptions options;
       options.session = session;
       return CachedWriteTarget(kUri, options).status();
     }},
    {"SurveyFiles",
     [](const SessionPtr& session) { return SurveyFiles(kUri, {.session = session}).status(); }},
    // What is checked is read from the store, for its transaction and its rows as well.
    {"Verify",
     [](const SessionPtr& session) {
       VerifyOptions options;
       options.session = session;
       return Verify(kUri, options).status();
     },
     3},
};

class SessionEntryTest : public ::testing::TestWithParam<Entry> {
 protected:
  void SetUp() override {
    store_ = std::make_shared<CountingStore>(io::MakeMemoryStore());
    io::RegisterStore("sessions", store_);
    ASSERT_THAT(WriteDataset(Rows(), kUri), IsOk());
  }
  void TearDown() override { io::RegisterStore("sessions", nullptr); }

  uint64_t ManifestReads(const SessionPtr& session) {
    store_->Reset();
    EXPECT_THAT(GetParam().call(session), IsOk());
    uint64_t reads = 0;
    for (const auto& request : store_->requests()) {
      const bool is_read = request.kind == io::RequestKind::kGet;
      if (is_read && request.path.ends_with(".manifest")) reads += request.num_requests;
    }
    return reads;
  }

  std::shared_ptr<CountingStore> store_;
};

TEST_P(SessionEntryTest, UsesTheSessionItIsGiven) {
  const auto warm = std::make_shared<Session>();
  ASSERT_THAT(Dataset::Open(kUri, {.session = warm}), IsOk());
  EXPECT_EQ(ManifestReads(warm), GetParam().reads_when_warm);
}

TEST_P(SessionEntryTest, ReadsTheManifestWithoutIt) {
  EXPECT_GT(ManifestReads(std::make_shared<Session>()), GetParam().reads_when_warm);
}

INSTANTIATE_TEST_SUITE_P(Each, SessionEntryTest, ::testing::ValuesIn(kEntries),
                         [](const auto& each) { return each.param.name; });

TEST(RepairSessionTest, ARepairGivesAHandleOfTheSession) {
  const std::string uri = "memory://session_entries/repair";
  ASSERT_THAT(WriteDataset(Rows(), uri), IsOk());
  RepairOptions options;
  options.session = std::make_shared<Session>();
  const RepairPlan plan = PlanRepair(uri, options).ValueOrDie();
  EXPECT_EQ(options.session->size_bytes(), 0);  // what it found was read from the store
  EXPECT_EQ(SessionOf(*Repair(uri, plan, options).ValueOrDie()), options.session);
}

}  // namespace
}  // namespace glaive
