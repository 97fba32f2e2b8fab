#include "dataset/compaction/plan/planned_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/planned_table.h"

namespace glaive::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::PlannedFragment;
using testing::PlanOptions;
using ::testing::SizeIs;
using testing::SourceFragments;

TEST(PlannedFilesTest, FilesAreEvenByBytesWhereRowsAreNot) {
  const auto options = PlanOptions({.target_bytes_per_fragment = 1000});
  const SourceFragments sources = {PlannedFragment(10, 450), PlannedFragment(1000, 450),
                                   PlannedFragment(2, 450), PlannedFragment(100, 450),
                                   PlannedFragment(9, 300)};
  const std::vector<Amount> files = PlanFiles(sources, options);
  ASSERT_THAT(files, SizeIs(2));
  EXPECT_EQ(files[0].rows + files[1].rows, 1121u);
  EXPECT_NEAR(files[0].bytes, 1050, 120);
  EXPECT_NEAR(files[0].bytes, testing::BytesOfRows(sources, 0, files[0].rows), 1);
  EXPECT_NEAR(files[0].bytes + files[1].bytes, 2100, 1);
}

TEST(PlannedFilesTest, WhatIsDeletedTakesNothing) {
  const auto options = PlanOptions({.target_rows_per_fragment = 10});
  const std::vector<Amount> files =
      PlanFiles(SourceFragments(2, PlannedFragment(20, 400, 10)), options);
  ASSERT_THAT(files, SizeIs(2));
  for (const Amount& file : files) {
    EXPECT_EQ(file.rows, 10u);
    EXPECT_NEAR(file.bytes, 200, 1);
  }
  EXPECT_THAT(PlanFiles(SourceFragments(1, PlannedFragment(20, 400, 20)), options), IsEmpty());
}

TEST(PlannedFilesTest, FilesThatCameOutSmallArePlannedAnew) {
  const auto options = PlanOptions({.target_bytes_per_fragment = 1000});
  const auto rows_of = [&](const SourceFragments& written) {
    std::vector<uint64_t> rows;
    for (const Amount& file : ReplanFiles(written, options)) rows.push_back(file.rows);
    return rows;
  };
  EXPECT_THAT(rows_of({PlannedFragment(4, 900), PlannedFragment(4, 600)}), ElementsAre(4, 4));
  EXPECT_THAT(rows_of({PlannedFragment(4, 10)}), ElementsAre(4));
  // Evenly, where all of them are small.
  EXPECT_THAT(rows_of(SourceFragments(20, PlannedFragment(4, 100))), ElementsAre(40, 40));
  // Where rows of one fragment differ much, what is large stays as it is.
  EXPECT_THAT(rows_of({PlannedFragment(7, 20'000), PlannedFragment(7, 320),
                       PlannedFragment(12, 360), PlannedFragment(22, 470)}),
              ElementsAre(7, 41));
}

}  // namespace
}  // namespace glaive::dataset
