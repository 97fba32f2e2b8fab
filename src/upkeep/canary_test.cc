#include "glaive/maintain.h"
#include "glaive/rows.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "glaive/refs.h"
#include "glaive/scan.h"
#include "glaive/verify.h"
#include "glaive/write.h"
#include "testing/matchers.h"
#include "testing/numbered_rows.h"
#include "testing/temporary_folder.h"

namespace glaive {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::NumberedRows;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Four fragments of ten rows, of the first of which two are deleted.
class CanaryTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    const auto rows = NumberedRows(0, 40);
    const auto stream = arrow::RecordBatchReader::Make({rows}, rows->schema()).ValueOrDie();
    const auto written = WriteDataset(
        stream, uri(), {.limits = {.max_rows_per_file = 10}, .enable_stable_row_ids = GetParam()});
    ASSERT_THAT(written, IsOk());
    ASSERT_THAT(Delete(written->dataset, Predicate::Sql("a IN (3, 4)")), IsOk());
  }

  const std::string& uri() const { return folder_.path(); }
  Dataset Open() const { return Dataset::Open(uri()).ValueOrDie(); }

  std::vector<std::filesystem::path> FilesIn(const std::string& name) const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(uri() + "/" + name)) {
      files.push_back(entry.path());
    }
    return files;
  }

 private:
  testing::TemporaryFolder folder_;
};

// Every byte of the value that row `row` has in the last file, "row 17" or so, becomes an 'X'.
void Tamper(const std::filesystem::path& path, const std::string& text) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  const size_t at = bytes.find(text);
  ASSERT_NE(at, std::string::npos);
  std::ofstream(path, std::ios::binary) << bytes.replace(at, text.size(), text.size(), 'X');
}

TEST_P(CanaryTest, PublishesWhatIsTheSame) {
  const Dataset before = Open();
  const auto compacted = CompactWithCanary(before);
  ASSERT_THAT(compacted, IsOk());
  EXPECT_EQ(compacted->canary.rows, 38);
  EXPECT_EQ(compacted->canary.old_fragments, 4);
  EXPECT_EQ(compacted->canary.new_fragments, 1);
  EXPECT_EQ(compacted->compaction.metrics.fragments_removed, 4);
  EXPECT_EQ(Open().num_fragments(), 1);
  EXPECT_EQ(ContentOf(Open())->rows, ContentOf(before)->rows);
  for (const auto& file : FilesIn("_versions")) {
    EXPECT_FALSE(file.filename().string().starts_with("d")) << file;
  }
}

TEST_P(CanaryTest, AFileThatWasTamperedWithStopsIt) {
  const Dataset before = Open();
  const auto plan = PlanCompaction(before);
  ASSERT_THAT(plan, IsOk());
  const auto result = ExecuteCompaction(before, plan->tasks.at(0));
  ASSERT_THAT(result, IsOk());
  const std::string name = result->new_fragments.at(0).files().at(0).path;
  Tamper(uri() + "/data/" + name, "row 17");
  const size_t num_manifests = FilesIn("_versions").size();
  const size_t num_transactions = FilesIn("_transactions").size();
  const std::vector<RewriteResult> results = {*result};

  const auto checked = CheckRewrites(before, results);

  EXPECT_THAT(checked, IsError(ErrorKind::kCorrupt, "data/" + name));
  EXPECT_THAT(checked, IsError(ErrorKind::kCorrupt, "fragment 1 row 7"));
  EXPECT_THAT(checked, IsError(ErrorKind::kCorrupt, "column s: row 17 | XXXXXX"));
  EXPECT_THAT(FilesIn("_versions"), SizeIs(num_manifests));
  EXPECT_THAT(FilesIn("_transactions"), SizeIs(num_transactions));
  EXPECT_EQ(Open().version(), before.version());
}

// The callback is called between the tasks and the comparison, too.
TEST_P(CanaryTest, NothingIsLeftOfACompactionThatWasStopped) {
  const Dataset before = Open();
  const auto files_before = FilesIn("data");
  CompactionOptions options;
  bool done = false;
  options.version.progress = [&](const Progress&) {
    const auto files = FilesIn("data");
    if (done || files.size() == files_before.size()) return arrow::Status::OK();
    for (const auto& file : files) {
      if (std::ranges::find(files_before, file) != files_before.end()) continue;
      std::ifstream in(file, std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(in), {});
      if (!bytes.ends_with("LANC") || bytes.find("row 17") == std::string::npos) continue;
      Tamper(file, "row 17");
      done = true;
    }
    return arrow::Status::OK();
  };
  EXPECT_THAT(CompactWithCanary(before, options), IsError(ErrorKind::kCorrupt, "row 17 | XXXXXX"));
  EXPECT_TRUE(done);
  EXPECT_THAT(FilesIn("data"), SizeIs(files_before.size()));
  EXPECT_EQ(Open().version(), before.version());
}

TEST_P(CanaryTest, WhatIsMissingIsNamed) {
  const Dataset before = Open();
  const auto plan = PlanCompaction(before);
  const auto result = ExecuteCompaction(before, plan->tasks.at(0));
  ASSERT_THAT(result, IsOk());
  std::filesystem::remove(uri() + "/data/" + result->new_fragments.at(0).files().at(0).path);
  EXPECT_THAT(CheckRewrites(before, std::vector{*result}),
              IsError(ErrorKind::kFileNotFound, "data/"));
}

INSTANTIATE_TEST_SUITE_P(RowIds, CanaryTest, ::testing::Bool(), [](const auto& param_info) {
  return std::string(param_info.param ? "Stable" : "Addresses");
});

}  // namespace
}  // namespace glaive
