#include "table/versions/witness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "table/sets/roaring.h"
#include "testing/matchers.h"
#include "wire/overlay.h"

namespace glaive::dataset {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using ::testing::SizeIs;

wire::DataFile File(std::string path, std::vector<int32_t> fields, std::vector<int32_t> columns) {
  return {.path = std::move(path),
          .fields = std::move(fields),
          .column_indices = std::move(columns),
          .file_major_version = 2,
          .file_minor_version = 2};
}

std::string Overlay(wire::DataFile file, uint64_t row, uint64_t version) {
  const std::vector<RowRange> rows = {{row, row + 1}};
  return wire::Serialize(wire::DataOverlayFile{.data_file = std::move(file),
                                               .offset_bitmaps = {table::SerializeRoaring(rows)},
                                               .committed_version = version});
}

Witnesses Of(const wire::DataFragment& fragment, const std::set<int32_t>& fields) {
  return WitnessesOf(fragment, fields, {"m"}).ValueOrDie();
}

const wire::DataFragment kFragment = {
    .id = 1,
    .files = {File("a", {0, wire::kTombstoneFieldId, 2}, {0, 1, -1}), File("b", {1, 0}, {0, 1})},
    .physical_rows = 3,
    .overlays = {Overlay(File("o", {1}, {0}), 0, 4), Overlay(File("p", {1}, {0}), 1, 5)}};

TEST(WitnessTest, WhatAReaderWouldTake) {
  const Witnesses found = Of(kFragment, {0, 1, 2, 7});
  EXPECT_THAT(found, SizeIs(2));  // field 2 has no column, field 7 no file
  EXPECT_EQ(found.at(0).base->path, "a");
  EXPECT_EQ(found.at(1).base->path, "b");
  EXPECT_EQ(found.at(1).overlays.size(), 2);
  EXPECT_THAT(found.at(1).ToString(), HasSubstr("column 0 of b, under column 0 of o of version 4"));
  EXPECT_EQ(FieldWitness().ToString(), "no file");
}

TEST(WitnessTest, WhatBelongsToOthersDoesNotCount) {
  wire::DataFragment changed = kFragment;
  changed.deletion_file = wire::DeletionFile{.id = 9};
  changed.files[0].path = "c";
  changed.files[0].file_size_bytes = 99;
  EXPECT_EQ(Of(changed, {1}), Of(kFragment, {1}));
  EXPECT_NE(Of(changed, {0}), Of(kFragment, {0}));
}

// Whatever a reader would see differently is another witness.
TEST(WitnessTest, EveryPartCounts) {
  const auto expect_other = [](const auto& change) {
    wire::DataFragment changed = kFragment;
    change(changed);
    EXPECT_NE(Of(changed, {1}), Of(kFragment, {1}));
  };
  expect_other([](auto& fragment) { fragment.files[1].path = "c"; });
  expect_other([](auto& fragment) { fragment.files[1].column_indices[0] = 1; });
  expect_other([](auto& fragment) { fragment.files[1].base_id = 0; });
  expect_other([](auto& fragment) { fragment.files[1].file_minor_version = 1; });
  expect_other([](auto& fragment) { fragment.files[1].fields[0] = wire::kTombstoneFieldId; });
  expect_other([](auto& fragment) { fragment.overlays.pop_back(); });
  expect_other([](auto& fragment) { std::swap(fragment.overlays[0], fragment.overlays[1]); });
  expect_other([](auto& fragment) { fragment.overlays[0] = Overlay(File("o", {1}, {0}), 2, 4); });
  expect_other([](auto& fragment) { fragment.overlays[0] = Overlay(File("o", {1}, {0}), 0, 3); });
}

TEST(WitnessTest, OfSomeRowsOnly) {
  const auto of = [](const wire::DataFragment& fragment, const std::vector<RowRange>& rows) {
    return WitnessesOf(fragment, {1}, {"m"}, &rows).ValueOrDie();
  };
  EXPECT_THAT(of(kFragment, {{0, 1}, {2, 3}}).at(1).overlays, SizeIs(1));
  EXPECT_THAT(of(kFragment, {{2, 3}}).at(1).overlays, SizeIs(0));
  // What it covers besides is of no account; what it covers of these is.
  wire::DataFragment changed = kFragment;
  const std::vector<RowRange> wider = {{0, 1}, {2, 3}};
  changed.overlays[0] =
      wire::Serialize(wire::DataOverlayFile{.data_file = File("o", {1}, {0}),
                                            .offset_bitmaps = {table::SerializeRoaring(wider)},
                                            .committed_version = 4});
  EXPECT_EQ(of(changed, {{0, 2}}), of(kFragment, {{0, 2}}));
  EXPECT_NE(of(changed, {{0, 3}}), of(kFragment, {{0, 3}}));
}

TEST(WitnessTest, AnOverlayThatCannotBeReadIsAnError) {
  wire::DataFragment damaged = kFragment;
  damaged.overlays[0].resize(damaged.overlays[0].size() - 1);
  EXPECT_THAT(WitnessesOf(damaged, {1}, {"m"}).status(), IsError(ErrorKind::kCorrupt, "m"));
}

}  // namespace
}  // namespace glaive::dataset
