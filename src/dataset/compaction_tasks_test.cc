#include "dataset/compaction_tasks.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glaive::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Fragments = std::vector<SourceFragment>;

CompactionOptions Options(CompactionOptions options = {}) {
  options.target_rows_per_fragment = options.target_rows_per_fragment.value_or(1024 * 1024);
  options.materialize_deletions = options.materialize_deletions.value_or(true);
  options.materialize_deletions_threshold = options.materialize_deletions_threshold.value_or(0.1);
  return options;
}

SourceFragment Fragment(uint64_t rows, uint64_t bytes = 0, uint64_t deleted = 0) {
  return {.physical_rows = rows, .live_rows = rows - deleted, .bytes = bytes};
}

Fragments OfRows(const std::vector<uint64_t>& rows) {
  Fragments fragments;
  for (const uint64_t number : rows) fragments.push_back(Fragment(number));
  return fragments;
}

std::vector<TaskRange> Plan(const Fragments& fragments, const CompactionOptions& options) {
  return LimitTasks(fragments, ChooseTasks(fragments, options), options);
}

// The bytes of live rows [begin, begin + rows) of some fragments, were they all of equal size
// within each.
uint64_t BytesOf(std::span<const SourceFragment> sources, uint64_t begin, uint64_t rows) {
  double bytes = 0;
  for (const SourceFragment& source : sources) {
    const uint64_t taken = std::min(rows, source.live_rows - std::min(begin, source.live_rows));
    if (taken > 0) {
      bytes += static_cast<double>(source.bytes) * static_cast<double>(taken) /
               static_cast<double>(source.physical_rows);
    }
    begin -= std::min(begin, source.live_rows);
    rows -= taken;
  }
  return static_cast<uint64_t>(bytes);
}

// The table after the tasks, and what they have written.
struct Round {
  Fragments fragments;
  uint64_t bytes_written = 0;
};

Round Done(const Fragments& before, const std::vector<TaskRange>& tasks,
           const CompactionOptions& options) {
  Round round;
  size_t next = 0;
  for (const TaskRange& task : tasks) {
    std::copy(before.begin() + static_cast<ptrdiff_t>(next),
              before.begin() + static_cast<ptrdiff_t>(task.begin),
              std::back_inserter(round.fragments));
    const auto sources = std::span(before).subspan(task.begin, task.size());
    uint64_t begin = 0;
    for (const uint64_t rows : PlanFiles(sources, options)) {
      round.fragments.push_back(Fragment(rows, BytesOf(sources, begin, rows)));
      round.fragments.back().coverage = sources[0].coverage;
      round.bytes_written += round.fragments.back().bytes;
      begin += rows;
    }
    next = task.end;
  }
  std::copy(before.begin() + static_cast<ptrdiff_t>(next), before.end(),
            std::back_inserter(round.fragments));
  return round;
}

std::vector<uint64_t> RowsOf(const Fragments& fragments) {
  std::vector<uint64_t> rows;
  for (const SourceFragment& fragment : fragments) rows.push_back(fragment.live_rows);
  return rows;
}

TEST(CompactionTasksTest, RowsAloneGivePylancesTasks) {
  const Fragments fragments = OfRows({10, 10, 10, 10, 3, 30, 2, 2, 10});
  const auto plan = [&](const CompactionOptions& options) {
    return Plan(fragments, Options(options));
  };
  EXPECT_THAT(plan({}), ElementsAre(TaskRange{0, 9}));
  EXPECT_THAT(plan({.target_rows_per_fragment = 20}),
              ElementsAre(TaskRange{0, 2}, TaskRange{2, 5}, TaskRange{6, 9}));
  EXPECT_THAT(plan({.target_rows_per_fragment = 20, .max_source_fragments = 4}),
              ElementsAre(TaskRange{0, 2}));
  EXPECT_THAT(plan({.target_rows_per_fragment = 20, .max_source_rows = 45}),
              ElementsAre(TaskRange{0, 2}, TaskRange{2, 5}));
}

TEST(CompactionTasksTest, NoFileIsBelowHalfTheTarget) {
  const auto options = Options({.target_rows_per_fragment = 500});
  const Fragments before = OfRows(std::vector<uint64_t>(10, 200));
  const Round after = Done(before, Plan(before, options), options);
  EXPECT_THAT(RowsOf(after.fragments), ElementsAre(600, 600, 800));
  EXPECT_THAT(Plan(after.fragments, options), IsEmpty());
  // A small one that has no small neighbour stays, the first time and each time after.
  EXPECT_THAT(Plan(OfRows({500, 200, 500}), options), IsEmpty());
}

TEST(CompactionTasksTest, DeletedRowsAreReasonEnough) {
  const Fragments fragments = {Fragment(100, 0, 11), Fragment(100, 0, 10), Fragment(100)};
  EXPECT_THAT(Plan(fragments, Options({.target_rows_per_fragment = 100})),
              ElementsAre(TaskRange{0, 1}));
  // pylance rewrites everything below zero, each time.
  EXPECT_THAT(Plan(fragments, Options({.target_rows_per_fragment = 100,
                                       .materialize_deletions_threshold = -1})),
              ElementsAre(TaskRange{0, 2}));
}

TEST(CompactionTasksTest, OverlaysAndSmallPagesAreReasonEnough) {
  Fragments fragments(3, Fragment(100));
  fragments[0].num_overlays = 10;
  fragments[1].num_overlays = 11;
  const auto options = Options({.target_rows_per_fragment = 100});
  EXPECT_THAT(Plan(fragments, options), ElementsAre(TaskRange{1, 2}));
  fragments[2].has_small_pages = true;
  EXPECT_THAT(Plan(fragments, options), ElementsAre(TaskRange{1, 2}, TaskRange{2, 3}));
}

TEST(CompactionTasksTest, CoverageAndExclusionStandBetween) {
  Fragments fragments(6, Fragment(10));
  fragments[0].coverage = fragments[1].coverage = 1;
  fragments[3].excluded = true;
  EXPECT_THAT(Plan(fragments, Options()), ElementsAre(TaskRange{0, 2}, TaskRange{4, 6}));
}

TEST(CompactionTasksTest, FragmentsThatAreLargeByBytesStay) {
  const auto options = Options({.target_bytes_per_fragment = 1000});
  EXPECT_THAT(Plan({Fragment(4, 500), Fragment(4, 600)}, options), IsEmpty());
  const Fragments small(12, Fragment(3, 300));
  const Round after = Done(small, Plan(small, options), options);
  for (const SourceFragment& fragment : after.fragments) {
    EXPECT_GE(fragment.bytes, 1000u);
    EXPECT_LT(fragment.bytes, 2000u);
  }
  EXPECT_THAT(Plan(after.fragments, options), IsEmpty());
}

TEST(CompactionTasksTest, WhatHoldsMostIsNotRewrittenForTheRest) {
  const auto options = Options({.target_bytes_per_fragment = 1000});
  EXPECT_THAT(Plan({Fragment(40, 400), Fragment(20, 200), Fragment(10, 100)}, options), IsEmpty());
  EXPECT_THAT(Plan({Fragment(40, 400), Fragment(20, 200), Fragment(20, 200)}, options),
              ElementsAre(TaskRange{0, 3}));
  EXPECT_THAT(
      Plan({Fragment(1, 10), Fragment(1, 10), Fragment(40, 400), Fragment(9, 90), Fragment(9, 90)},
           options),
      ElementsAre(TaskRange{0, 2}, TaskRange{3, 5}));
}

TEST(CompactionTasksTest, WorkFollowsWhatWasAdded) {
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
    const auto options = Options(c.options);
    Fragments table;
    uint64_t written = 0;
    constexpr uint64_t kRounds = 300;
    for (uint64_t i = 0; i < kRounds; ++i) {
      table.push_back(Fragment(c.rows, c.bytes));
      Round round = Done(table, Plan(table, options), options);
      table = std::move(round.fragments);
      written += round.bytes_written;
      ASSERT_THAT(Plan(table, options), IsEmpty());
    }
    EXPECT_LE(written, 9 * kRounds * c.bytes);  // log2 of the rounds
  }
}

TEST(CompactionTasksTest, ALimitOnFilesThatGainsNothingIsNoTask) {
  const auto options = Options({.max_bytes_per_file = 300});
  EXPECT_THAT(Plan(Fragments(5, Fragment(10, 100)), options), IsEmpty());
  const Fragments small(7, Fragment(10, 90));
  const Round after = Done(small, Plan(small, options), options);
  EXPECT_THAT(RowsOf(after.fragments), ElementsAre(23, 24, 23));
  EXPECT_THAT(Plan(after.fragments, options), IsEmpty());
}

TEST(CompactionTasksTest, FilesAreEvenByBytesWhereRowsAreNot) {
  const auto options = Options({.target_bytes_per_fragment = 1000});
  const Fragments sources = {Fragment(10, 450), Fragment(1000, 450), Fragment(2, 450),
                             Fragment(100, 450), Fragment(9, 300)};
  const std::vector<uint64_t> files = PlanFiles(sources, options);
  ASSERT_THAT(files, SizeIs(2));
  EXPECT_EQ(std::accumulate(files.begin(), files.end(), uint64_t{0}), 1121u);
  EXPECT_NEAR(static_cast<double>(BytesOf(sources, 0, files[0])), 1050, 120);
}

TEST(CompactionTasksTest, ATaskAboveTheBudgetIsDoneInParts) {
  const auto options = Options({.target_bytes_per_fragment = 1 << 20, .max_source_fragments = 4});
  Fragments table(17, Fragment(10));
  uint64_t rows_written = 0;
  for (auto tasks = Plan(table, options); !tasks.empty(); tasks = Plan(table, options)) {
    ASSERT_THAT(tasks, SizeIs(1));
    ASSERT_LE(tasks[0].size(), 4u);
    for (size_t i = tasks[0].begin; i < tasks[0].end; ++i) rows_written += table[i].live_rows;
    table = Done(table, tasks, options).fragments;
  }
  EXPECT_THAT(RowsOf(table), ElementsAre(100, 40, 30));
  EXPECT_EQ(rows_written, 250u);  // what was joined is not rewritten for a few more
  EXPECT_THAT(Plan(Fragments(5, Fragment(10)), Options({.max_source_fragments = 4})), IsEmpty());
  const auto few_rows = Options({.memory_limit = 1 << 30, .max_source_rows = 25});
  EXPECT_THAT(Plan(OfRows({30, 30, 10, 10, 10}), few_rows), ElementsAre(TaskRange{2, 4}));
  EXPECT_THAT(Plan(OfRows({20, 20, 20}), few_rows), IsEmpty());
}

Fragments RandomTable(std::mt19937_64& random) {
  const auto up_to = [&](uint64_t bound) { return random() % (bound + 1); };
  const uint64_t max_row_bytes = uint64_t{1} << up_to(12);
  const bool has_deletions = up_to(1) == 0;
  Fragments table(1 + up_to(25));
  for (SourceFragment& fragment : table) {
    const uint64_t rows = 1 + up_to(uint64_t{1} << up_to(9));
    // Whoever deletes all rows of a fragment takes it out of the table.
    const uint64_t deleted = has_deletions && up_to(2) == 0 ? up_to(rows - 1) : 0;
    fragment = Fragment(rows, rows * (1 + up_to(max_row_bytes)), deleted);
    fragment.num_overlays = up_to(9) == 0 ? up_to(20) : 0;
    fragment.has_small_pages = up_to(19) == 0;
    fragment.coverage = static_cast<uint32_t>(up_to(19) == 0);
    fragment.excluded = up_to(19) == 0;
  }
  return table;
}

CompactionOptions RandomOptions(std::mt19937_64& random) {
  const auto up_to = [&](uint64_t bound) { return random() % (bound + 1); };
  CompactionOptions options;
  options.target_rows_per_fragment = up_to(1) ? 1024 * 1024 : up_to(700);
  if (up_to(1)) options.target_bytes_per_fragment = 1 + up_to(uint64_t{1} << up_to(20));
  if (up_to(2) == 0) options.max_bytes_per_file = 1 + up_to(uint64_t{1} << up_to(20));
  if (up_to(3) == 0) options.memory_limit = 1 << 20;
  options.materialize_deletions = up_to(4) > 0;
  options.materialize_deletions_threshold = static_cast<double>(up_to(12)) / 10 - 0.1;
  return Options(options);
}

// What the budgets leave for later comes later, and ends.
TEST(CompactionTasksTest, ASecondRunIsEmptyForAnyOptions) {
  std::mt19937_64 random(20'240'611);
  for (int i = 0; i < 20'000; ++i) {
    const Fragments before = RandomTable(random);
    CompactionOptions options = RandomOptions(random);
    const Fragments after = Done(before, Plan(before, options), options).fragments;
    ASSERT_THAT(Plan(after, options), IsEmpty()) << "case " << i;

    const auto live = [](uint64_t sum, const SourceFragment& f) { return sum + f.live_rows; };
    ASSERT_EQ(std::accumulate(after.begin(), after.end(), uint64_t{0}, live),
              std::accumulate(before.begin(), before.end(), uint64_t{0}, live));

    options.max_source_fragments = 1 + random() % 5;
    if (random() % 2 == 0) options.max_source_rows = 1 + random() % 600;
    if (random() % 2 == 0) options.max_source_bytes = 1 + random() % (1 << 20);
    Fragments table = before;
    for (int rounds = 0;; ++rounds) {
      const auto tasks = Plan(table, options);
      if (tasks.empty()) break;
      ASSERT_LT(rounds, 100) << "case " << i;
      size_t fragments = 0;
      for (const TaskRange& task : tasks) fragments += task.size();
      ASSERT_LE(fragments, *options.max_source_fragments);
      table = Done(table, tasks, options).fragments;
    }
  }
}

}  // namespace
}  // namespace glaive::dataset
