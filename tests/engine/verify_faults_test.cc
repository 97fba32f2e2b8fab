#include <functional>
#include <memory>
#include <string>

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "glaive/repair.h"
#include "glaive/verify.h"
#include "glaive/write.h"
#include "io/memory_store.h"
#include "testing/faulty_store.h"
#include "testing/matchers.h"
#include "testing/uncounted_rows.h"

// A store that fails is not a table that is damaged.
namespace glaive {
namespace {

using glaive::testing::FaultyStore;
using glaive::testing::HookedStore;
using glaive::testing::IsOk;
using glaive::testing::StoreCall;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kUri = "unreadable://table";
constexpr uint64_t kFragments = 3;

std::shared_ptr<arrow::RecordBatchReader> Rows() {
  arrow::Int64Builder builder;
  for (int64_t i = 0; i < 30; ++i) EXPECT_TRUE(builder.Append(i).ok());
  const auto schema = arrow::schema({arrow::field("a", arrow::int64())});
  const auto batch = arrow::RecordBatch::Make(schema, 30, {builder.Finish().ValueOrDie()});
  return arrow::RecordBatchReader::Make({batch}, schema).ValueOrDie();
}

// Whoever opens one file is told that it may not be read.
class LockedFileStore final : public HookedStore {
 public:
  using HookedStore::HookedStore;

  arrow::Status Around(const StoreCall& call,
                       const std::function<arrow::Status()>& perform) override {
    const bool reads = call.kind == testing::StoreCallKind::kOpenRead;
    if (reads && !locked.empty() && call.path.ends_with(locked)) {
      return IOError({call.path}, "cannot open: Permission denied");
    }
    return perform();
  }

  std::string locked;
};

template <typename Store>
class Table {
 public:
  Table() : store_(std::make_shared<Store>(io::MakeMemoryStore())) {
    io::RegisterStore("unreadable", store_);
    WriteOptions options;
    options.limits.max_rows_per_file = 10;
    EXPECT_THAT(WriteDataset(Rows(), kUri, options), IsOk());
  }
  ~Table() { io::RegisterStore("unreadable", nullptr); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  Store& store() { return *store_; }

 private:
  std::shared_ptr<Store> store_;
};

TEST(VerifyFaultTest, AFileThatMayNotBeReadIsNotDamaged) {
  Table<LockedFileStore> table;
  const Dataset dataset = Dataset::Open(kUri).ValueOrDie();
  const FragmentMetadata fragment = FragmentAt(dataset, 1).ValueOrDie();
  table.store().locked = "/data/" + fragment.files().at(0).path;
  const VerifyReport report = Verify(kUri).ValueOrDie();
  EXPECT_FALSE(report.ok());
  EXPECT_FALSE(report.damaged());
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].kind, ErrorKind::kIO);
  EXPECT_EQ(report.findings[0].fragment_id, 1);
  EXPECT_EQ(report.num_fragments, kFragments);
  EXPECT_EQ(report.num_rows_decoded, 20);  // of the others
  EXPECT_EQ(report.Statement().find("damaged"), std::string::npos) << report.Statement();

  const RepairPlan plan = PlanRepair(kUri).ValueOrDie();
  EXPECT_THAT(plan.steps, IsEmpty());
  EXPECT_THAT(plan.left_alone, IsEmpty());
  ASSERT_THAT(plan.unread, SizeIs(1));
  EXPECT_NE(plan.unread[0].find("Permission denied"), std::string::npos) << plan.unread[0];
}

TEST(VerifyFaultTest, RowsThatTheManifestDoesNotCountAreDecoded) {
  Table<LockedFileStore> table;
  testing::ForgetRowCounts(table.store(), "/table", 10);
  const VerifyReport report = Verify(kUri).ValueOrDie();
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.num_rows, 30);
  EXPECT_EQ(report.num_rows_decoded, 30);
}

TEST(VerifyFaultTest, WhicheverCallFailsNothingIsCalledDamagedNorDropped) {
  uint64_t call = 0;
  for (;; ++call) {
    SCOPED_TRACE(call);
    Table<FaultyStore> table;
    table.store().FailAt(call);
    const auto report = Verify(kUri);
    if (!table.store().has_failed()) break;
    if (report.ok()) {
      EXPECT_FALSE(report->damaged()) << report->findings[0].message;
    } else {
      EXPECT_EQ(KindOf(report.status()), ErrorKind::kIO) << report.status().ToString();
    }
    table.store().FailAt(call);
    const auto plan = PlanRepair(kUri);
    if (plan.ok()) {
      EXPECT_THAT(plan->steps, IsEmpty());
    } else {
      EXPECT_EQ(KindOf(plan.status()), ErrorKind::kIO) << plan.status().ToString();
    }
  }
  EXPECT_GT(call, 10u);
}

}  // namespace
}  // namespace glaive
