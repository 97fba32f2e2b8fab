#include "dataset/compaction/plan/tasks.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/planned_table.h"

namespace glaive::dataset {
namespace {

using ::testing::ElementsAre;
using testing::FragmentsOfRows;
using ::testing::IsEmpty;
using testing::PlannedFragment;
using testing::PlanOptions;
using testing::SourceFragments;

std::vector<TaskRange> Plan(const SourceFragments& fragments, const CompactionOptions& options) {
  return LimitTasks(fragments, ChooseTasks(fragments, options), options);
}

TEST(CompactionTasksTest, RowsAloneGivePylancesTasks) {
  const SourceFragments fragments = FragmentsOfRows({10, 10, 10, 10, 3, 30, 2, 2, 10});
  const auto plan = [&](const CompactionOptions& options) {
    return Plan(fragments, PlanOptions(options));
  };
  EXPECT_THAT(plan({}), ElementsAre(TaskRange{0, 9}));
  EXPECT_THAT(plan({.target_rows_per_fragment = 20}),
              ElementsAre(TaskRange{0, 2}, TaskRange{2, 5}, TaskRange{6, 9}));
  EXPECT_THAT(plan({.target_rows_per_fragment = 20, .max_source_fragments = 4}),
              ElementsAre(TaskRange{0, 2}));
  EXPECT_THAT(plan({.target_rows_per_fragment = 20, .max_source_rows = 45}),
              ElementsAre(TaskRange{0, 2}, TaskRange{2, 5}));
}

TEST(CompactionTasksTest, DeletedRowsAreReasonEnough) {
  const SourceFragments fragments = {PlannedFragment(100, 0, 11), PlannedFragment(100, 0, 10),
                                     PlannedFragment(100)};
  EXPECT_THAT(Plan(fragments, PlanOptions({.target_rows_per_fragment = 100})),
              ElementsAre(TaskRange{0, 1}));
  // pylance rewrites everything below zero, each time.
  EXPECT_THAT(Plan(fragments, PlanOptions({.target_rows_per_fragment = 100,
                                           .materialize_deletions_threshold = -1})),
              ElementsAre(TaskRange{0, 2}));
}

TEST(CompactionTasksTest, OverlaysAndSmallPagesAreReasonEnough) {
  SourceFragments fragments(3, PlannedFragment(100));
  fragments[0].num_overlays = 10;
  fragments[1].num_overlays = 11;
  const auto options = PlanOptions({.target_rows_per_fragment = 100});
  EXPECT_THAT(Plan(fragments, options), ElementsAre(TaskRange{1, 2}));
  fragments[2].has_small_pages = true;
  EXPECT_THAT(Plan(fragments, options), ElementsAre(TaskRange{1, 2}, TaskRange{2, 3}));
}

TEST(CompactionTasksTest, CoverageAndExclusionStandBetween) {
  SourceFragments fragments(6, PlannedFragment(10));
  fragments[0].coverage = fragments[1].coverage = {true};
  for (const size_t i : {2, 3, 4, 5}) fragments[i].coverage = {false};
  fragments[3].excluded = true;
  EXPECT_THAT(Plan(fragments, PlanOptions()), ElementsAre(TaskRange{0, 2}, TaskRange{4, 6}));
}

TEST(CompactionTasksTest, WhatHoldsMostIsNotRewrittenForTheRest) {
  const auto options = PlanOptions({.target_bytes_per_fragment = 1000});
  EXPECT_THAT(
      Plan({PlannedFragment(40, 400), PlannedFragment(20, 200), PlannedFragment(10, 100)}, options),
      IsEmpty());
  EXPECT_THAT(
      Plan({PlannedFragment(40, 400), PlannedFragment(20, 200), PlannedFragment(20, 200)}, options),
      ElementsAre(TaskRange{0, 3}));
  EXPECT_THAT(Plan({PlannedFragment(1, 10), PlannedFragment(1, 10), PlannedFragment(40, 400),
                    PlannedFragment(9, 90), PlannedFragment(9, 90)},
                   options),
              ElementsAre(TaskRange{0, 2}, TaskRange{3, 5}));
}

TEST(CompactionTasksTest, ABudgetBelowTheFirstTask) {
  const auto none = PlanOptions({.max_source_fragments = 4});
  EXPECT_THAT(Plan(SourceFragments(5, PlannedFragment(10)), none), IsEmpty());
  const auto few_rows = PlanOptions({.memory_limit = 1 << 30, .max_source_rows = 25});
  EXPECT_THAT(Plan(FragmentsOfRows({30, 30, 10, 10, 10}), few_rows), ElementsAre(TaskRange{2, 4}));
  EXPECT_THAT(Plan(FragmentsOfRows({20, 20, 20}), few_rows), IsEmpty());
}

}  // namespace
}  // namespace glaive::dataset
