#include "dataset/compaction/plan/outlook.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/planned_table.h"

namespace glaive::dataset {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::FragmentsOfRows;
using ::testing::Ge;
using ::testing::IsEmpty;
using testing::LiveRowsOf;
using ::testing::Lt;
using testing::PlannedFragment;
using testing::PlannedTable;
using testing::PlanOptions;
using ::testing::SizeIs;
using testing::SourceFragments;
using testing::TableOf;

std::vector<uint64_t> BytesOf(const SourceFragments& fragments) {
  std::vector<uint64_t> bytes;
  for (const SourceFragment& fragment : fragments) bytes.push_back(fragment.bytes);
  return bytes;
}

// The table after one run, which has to leave nothing to a second one.
PlannedTable Settled(const SourceFragments& before, const CompactionOptions& options) {
  PlannedTable table = TableOf(before);
  table.Commit(PlanTasks(table.fragments, options), options);
  EXPECT_THAT(PlanTasks(table.fragments, options), IsEmpty());
  return table;
}

TEST(CompactionOutlookTest, NoFileIsBelowHalfTheTarget) {
  const auto by_rows = PlanOptions({.target_rows_per_fragment = 500});
  const auto by_bytes = PlanOptions({.target_bytes_per_fragment = 5000});
  const SourceFragments ten(10, PlannedFragment(200, 2000));
  EXPECT_THAT(LiveRowsOf(Settled(ten, by_rows).fragments), ElementsAre(600, 600, 800));
  EXPECT_THAT(BytesOf(Settled(ten, by_bytes).fragments), Each(AllOf(Ge(5000u), Lt(10'000u))));
  // A small one that has no small neighbour stays, the first time and each time after.
  const SourceFragments between = {PlannedFragment(500, 5000), PlannedFragment(200, 2000),
                                   PlannedFragment(500, 5000)};
  EXPECT_THAT(PlanTasks(between, by_rows), IsEmpty());
  EXPECT_THAT(PlanTasks(between, by_bytes), IsEmpty());
}

TEST(CompactionOutlookTest, RemaindersOfTasksAreJoinedAtOnce) {
  const auto options = PlanOptions({.target_rows_per_fragment = 10});
  // Of two bins, which the full one in the middle keeps apart.
  const SourceFragments bins = FragmentsOfRows({2, 2, 10, 3, 3, 10});
  EXPECT_THAT(PlanTasks(bins, options), ElementsAre(ElementsAre(0, 1, 3, 4)));
  // Where the results last, pylance's tasks are kept.
  const SourceFragments full = FragmentsOfRows({5, 5, 10, 6, 6, 10});
  EXPECT_THAT(PlanTasks(full, options), ElementsAre(ElementsAre(0, 1), ElementsAre(3, 4)));
  // One remainder between two results that last stays.
  const SourceFragments one = FragmentsOfRows({5, 5, 10, 3, 3, 10, 6, 6});
  EXPECT_THAT(PlanTasks(one, options),
              ElementsAre(ElementsAre(0, 1), ElementsAre(3, 4), ElementsAre(6, 7)));
  auto apart = options;
  apart.look_ahead = false;
  EXPECT_THAT(PlanTasks(bins, apart), ElementsAre(ElementsAre(0, 1), ElementsAre(3, 4)));
}

TEST(CompactionOutlookTest, WhatStaysBesideAResultIsJoined) {
  const auto options = PlanOptions({.target_rows_per_fragment = 10});
  EXPECT_THAT(PlanTasks(FragmentsOfRows({2, 2, 10, 3}), options),
              ElementsAre(ElementsAre(0, 1, 3)));
  // The one between goes, being rewritten for its deleted rows.
  SourceFragments between = {PlannedFragment(3), PlannedFragment(20, 0, 10), PlannedFragment(3)};
  for (SourceFragment& fragment : between) fragment.coverage = fragment.followed = {false};
  between[1].coverage = between[1].followed = {true};
  EXPECT_THAT(PlanTasks(between, options), ElementsAre(ElementsAre(1), ElementsAre(0, 2)));
  between[0].excluded = true;
  EXPECT_THAT(PlanTasks(between, options), ElementsAre(ElementsAre(1)));
}

TEST(CompactionOutlookTest, AnIndexThatCannotFollowKeepsNothingApart) {
  const auto options = PlanOptions({.target_rows_per_fragment = 10});
  SourceFragments fragments(4, PlannedFragment(2));
  for (const size_t i : {0, 1}) fragments[i].coverage = fragments[i].followed = {true};
  for (const size_t i : {2, 3}) fragments[i].coverage = fragments[i].followed = {false};
  EXPECT_THAT(PlanTasks(fragments, options), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  fragments[1].followed = {false};
  EXPECT_THAT(PlanTasks(fragments, options), ElementsAre(ElementsAre(0, 1, 2, 3)));
}

TEST(CompactionOutlookTest, ALimitedRunDoesNotLookAhead) {
  auto options = PlanOptions({.target_rows_per_fragment = 10, .max_source_fragments = 4});
  const SourceFragments fragments = FragmentsOfRows({2, 2, 10, 3, 3, 10, 2});
  EXPECT_THAT(PlanTasks(fragments, options), ElementsAre(ElementsAre(0, 1), ElementsAre(3, 4)));
  options.max_source_fragments = 5;
  EXPECT_THAT(PlanTasks(fragments, options), ElementsAre(ElementsAre(0, 1, 3, 4, 6)));
}

TEST(CompactionOutlookTest, FragmentsThatAreLargeByBytesStay) {
  const auto options = PlanOptions({.target_bytes_per_fragment = 1000});
  EXPECT_THAT(PlanTasks(SourceFragments{PlannedFragment(4, 500), PlannedFragment(4, 600)}, options),
              IsEmpty());
  const PlannedTable after = Settled(SourceFragments(12, PlannedFragment(3, 300)), options);
  EXPECT_THAT(BytesOf(after.fragments), Each(AllOf(Ge(1000u), Lt(2000u))));
}

TEST(CompactionOutlookTest, WorkFollowsWhatWasAdded) {
  struct Case {
    CompactionOptions options;
    uint64_t rows, bytes;
  };
  constexpr uint64_t kMiB = 1 << 20;
  const Case cases[] = {
      {{.target_bytes_per_fragment = 1024 * kMiB}, 40, 320 * kMiB},  // rows of 8 MiB
      {{.target_bytes_per_fragment = 1024 * kMiB}, 5, kMiB},
      {{.memory_limit = 512 * kMiB}, 40, 320 * kMiB},
      {{.target_rows_per_fragment = 10'000, .memory_limit = 512 * kMiB}, 40, 320},
  };
  for (const Case& c : cases) {
    const auto options = PlanOptions(c.options);
    PlannedTable table;
    constexpr uint64_t kRounds = 300;
    for (uint64_t i = 0; i < kRounds; ++i) {
      table.Append(PlannedFragment(c.rows, c.bytes));
      table.Commit(PlanTasks(table.fragments, options), options);
      ASSERT_THAT(PlanTasks(table.fragments, options), IsEmpty());
    }
    EXPECT_LE(table.bytes_written, 9.0 * kRounds * static_cast<double>(c.bytes));  // log2 of them
  }
}

TEST(CompactionOutlookTest, ALimitOnFilesThatGainsNothingIsNoTask) {
  const auto options = PlanOptions({.max_bytes_per_file = 300});
  EXPECT_THAT(PlanTasks(SourceFragments(5, PlannedFragment(10, 100)), options), IsEmpty());
  const PlannedTable after = Settled(SourceFragments(7, PlannedFragment(10, 90)), options);
  EXPECT_THAT(LiveRowsOf(after.fragments), ElementsAre(23, 24, 23));
}

TEST(CompactionOutlookTest, ATaskAboveTheBudgetIsDoneInParts) {
  const auto options =
      PlanOptions({.target_bytes_per_fragment = 1 << 20, .max_source_fragments = 4});
  PlannedTable table = TableOf(SourceFragments(17, PlannedFragment(10)));
  uint64_t rows_written = 0;
  while (true) {
    const auto tasks = PlanTasks(table.fragments, options);
    if (tasks.empty()) break;
    ASSERT_THAT(tasks, SizeIs(1));
    ASSERT_LE(tasks[0].size(), 4u);
    for (const size_t member : tasks[0]) rows_written += table.fragments[member].live_rows;
    table.Commit(tasks, options);
  }
  const auto rows = LiveRowsOf(table.fragments);
  EXPECT_EQ(std::accumulate(rows.begin(), rows.end(), uint64_t{0}), 170u);
  EXPECT_LE(rows.size(), 4u);
  EXPECT_LE(rows_written, 400u);  // what was joined is not rewritten for a few more
}

SourceFragments RandomTable(std::mt19937_64& random) {
  const auto up_to = [&](uint64_t bound) { return random() % (bound + 1); };
  const uint64_t max_row_bytes = uint64_t{1} << up_to(12);
  const bool has_deletions = up_to(1) == 0;
  const bool has_indices = up_to(1) == 0;
  SourceFragments table(1 + up_to(25));
  for (SourceFragment& fragment : table) {
    const uint64_t rows = 1 + up_to(uint64_t{1} << up_to(9));
    // Whoever deletes all rows of a fragment takes it out of the table.
    const uint64_t deleted = has_deletions && up_to(2) == 0 ? up_to(rows - 1) : 0;
    fragment = PlannedFragment(rows, rows * (1 + up_to(max_row_bytes)), deleted);
    fragment.num_overlays = up_to(9) == 0 ? up_to(20) : 0;
    fragment.has_small_pages = up_to(19) == 0;
    fragment.excluded = up_to(19) == 0;
    for (int i = 0; has_indices && i < 2; ++i) {
      fragment.coverage.push_back(up_to(4) != 0);
      fragment.followed.push_back(fragment.coverage.back() && i == 0 && fragment.num_overlays == 0);
    }
  }
  return table;
}

CompactionOptions RandomOptions(std::mt19937_64& random) {
  const auto up_to = [&](uint64_t bound) { return random() % (bound + 1); };
  CompactionOptions options;
  options.target_rows_per_fragment = up_to(1) ? 1024 * 1024 : up_to(700);
  if (up_to(1)) options.target_bytes_per_fragment = 1 + up_to(uint64_t{1} << up_to(20));
  if (up_to(2) == 0) options.max_bytes_per_file = 1 + up_to(uint64_t{1} << up_to(20));
  if (up_to(3) == 0) options.memory_limit = 64 << 20;
  options.materialize_deletions = up_to(4) > 0;
  options.materialize_deletions_threshold = static_cast<double>(up_to(12)) / 10 - 0.1;
  options.max_overlays_per_fragment = up_to(15);
  return PlanOptions(options);
}

uint64_t SumOf(const std::vector<uint64_t>& rows) {
  return std::accumulate(rows.begin(), rows.end(), uint64_t{0});
}

// Each fragment is in one task at most, and none that is excluded is in one.
void ExpectTasks(const SourceFragments& fragments, const std::vector<TaskMembers>& tasks) {
  std::set<size_t> members;
  for (const TaskMembers& task : tasks) {
    ASSERT_FALSE(task.empty());
    ASSERT_TRUE(std::ranges::is_sorted(task));
    for (const size_t member : task) {
      ASSERT_TRUE(members.insert(member).second);
      ASSERT_FALSE(fragments.at(member).excluded);
    }
  }
}

TEST(CompactionOutlookTest, ASecondRunIsEmptyForAnyOptions) {
  std::mt19937_64 random(20'240'611);
  for (int i = 0; i < 20'000; ++i) {
    PlannedTable table = TableOf(RandomTable(random));
    const uint64_t num_rows = SumOf(LiveRowsOf(table.fragments));
    const CompactionOptions options = RandomOptions(random);
    const auto tasks = PlanTasks(table.fragments, options);
    ExpectTasks(table.fragments, tasks);
    table.Commit(tasks, options);
    ASSERT_THAT(PlanTasks(table.fragments, options), IsEmpty()) << "case " << i;
    ASSERT_EQ(SumOf(LiveRowsOf(table.fragments)), num_rows);
  }
}

// What the budgets leave for later comes later, and ends.
TEST(CompactionOutlookTest, RunsWithABudgetEnd) {
  std::mt19937_64 random(20'240'612);
  for (int i = 0; i < 5'000; ++i) {
    PlannedTable table = TableOf(RandomTable(random));
    CompactionOptions options = RandomOptions(random);
    options.max_source_fragments = 1 + random() % 5;
    if (random() % 2 == 0) options.max_source_rows = 1 + random() % 600;
    if (random() % 2 == 0) options.max_source_bytes = 1 + random() % (1 << 20);
    for (int rounds = 0;; ++rounds) {
      const auto tasks = PlanTasks(table.fragments, options);
      if (tasks.empty()) break;
      ASSERT_LT(rounds, 100) << "case " << i;
      size_t fragments = 0;
      for (const TaskMembers& task : tasks) fragments += task.size();
      ASSERT_LE(fragments, *options.max_source_fragments);
      table.Commit(tasks, options);
    }
  }
}

}  // namespace
}  // namespace glaive::dataset
