#include "dataset/scan/stable_rows.h"

#include <gtest/gtest.h>

#include "dataset/handle/session_state.h"
#include "table/operation/apply.h"
#include "table/rows/row_ids.h"
#include "testing/matchers.h"

namespace glaive::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

wire::DataFragment NewFragment(std::string path, uint64_t num_rows,
                               std::vector<RowRange> ids = {}) {
  wire::DataFile file{.path = std::move(path), .fields = {0}, .column_indices = {0}};
  file.file_major_version = file.file_minor_version = 2;
  wire::DataFragment fragment{.files = {file}, .physical_rows = num_rows};
  if (!ids.empty()) fragment.row_ids = wire::InlineSequence{table::SerializeRowIds(ids)};
  return fragment;
}

read::Snapshot SnapshotOf(table::Manifest manifest) {
  return {{}, std::make_shared<const table::Manifest>(std::move(manifest)), nullptr};
}

table::Manifest Appended(const table::Manifest& manifest, std::string path) {
  return table::Apply(manifest,
                      table::Append{table::FragmentsOf({NewFragment(std::move(path), 10)})})
      .ValueOrDie();
}

table::Manifest Empty() {
  table::Manifest manifest;
  manifest.schema.fields = {{.id = 0, .name = "a", .logical_type = "int64"}};
  manifest.reader_feature_flags = table::feature::kStableRowIds;
  return manifest;
}

std::vector<std::pair<uint64_t, uint64_t>> Find(const RowIdPlaces& places, uint64_t row_id) {
  std::vector<RowIdPlaces::Place> found;
  places.Find(row_id, &found);
  std::vector<std::pair<uint64_t, uint64_t>> pairs;
  for (const auto& place : found) pairs.emplace_back(place.fragment_id, place.row);
  return pairs;
}

using Pair = std::pair<uint64_t, uint64_t>;

TEST(RowIdPlacesTest, GrowsByWhatIsNew) {
  const table::Manifest first = Appended(Empty(), "f0");
  const auto known = RowIdPlaces::Advance(nullptr, SnapshotOf(first)).ValueOrDie();
  EXPECT_THAT(Find(*known, 7), ElementsAre(Pair(0, 7)));
  EXPECT_THAT(Find(*known, 10), IsEmpty());

  table::Manifest second = Appended(first, "f1");
  auto snapshot = SnapshotOf(second);
  const auto more = RowIdPlaces::Advance(known, snapshot).ValueOrDie();
  EXPECT_THAT(Find(*more, 7), ElementsAre(Pair(0, 7)));
  EXPECT_THAT(Find(*more, 10), ElementsAre(Pair(1, 0)));
  EXPECT_THAT(Find(*known, 10), IsEmpty()) << "what was handed out does not change";
  EXPECT_EQ(RowIdPlaces::Advance(more, snapshot).ValueOrDie(), more) << "nothing is new";
}

TEST(RowIdPlacesTest, ManyVersionsOneByOne) {
  table::Manifest manifest = Empty();
  std::shared_ptr<const RowIdPlaces> places;
  for (int i = 0; i < 100; ++i) {
    manifest = Appended(manifest, "f" + std::to_string(i));
    places = RowIdPlaces::Advance(places, SnapshotOf(manifest)).ValueOrDie();
  }
  for (uint64_t id = 0; id < 1000; ++id) {
    EXPECT_THAT(Find(*places, id), ElementsAre(Pair(id / 10, id % 10)));
  }
}

TEST(RowIdPlacesTest, ARowThatMovedHasTwoPlaces) {
  const table::Manifest before = Appended(Appended(Empty(), "f0"), "f1");
  wire::DataFragment updated = before.fragments.Find(0)->Parse().ValueOrDie();
  updated.deletion_file.emplace().num_deleted_rows = 2;
  const table::Update update{
      .updated_fragments = table::FragmentsOf({updated}),
      .new_fragments = table::FragmentsOf({NewFragment("moved", 2, {{8, 9}, {3, 4}})})};
  const auto snapshot = SnapshotOf(table::Apply(before, update).ValueOrDie());
  const auto places = RowIdPlaces::Advance(nullptr, snapshot).ValueOrDie();
  EXPECT_THAT(Find(*places, 3), UnorderedElementsAre(Pair(0, 3), Pair(2, 1)));
  EXPECT_THAT(Find(*places, 8), UnorderedElementsAre(Pair(0, 8), Pair(2, 0)));
  EXPECT_THAT(Find(*places, 4), ElementsAre(Pair(0, 4)));
}

TEST(RowIdPlacesTest, ATableMadeAnewUnderTheSameNameIsAnother) {
  const auto known =
      RowIdPlaces::Advance(nullptr, SnapshotOf(Appended(Empty(), "old"))).ValueOrDie();
  table::Manifest anew = Empty();
  anew.next_row_id = 100;
  const auto places = RowIdPlaces::Advance(known, SnapshotOf(Appended(anew, "new"))).ValueOrDie();
  EXPECT_THAT(Find(*places, 7), IsEmpty());
  EXPECT_THAT(Find(*places, 107), ElementsAre(Pair(0, 7)));
}

}  // namespace
}  // namespace glaive::dataset
