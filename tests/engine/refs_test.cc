#include "glaive/refs.h"
#include "glaive/history.h"

#include <algorithm>
#include <set>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "glaive/config.h"
#include "glaive/retention.h"
#include "io/memory_store.h"
#include "io/object_store.h"
#include "testing/faulty_store.h"
#include "testing/matchers.h"

namespace glaive {
namespace {

using glaive::testing::Fault;
using glaive::testing::FaultyStore;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::Key;

constexpr const char* kUri = "refs-test://t";

std::shared_ptr<arrow::RecordBatchReader> Rows(int64_t count) {
  arrow::Int64Builder a;
  for (int64_t i = 0; i < count; ++i) EXPECT_THAT(a.Append(i), IsOk());
  const auto rows = arrow::RecordBatch::Make(arrow::schema({arrow::field("a", arrow::int64())}),
                                             count, {a.Finish().ValueOrDie()});
  return arrow::RecordBatchReader::Make({rows}, rows->schema()).ValueOrDie();
}

// A table of three versions in a store that fails where it is told to.
class RefsTest : public ::testing::Test {
 protected:
  void SetUp() override { Begin(); }
  void TearDown() override { io::RegisterStore("refs-test", nullptr); }

  void Begin() {
    store_ = std::make_shared<FaultyStore>(io::MakeMemoryStore());
    io::RegisterStore("refs-test", store_);
    for (int version = 1; version <= 3; ++version) {
      ASSERT_THAT(WriteDataset(Rows(10), kUri, {.mode = WriteMode::kAppend}), IsOk());
    }
  }

  Dataset Latest() { return Dataset::Open(kUri).ValueOrDie(); }

  std::set<std::string> Paths() {
    std::set<std::string> paths;
    for (const auto& object : store_->ListRecursive(io::Resolve(kUri)->path).ValueOrDie()) {
      paths.insert(object.path);
    }
    return paths;
  }

  std::shared_ptr<FaultyStore> store_;
};

TEST_F(RefsTest, ABranchThatFailedCanBeMadeAgain) {
  for (const Fault fault : {Fault::kBeforeEffect, Fault::kAfterEffect}) {
    for (uint64_t call = 0;; ++call) {
      Begin();
      const Dataset dataset = Latest();
      store_->FailAt(call, fault);
      const auto branch = CreateBranch(dataset, "dev", uint64_t{2});
      const bool has_failed = store_->has_failed();
      store_->Disarm();
      EXPECT_THAT(Latest().CountRows(), IsOkAndHolds(30));
      const auto branches = ListBranches(dataset).ValueOrDie();
      if (branches.contains("dev")) {
        const auto opened = dataset.Checkout(BranchVersion{"dev", std::nullopt});
        ASSERT_THAT(opened, IsOk()) << "call " << call;
        EXPECT_THAT(opened->CountRows(), IsOkAndHolds(20));
      } else {
        ASSERT_THAT(DeleteBranch(dataset, "dev", /*force=*/true), IsOk());
        ASSERT_THAT(CreateBranch(dataset, "dev", uint64_t{2}), IsOk()) << "call " << call;
      }
      if (!has_failed) break;
    }
  }
}

TEST_F(RefsTest, ATagThatFailedIsThereWholeOrNotAtAll) {
  for (const Fault fault : {Fault::kBeforeEffect, Fault::kAfterEffect}) {
    for (uint64_t call = 0;; ++call) {
      Begin();
      const Dataset dataset = Latest();
      store_->FailAt(call, fault);
      const auto status = CreateTag(dataset, "t", uint64_t{1});
      const bool has_failed = store_->has_failed();
      store_->Disarm();
      const auto tags = ListTags(dataset).ValueOrDie();
      if (status.ok()) {
        EXPECT_THAT(tags, ElementsAre(Key("t")));
      }
      if (!has_failed) break;
    }
  }
}

// A slow clean-up has put the manifest back, and has yet to find that the files are gone.
TEST_F(RefsTest, AVersionWithoutItsFilesGetsNoTag) {
  const Dataset dataset = Latest();
  for (const std::string& path : Paths()) {
    const bool goes = path.find("/_transactions/1-") != std::string::npos ||
                      path.find("/data/") != std::string::npos;
    if (!goes) continue;
    ASSERT_THAT(store_->Delete(path), IsOk());
  }
  const auto refused = CreateTag(dataset, "two", uint64_t{2});
  EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, "went while tag two was made"));
  EXPECT_TRUE(IsRetryable(refused));
  EXPECT_THAT(ListTags(dataset).ValueOrDie(), ::testing::IsEmpty());
}

TEST_F(RefsTest, ACloneThatFailedLeavesNoTable) {
  constexpr const char* kClone = "refs-test://clone";
  for (uint64_t call = 0;; ++call) {
    Begin();
    const Dataset dataset = Latest();
    store_->FailAt(call);
    const auto clone = DeepClone(dataset, kClone, uint64_t{3});
    const bool has_failed = store_->has_failed();
    store_->Disarm();
    if (clone.ok()) {
      EXPECT_THAT(Dataset::Open(kClone)->CountRows(), IsOkAndHolds(30)) << "call " << call;
    } else {
      EXPECT_THAT(Dataset::Open(kClone), IsError(ErrorKind::kNotFound, "")) << "call " << call;
    }
    if (!has_failed) break;
  }
}

// Whatever call of it fails, every version that is still listed is whole, and the next clean-up
// ends where an undisturbed one does.
TEST_F(RefsTest, ACleanUpThatFailedIsFinishedByTheNext) {
  for (const Fault fault : {Fault::kBeforeEffect, Fault::kAfterEffect}) {
    for (uint64_t call = 0;; ++call) {
      Begin();
      ASSERT_THAT(CreateTag(Latest(), "keep", uint64_t{1}), IsOk());
      ASSERT_THAT(WriteDataset(Rows(5), kUri, {.mode = WriteMode::kOverwrite}), IsOk());
      const Dataset dataset = Latest();
      const CleanupOptions options{.error_if_tagged_old_versions = false};
      store_->FailAt(call, fault);
      const auto stats = CleanUp(dataset, options);
      const bool has_failed = store_->has_failed();
      store_->Disarm();
      EXPECT_THAT(Latest().CountRows(), IsOkAndHolds(5));
      EXPECT_THAT(dataset.Checkout(TagName{"keep"})->CountRows(), IsOkAndHolds(10));
      ASSERT_THAT(CleanUp(dataset, options), IsOk());
      EXPECT_THAT(VersionNumbers(dataset), IsOkAndHolds(ElementsAre(1, 4)));
      EXPECT_EQ(std::ranges::count_if(
                    Paths(), [](const std::string& path) { return path.ends_with(".lance"); }),
                2)
          << "call " << call;
      if (!has_failed) break;
    }
  }
}

TEST_F(RefsTest, BasesGetFilesByTurns) {
  const std::vector<DatasetBasePath> bases = {
      {.name = "plain", .path = "refs-test://plain"},
      {.name = "root", .is_dataset_root = true, .path = "refs-test://root"}};
  const auto written = WriteDataset(
      Rows(40), "refs-test://based",
      {.limits = {.max_rows_per_file = 10}, .initial_bases = bases, .target_all_bases = true});
  ASSERT_THAT(written, IsOk());
  std::vector<std::optional<uint32_t>> ids;
  for (const auto& fragment : written->dataset.Fragments().ValueOrDie()) {
    ids.push_back(fragment.files()[0].base_id);
  }
  EXPECT_THAT(ids, ElementsAre(std::nullopt, 1, 2, std::nullopt));
  EXPECT_THAT(written->dataset.CountRows(), IsOkAndHolds(40));
  EXPECT_THAT(Validate(written->dataset), IsOk());
}

TEST_F(RefsTest, AWriteToABaseThatFailedLeavesNothing) {
  const std::vector<DatasetBasePath> bases = {{.name = "b", .path = "refs-test://elsewhere"}};
  for (uint64_t call = 0;; ++call) {
    Begin();
    const auto before = store_->ListRecursive("/").ValueOrDie().size();
    store_->FailAt(call);
    const auto written = WriteDataset(
        Rows(40), "refs-test://based",
        {.limits = {.max_rows_per_file = 10}, .initial_bases = bases, .target_bases = {"b"}});
    const bool has_failed = store_->has_failed();
    store_->Disarm();
    if (!written.ok()) {
      EXPECT_EQ(store_->ListRecursive("/").ValueOrDie().size(), before) << "call " << call;
    }
    if (!has_failed) break;
  }
}

}  // namespace
}  // namespace glaive
