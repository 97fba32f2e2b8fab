#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "glaive/columns.h"
#include "glaive/compaction.h"
#include "glaive/history.h"
#include "glaive/retention.h"
#include "glaive/rows.h"
#include "glaive/scan.h"
#include "glaive/session.h"
#include "glaive/write.h"
#include "io/memory_store.h"
#include "testing/matchers.h"
#include "testing/numbered_rows.h"
#include "testing/uncounted_rows.h"

// Old writers did not say in the manifest how many rows a fragment has, nor how many a deletion
// file deletes: the files do.
namespace glaive {
namespace {

using glaive::testing::ForgetRowCounts;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::IsOkAndHolds;
using glaive::testing::NumberedRows;
using ::testing::ElementsAre;

constexpr const char* kUri = "uncounted://table";
constexpr uint8_t kRows = 20;    // of each of three fragments
constexpr uint8_t kDeleted = 3;  // of the second: those from 21 on

class UncountedRowsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    io::RegisterStore("uncounted", store_);
    const auto rows = NumberedRows(0, 60);
    const auto stream = arrow::RecordBatchReader::Make({rows}, rows->schema()).ValueOrDie();
    const auto written = WriteDataset(stream, kUri, {.limits = {.max_rows_per_file = kRows}});
    ASSERT_THAT(written, IsOk());
    ASSERT_THAT(Delete(written->dataset, Predicate::Sql("a >= 21 AND a < 24")), IsOk());
    ForgetRowCounts(*store_, "/table", kRows, kDeleted);
  }
  void TearDown() override { io::RegisterStore("uncounted", nullptr); }

  static Dataset Open() {
    return Dataset::Open(kUri, {.session = std::make_shared<Session>()}).ValueOrDie();
  }

  static std::vector<FragmentRows> RowsOfFragments(const Dataset& dataset) {
    std::vector<FragmentRows> rows;
    for (const FragmentMetadata& fragment : dataset.Fragments().ValueOrDie()) {
      rows.push_back(RowsOfFragment(dataset, fragment).ValueOrDie());
    }
    return rows;
  }

  // The column a, as a scan with these options gives it.
  static std::vector<int64_t> Scanned(const Dataset& dataset, ScanOptions options = {}) {
    options.columns = {"a"};
    const auto stream = Scan(dataset, options).ValueOrDie();
    std::vector<int64_t> values;
    while (const auto batch = stream->Next().ValueOrDie()) {
      const auto& column = static_cast<const arrow::Int64Array&>(*batch->column(0));
      values.insert(values.end(), column.raw_values(), column.raw_values() + column.length());
    }
    return values;
  }

  static std::vector<int64_t> Without(int64_t begin, int64_t end) {
    std::vector<int64_t> values;
    for (int64_t a = 0; a < 60; ++a) {
      if (a < begin || a >= end) values.push_back(a);
    }
    return values;
  }

  std::shared_ptr<io::ObjectStore> store_ = io::MakeMemoryStore();
};

TEST_F(UncountedRowsTest, FragmentsAreCountedByTheirFiles) {
  const Dataset dataset = Open();
  EXPECT_EQ(FragmentAt(dataset, 1)->physical_rows(), 0);  // what the manifest says
  EXPECT_EQ(FragmentAt(dataset, 1)->num_rows(), 0);
  const auto rows = RowsOfFragments(dataset);
  ASSERT_EQ(rows.size(), 3);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(rows[i].physical, kRows);
    EXPECT_EQ(rows[i].deleted, i == 1 ? kDeleted : 0);
    EXPECT_EQ(rows[i].live(), i == 1 ? 17 : 20);
  }
  EXPECT_THAT(dataset.CountRows(), IsOkAndHolds(57));
  EXPECT_EQ(CountSmallFragments(dataset, 20), 0);
  EXPECT_EQ(CountSmallFragments(dataset, 21), 3);
  EXPECT_EQ(VersionInfoOf(dataset).metadata.at("total_rows"), "0");
}

TEST_F(UncountedRowsTest, AMissingFileIsNamed) {
  const Dataset dataset = Open();
  const FragmentMetadata fragment = FragmentAt(dataset, 0).ValueOrDie();
  const std::string path = fragment.files()[0].path;
  ASSERT_THAT(store_->Delete("/table/data/" + path), IsOk());
  EXPECT_THAT(RowsOfFragment(dataset, fragment), IsError(ErrorKind::kFileNotFound, path));
  EXPECT_THAT(dataset.CountRows(), IsError(ErrorKind::kFileNotFound, path));
}

TEST_F(UncountedRowsTest, ReadsFindTheirRows) {
  const Dataset dataset = Open();
  EXPECT_EQ(Scanned(dataset), Without(21, 24));
  EXPECT_THAT(Scanned(dataset, {.limit = 3, .offset = 20}), ElementsAre(20, 24, 25));
  const std::vector<uint64_t> offsets = {0, 20, 21, 56};
  const auto taken = Take(dataset, offsets, {.columns = {{"a"}}}).ValueOrDie();
  const auto& values = static_cast<const arrow::Int64Array&>(*taken->column(0)->chunk(0));
  EXPECT_THAT((std::vector<int64_t>{values.raw_values(), values.raw_values() + values.length()}),
              ElementsAre(0, 20, 24, 59));
}

TEST_F(UncountedRowsTest, DeletesAndUpdatesChangeTheirRows) {
  const auto deleted = Delete(Open(), Predicate::Sql("a < 30"));
  ASSERT_THAT(deleted, IsOk());
  EXPECT_EQ(Scanned(deleted->dataset), Without(0, 30));
  EXPECT_THAT(deleted->dataset.CountRows(), IsOkAndHolds(30));
  EXPECT_EQ(deleted->dataset.num_fragments(), 2);  // the first has no row left

  const std::vector<ColumnUpdate> updates = {{"s", "'new'"}};
  const auto updated = Update(deleted->dataset, updates, Predicate::Sql("a >= 50"));
  ASSERT_THAT(updated, IsOk());
  EXPECT_EQ(updated->num_updated_rows, 10);
  EXPECT_THAT(updated->dataset.CountRows(), IsOkAndHolds(30));
  EXPECT_THAT(CountRows(updated->dataset, {.filter = Predicate::Sql("s = 'new'")}),
              IsOkAndHolds(10));
}

TEST_F(UncountedRowsTest, CompactionKeepsTheirRows) {
  const auto compacted = CompactFiles(Open(), {.target_rows_per_fragment = 100});
  ASSERT_THAT(compacted, IsOk());
  EXPECT_EQ(Scanned(compacted->dataset), Without(21, 24));
  const auto rows = RowsOfFragments(compacted->dataset);
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0].physical, 57);
}

TEST_F(UncountedRowsTest, ACompactionLeavesThoseThatAreLargeEnough) {
  const CompactionOptions options = {.target_rows_per_fragment = 20,
                                     .materialize_deletions = false};
  EXPECT_EQ(PlanCompaction(Open(), options)->tasks.size(), 0);
}

}  // namespace
}  // namespace glaive
