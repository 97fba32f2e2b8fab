#include "glaive/maintain.h"
#include "glaive/history.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "glaive/config.h"
#include "glaive/refs.h"
#include "glaive/rows.h"
#include "glaive/scan.h"
#include "glaive/verify.h"
#include "glaive/write.h"
#include "testing/matchers.h"
#include "testing/numbered_rows.h"
#include "testing/temporary_folder.h"

namespace glaive {
namespace {

namespace fs = std::filesystem;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::NumberedRows;

std::shared_ptr<arrow::RecordBatchReader> Rows(int64_t begin, int64_t end) {
  const auto rows = NumberedRows(begin, end);
  return arrow::RecordBatchReader::Make({rows}, rows->schema()).ValueOrDie();
}

// Eight fragments of ten rows in version 1; the first row is deleted in version 2.
class MaintainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto written = WriteDataset(Rows(0, 80), uri(), {.limits = {.max_rows_per_file = 10}});
    ASSERT_THAT(written, IsOk());
    ASSERT_THAT(Delete(written->dataset, Predicate::Sql("a = 0")), IsOk());
  }

  const std::string& uri() const { return folder_.path(); }
  Dataset Open() const { return Dataset::Open(uri()).ValueOrDie(); }

  // A file that no version refers to, so many days old.
  void AddOrphan(const std::string& name, int days) const {
    const fs::path path = uri() + "/data/" + name + ".lance";
    std::ofstream(path) << "0123456789";
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(24 * days));
  }

  // All files, with their content.
  std::map<std::string, std::string> Tree() const {
    std::map<std::string, std::string> tree;
    for (const auto& entry : fs::recursive_directory_iterator(uri())) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      tree[entry.path().string()] = std::string(std::istreambuf_iterator<char>(in), {});
    }
    return tree;
  }

 private:
  testing::TemporaryFolder folder_;
};

// Four tasks of two fragments, each committed by itself.
MaintenanceOptions ByTasks() {
  MaintenanceOptions options = {.commit_interval_ns = 0, .older_than_ns = 0};
  options.compaction.target_rows_per_fragment = 18;
  return options;
}

TEST_F(MaintainTest, ProgressTellsBytes) {
  MaintenanceOptions options = ByTasks();
  uint64_t most = 0;
  options.version.progress = [&](const Progress& progress) {
    most = std::max(most, progress.bytes);
    return arrow::Status::OK();
  };
  options.clean_up = false;
  options.older_than_ns = std::nullopt;
  options.sweep = false;
  const auto report = Maintain(Open(), options);
  ASSERT_THAT(report, IsOk());
  EXPECT_GT(most, 0u);
  EXPECT_LE(most, report->compaction.written.bytes);
}

TEST_F(MaintainTest, RefusesWhatWouldHaveNoEffect) {
  const auto refused = [&](const MaintenanceOptions& options) {
    const auto report = Maintain(Open(), options);
    EXPECT_THAT(report, IsError(ErrorKind::kInvalidInput, "has no effect"));
    return report.status().message();
  };
  EXPECT_EQ(refused({.compact = false, .canary = true}), "canary has no effect without compact");
  EXPECT_EQ(refused({.canary = true, .dry_run = true}), "canary has no effect with dry_run");
  EXPECT_EQ(refused({.clean_up = false, .older_than_ns = 0}),
            "older_than has no effect without cleanup");
  EXPECT_EQ(refused({.sweep = false, .orphan_age_ns = 0}),
            "orphan_age has no effect without sweep");
}

TEST_F(MaintainTest, DoesAllSteps) {
  AddOrphan("old", 8);
  AddOrphan("young", 6);
  const auto content = ContentOf(Open());
  const auto report = Maintain(Open(), {.older_than_ns = 0});
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(StatusOf(*report), IsOk());
  EXPECT_EQ(report->version_before, 2);
  EXPECT_EQ(report->compaction.outcome, StepOutcome::kDone);
  EXPECT_EQ(report->compaction.done.fragments, 8);
  EXPECT_EQ(report->compaction.done.rows, 79);
  EXPECT_EQ(report->compaction.metrics.fragments_added, 1);
  EXPECT_EQ(report->cleanup.removed.old_versions, 2);
  EXPECT_EQ(report->cleanup.removed.data_files_removed, 8);
  EXPECT_EQ(report->sweep.removed.data_files_removed, 1);
  EXPECT_EQ(report->sweep.removed.bytes_removed, 10);
  EXPECT_EQ(report->sweep.young_files, 1);
  EXPECT_TRUE(fs::exists(uri() + "/data/young.lance"));
  EXPECT_EQ(Open().version(), report->dataset.version());
  EXPECT_EQ(ContentOf(Open())->rows, content->rows);

  const auto again = Maintain(Open(), {.older_than_ns = 0});
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->dataset.version(), report->dataset.version());
  EXPECT_EQ(again->compaction.done.tasks + again->compaction.commits, 0);
}

TEST_F(MaintainTest, ADryRunTellsAndChangesNothing) {
  AddOrphan("old", 8);
  const auto before = Tree();
  MaintenanceOptions options = ByTasks();
  options.dry_run = true;
  options.compaction.max_source_fragments = 5;
  const auto report = Maintain(Open(), options);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->compaction.outcome, StepOutcome::kLimited);
  EXPECT_EQ(report->compaction.done.tasks, 2);
  EXPECT_EQ(report->compaction.done.fragments, 4);
  EXPECT_EQ(report->compaction.left.fragments, 4);
  EXPECT_GT(report->compaction.done.bytes, 0);
  EXPECT_EQ(report->cleanup.removed.old_versions, 1);
  EXPECT_EQ(report->sweep.removed.data_files_removed, 1);
  EXPECT_EQ(Tree(), before);
}

TEST_F(MaintainTest, AStepThatIsNotWantedIsNotRun) {
  AddOrphan("old", 8);
  MaintenanceOptions options = {.compact = false, .clean_up = false};
  const auto report = Maintain(Open(), options);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->compaction.outcome, StepOutcome::kNotRun);
  EXPECT_EQ(report->cleanup.outcome, StepOutcome::kNotRun);
  EXPECT_EQ(report->sweep.removed.data_files_removed, 1);
  EXPECT_EQ(VersionNumbers(Open())->size(), 2);

  AddOrphan("old", 8);
  options = {.compact = false, .sweep = false, .older_than_ns = 0};
  const auto cleaned = Maintain(Open(), options);
  ASSERT_THAT(cleaned, IsOk());
  EXPECT_EQ(cleaned->cleanup.removed.old_versions, 1);
  EXPECT_TRUE(fs::exists(uri() + "/data/old.lance"));
}

TEST_F(MaintainTest, AnInterruptionKeepsWhatWasCommitted) {
  MaintenanceOptions options = ByTasks();
  uint64_t tasks_seen = 0;
  options.version.progress = [&](const Progress& now) {
    tasks_seen = std::max(tasks_seen, now.tasks);
    return now.tasks >= 2 ? arrow::Status::Cancelled("enough") : arrow::Status::OK();
  };
  const size_t num_files = Tree().size();
  const auto report = Maintain(Open(), options);
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(StatusOf(*report), IsError(ErrorKind::kCancelled, "enough"));
  EXPECT_EQ(report->compaction.outcome, StepOutcome::kInterrupted);
  EXPECT_EQ(report->compaction.commits, 2);
  EXPECT_EQ(report->compaction.done.fragments, 4);
  EXPECT_EQ(report->compaction.left.fragments, 4);
  EXPECT_EQ(report->cleanup.outcome, StepOutcome::kNotRun);
  EXPECT_EQ(report->sweep.outcome, StepOutcome::kNotRun);
  EXPECT_EQ(tasks_seen, 2);
  EXPECT_EQ(Open().num_fragments(), 6);
  EXPECT_EQ(Open().version(), report->dataset.version());
  // Each task left a data file, and a version with its transaction.
  EXPECT_EQ(Tree().size(), num_files + 2 * (1 + 2));
}

// Files of ten rows are footer for the most part, so that those made of them come out smaller than
// their bytes let expect.
TEST_F(MaintainTest, ASecondRunFindsNothingWhateverTheTargetInBytes) {
  uint64_t most_commits = 0;
  for (const uint64_t target : {700, 1500, 2500, 4000, 6000, 9000}) {
    SCOPED_TRACE(target);
    const testing::TemporaryFolder folder;
    ASSERT_THAT(WriteDataset(Rows(0, 300), folder.path(), {.limits = {.max_rows_per_file = 10}}),
                IsOk());
    MaintenanceOptions options;
    options.compaction.target_bytes_per_fragment = target;
    const auto report = Maintain(Dataset::Open(folder.path()).ValueOrDie(), options);
    ASSERT_THAT(report, IsOk());
    EXPECT_THAT(StatusOf(*report), IsOk());
    EXPECT_EQ(report->compaction.outcome, StepOutcome::kDone);
    most_commits = std::max(most_commits, report->compaction.commits);
    options.compaction.look_ahead = true;
    const auto again =
        PlanCompaction(Dataset::Open(folder.path()).ValueOrDie(), options.compaction);
    ASSERT_THAT(again, IsOk());
    EXPECT_EQ(again->tasks.size(), 0);
  }
  EXPECT_GT(most_commits, 1);
}

TEST_F(MaintainTest, NoTaskBeginsWhenTheTimeIsOver) {
  MaintenanceOptions options = ByTasks();
  options.time_limit_ns = 0;
  const auto before = Tree();
  const auto report = Maintain(Open(), options);
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(StatusOf(*report), IsOk());
  EXPECT_EQ(report->compaction.outcome, StepOutcome::kLimited);
  EXPECT_EQ(report->compaction.left.tasks, 4);
  EXPECT_EQ(report->cleanup.outcome, StepOutcome::kLimited);
  EXPECT_EQ(report->sweep.outcome, StepOutcome::kLimited);
  EXPECT_EQ(Tree(), before);
}

// Another writer compacts the fragments of one task while the tasks run, and rows of another's are
// updated, which is in nobody's way.
TEST_F(MaintainTest, AConflictIsReportedAndTheRestIsDone) {
  MaintenanceOptions options = ByTasks();
  bool updated = false;
  options.version.progress = [&](const Progress&) {
    if (std::exchange(updated, true)) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(
        CompactFiles(Open(), {.target_rows_per_fragment = 18, .max_source_fragments = 2}).status());
    return Update(Open(), std::vector<ColumnUpdate>{{"s", "'other'"}}, Predicate::Sql("a = 25"))
        .status();
  };
  const auto report = Maintain(Open(), options);
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(StatusOf(*report), IsOk());
  EXPECT_EQ(report->compaction.outcome, StepOutcome::kConflict);
  EXPECT_THAT(report->compaction.why, IsError(ErrorKind::kCommitConflict, ""));
  EXPECT_EQ(report->compaction.done.fragments, 6);
  EXPECT_EQ(report->compaction.left.fragments, 2);
  EXPECT_EQ(report->cleanup.outcome, StepOutcome::kDone);
  EXPECT_GT(report->cleanup.removed.old_versions, 0);
  EXPECT_EQ(*Open().CountRows(), 79);
  EXPECT_EQ(*CountRows(Open(), {.filter = Predicate::Sql("s = 'other'")}), 1);
}

TEST_F(MaintainTest, TagsAndBranchesKeepTheirVersions) {
  ASSERT_THAT(CreateTag(Open(), "tag", Reference(uint64_t{1})), IsOk());
  ASSERT_THAT(WriteDataset(Rows(80, 90), uri(), {.mode = WriteMode::kAppend}), IsOk());
  const auto branch = CreateBranch(Open(), "branch");
  ASSERT_THAT(branch, IsOk());
  ASSERT_THAT(WriteDataset(Rows(90, 100), uri(), {.mode = WriteMode::kAppend}), IsOk());
  const auto content = ContentOf(*branch);

  const auto report = Maintain(Open(), {.older_than_ns = 0});

  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->cleanup.tagged_versions, 1);
  EXPECT_EQ(report->cleanup.branched_versions, 1);
  EXPECT_EQ(report->cleanup.removed.data_files_removed, 1);  // of the last append alone
  const auto tagged = Open().Checkout(TagName{"tag"});
  ASSERT_THAT(tagged, IsOk());
  EXPECT_EQ(ContentOf(*tagged)->num_rows, 80);
  const auto branched = Open().Checkout(BranchVersion{"branch", std::nullopt});
  ASSERT_THAT(branched, IsOk());
  EXPECT_EQ(ContentOf(*branched)->rows, content->rows);

  // And the other way round.
  const auto main = ContentOf(Open());
  const auto of_branch = Maintain(*branched, {.older_than_ns = 0});
  ASSERT_THAT(of_branch, IsOk());
  EXPECT_EQ(BranchOf(of_branch->dataset), "branch");
  EXPECT_EQ(of_branch->dataset.num_fragments(), 1);
  EXPECT_EQ(ContentOf(Open())->rows, main->rows);
  EXPECT_EQ(ContentOf(of_branch->dataset)->rows, content->rows);
}

TEST_F(MaintainTest, TheTablesConfigSaysWhichVersionsGo) {
  MaintenanceOptions options = {.compact = false, .sweep = false};
  EXPECT_EQ(Maintain(Open(), options)->cleanup.removed.old_versions, 0);  // younger than 14 days
  options.retain_versions = 1;  // a floor, and no leave to take what is above it
  EXPECT_EQ(Maintain(Open(), options)->cleanup.removed.old_versions, 0);
  options.retain_versions.reset();
  ASSERT_THAT(UpdateConfig(Open(), {.entries = {{"lance.auto_cleanup.retain_versions", "2"},
                                                {"lance.auto_cleanup.older_than", "0s"}}}),
              IsOk());
  EXPECT_EQ(Maintain(Open(), options)->cleanup.removed.old_versions, 1);
  options.older_than_ns = 3'600'000'000'000;
  EXPECT_EQ(Maintain(Open(), options)->cleanup.removed.old_versions, 0);
  options = {.compact = false, .sweep = false, .retain_versions = 1};
  EXPECT_EQ(Maintain(Open(), options)->cleanup.removed.old_versions, 1);
  options.retain_versions = 0;
  EXPECT_THAT(Maintain(Open(), options), IsError(ErrorKind::kInvalidInput, "retain_versions"));
}

TEST_F(MaintainTest, ACanaryLooksAtEveryTask) {
  MaintenanceOptions options = ByTasks();
  options.canary = true;
  const auto report = Maintain(Open(), options);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->compaction.commits, 4);
  EXPECT_EQ(report->compaction.canary.rows, 79);
}

}  // namespace
}  // namespace glaive
