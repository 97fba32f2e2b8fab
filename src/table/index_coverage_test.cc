#include "table/index_coverage.h"

#include <gtest/gtest.h>

#include "table/roaring.h"
#include "testing/golden.h"
#include "testing/matchers.h"
#include "wire/fields.h"

namespace glaive::table {
namespace {

using glaive::testing::FromHex;
using glaive::testing::IsError;
using glaive::testing::IsOkAndHolds;

constexpr Location kWhere = {"m"};

// An entry with something unknown before and behind its bitmap.
std::string Entry(std::string_view name, uint64_t field, const std::vector<RowRange>& covered) {
  std::string entry = FromHex("0a120a10000102030405060708090a0b0c0d0e0f");
  wire::AppendPacked(2, std::array{field}, &entry);
  wire::AppendBytes(3, name, &entry);
  wire::AppendBytes(5, SerializeRoaring(covered), &entry);
  return entry + FromHex("924d03616263");
}

std::string Section(const std::vector<std::string>& entries) {
  std::string section;
  for (const std::string& entry : entries) wire::AppendBytes(1, entry, &section);
  return section + FromHex("924d03646566");
}

TEST(IndexCoverageTest, FragmentsAreTakenFromBitmapsAndNothingElseChanges) {
  const std::string before = Section({Entry("a", 0, {{0, 10}}), Entry("b", 1, {{3, 5}, {7, 8}})});
  const std::vector<uint64_t> gone = {4, 0, 9, 7, 77};
  EXPECT_THAT(
      WithoutCoverage(before, gone, std::nullopt, kWhere),
      IsOkAndHolds(Section({Entry("a", 0, {{1, 4}, {5, 7}, {8, 9}}), Entry("b", 1, {{3, 4}})})));
  EXPECT_THAT(WithoutCoverage("", gone, std::nullopt, kWhere), IsOkAndHolds(""));
}

TEST(IndexCoverageTest, OnlyIndicesOfTheFieldsGiven) {
  const std::string before = Section({Entry("a", 0, {{0, 2}}), Entry("b", 1, {{0, 2}})});
  const std::vector<int32_t> fields = {1, 5};
  EXPECT_THAT(WithoutCoverage(before, std::vector<uint64_t>{1}, fields, kWhere),
              IsOkAndHolds(Section({Entry("a", 0, {{0, 2}}), Entry("b", 1, {{0, 1}})})));
}

TEST(IndexCoverageTest, AnIndexThatCoversNothingStays) {
  EXPECT_THAT(WithoutCoverage(Section({Entry("a", 0, {{0, 1}})}), std::vector<uint64_t>{0},
                              std::nullopt, kWhere),
              IsOkAndHolds(Section({Entry("a", 0, {})})));
}

TEST(IndexCoverageTest, WhatCannotBeKeptRightIsRefusedByName) {
  const auto result = [](const std::string& entry) {
    return WithoutCoverage(Section({entry}), std::vector<uint64_t>{1}, std::nullopt, kWhere);
  };
  std::string unknown;
  wire::AppendBytes(3, "of old", &unknown);
  EXPECT_THAT(result(unknown), IsError(ErrorKind::kUnsupported, "index 'of old' does not say"));
  std::string reuse;
  wire::AppendBytes(3, "__lance_frag_reuse", &reuse);
  EXPECT_THAT(result(reuse), IsError(ErrorKind::kUnsupported, "fragment reuse index"));
  std::string log;
  wire::AppendBytes(3, "__lance_mem_wal", &log);
  EXPECT_THAT(result(log), IsOkAndHolds(Section({log})));
  std::string damaged = unknown;
  wire::AppendBytes(5, "no bitmap", &damaged);
  EXPECT_THAT(result(damaged), IsError(ErrorKind::kCorrupt, "cookie"));
}

}  // namespace
}  // namespace glaive::table
