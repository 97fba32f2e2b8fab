#include "table/operation/apply.h"

#include <gtest/gtest.h>

#include "table/rows/row_lineage.h"
#include "table/sets/roaring.h"
#include "testing/index_entries.h"
#include "testing/matchers.h"
#include "wire/fields.h"
#include "wire/overlay.h"

namespace glaive::table {
namespace {

using glaive::testing::CoverageOf;
using glaive::testing::IndexEntry;
using glaive::testing::IndexSection;
using glaive::testing::IsError;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using wire::DataFile;
using wire::DataFragment;

DataFile File(std::string path, std::vector<int32_t> fields) {
  DataFile file{.path = std::move(path), .fields = std::move(fields), .file_major_version = 2};
  file.file_minor_version = 2;
  for (size_t i = 0; i < file.fields.size(); ++i) {
    file.column_indices.push_back(static_cast<int32_t>(i));
  }
  return file;
}

DataFragment NewFragment(std::string path, uint64_t num_rows, std::vector<RowRange> ids = {}) {
  DataFragment fragment{.files = {File(std::move(path), {0, 1})}, .physical_rows = num_rows};
  if (!ids.empty()) fragment.row_ids = wire::InlineSequence{SerializeRowIds(ids)};
  return fragment;
}

// Version 2: fragment 0 of version 1 and fragment 1 of version 2, ten rows each.
Manifest TwoFragments(bool stable_row_ids) {
  Manifest manifest;
  manifest.schema.fields = {{.id = 0, .name = "a", .logical_type = "int64"},
                            {.id = 1, .name = "b", .logical_type = "int64"}};
  if (stable_row_ids) manifest.reader_feature_flags = feature::kStableRowIds;
  manifest = Apply(manifest, Append{FragmentsOf({NewFragment("f0", 10)})}).ValueOrDie();
  return Apply(manifest, Append{FragmentsOf({NewFragment("f1", 10)})}).ValueOrDie();
}

DataFragment Parsed(const Manifest& manifest, uint64_t id) {
  return manifest.fragments.Find(id)->Parse().ValueOrDie();
}

DataFragment WithDeletions(const Manifest& manifest, uint64_t id, uint64_t num_rows) {
  DataFragment fragment = Parsed(manifest, id);
  fragment.deletion_file.emplace().num_deleted_rows = num_rows;
  return fragment;
}

std::vector<uint64_t> IdsOf(const DataFragment& fragment) {
  const RowRange rows = {0, fragment.physical_rows};
  std::vector<uint64_t> ids(rows.size());
  RowIdsOf(fragment, {"m"})->Get({&rows, 1}, ids.data());
  return ids;
}

TEST(ApplyUpdateTest, RowsMoveIntoNewFragments) {
  const Manifest before = TwoFragments(false);
  const Update update{.removed_fragment_ids = {1},
                      .updated_fragments = FragmentsOf({WithDeletions(before, 0, 4)}),
                      .new_fragments = FragmentsOf({NewFragment("moved", 14)})};
  const Manifest next = Apply(before, update).ValueOrDie();
  EXPECT_EQ(next.fragments.totals().num_fragments, 2);
  EXPECT_EQ(next.fragments.totals().live_rows(), 20);
  EXPECT_EQ(Parsed(next, 0).deletion_file->num_deleted_rows, 4);
  EXPECT_EQ(Parsed(next, 2).files[0].path, "moved");
  EXPECT_EQ(next.max_fragment_id, 2);
  EXPECT_EQ(Parsed(next, 2).row_ids, wire::RowSequence());
}

TEST(ApplyUpdateTest, MovedRowsKeepTheirIdsAndWhenTheyWereMade) {
  const Manifest before = TwoFragments(true);
  ASSERT_EQ(before.next_row_id, 20);
  // Rows 3, 4 of version 1, rows 12 and 13 of version 2, and three that are new.
  const Update update{
      .updated_fragments = FragmentsOf({WithDeletions(before, 0, 2), WithDeletions(before, 1, 2)}),
      .new_fragments =
          FragmentsOf({NewFragment("moved", 7, {{3, 5}, {12, 14}}), NewFragment("inserted", 2)})};
  const Manifest next = Apply(before, update).ValueOrDie();
  const DataFragment moved = Parsed(next, 2);
  EXPECT_THAT(IdsOf(moved), ElementsAre(3, 4, 12, 13, 20, 21, 22));
  EXPECT_THAT(CreatedVersionsOf(moved, {"m"}).ValueOrDie(),
              ElementsAre(VersionRun{2, 1}, VersionRun{2, 2}, VersionRun{3, 3}));
  EXPECT_THAT(UpdatedVersionsOf(moved, {"m"}).ValueOrDie(), ElementsAre(VersionRun{7, 3}));
  EXPECT_THAT(IdsOf(Parsed(next, 3)), ElementsAre(23, 24));
  EXPECT_EQ(next.next_row_id, 25);
  EXPECT_EQ(IdsOf(Parsed(next, 0)), IdsOf(Parsed(before, 0))) << "deleted rows keep their ids";

  // A second move copies what the first one copied.
  const Update again{
      .removed_fragment_ids = {2},
      .new_fragments = FragmentsOf({NewFragment("again", 7, {{20, 23}, {3, 5}, {12, 14}})})};
  const DataFragment twice = Parsed(Apply(next, again).ValueOrDie(), 4);
  EXPECT_THAT(IdsOf(twice), ElementsAre(20, 21, 22, 3, 4, 12, 13));
  EXPECT_THAT(CreatedVersionsOf(twice, {"m"}).ValueOrDie(),
              ElementsAre(VersionRun{3, 3}, VersionRun{2, 1}, VersionRun{2, 2}));
}

TEST(ApplyUpdateTest, RowIdsThatWereNeverGivenAreRefused) {
  const Manifest before = TwoFragments(true);
  const Update invented{.new_fragments = FragmentsOf({NewFragment("moved", 2, {{19, 21}})})};
  EXPECT_THAT(Apply(before, invented), IsError(ErrorKind::kInvalidInput, "moves row 20"));
  const Update too_many{.new_fragments = FragmentsOf({NewFragment("moved", 2, {{1, 9}})})};
  EXPECT_THAT(Apply(before, too_many), IsError(ErrorKind::kCorrupt, "more than 2 rows"));
}

TEST(ApplyUpdateTest, ColumnsRewrittenInPlace) {
  const Manifest before = TwoFragments(true);
  DataFragment rewritten = Parsed(before, 0);
  rewritten.files[0].fields[1] = wire::kTombstoneFieldId;
  rewritten.files.push_back(File("b again", {1}));
  rewritten.row_ids = std::monostate{};  // as JSON may come without it
  const std::vector<RowRange> offsets = {{0, 1}, {4, 6}};
  const Update update{.updated_fragments = FragmentsOf({rewritten}),
                      .fields_modified = {1},
                      .mode = Update::Mode::kRewriteColumns,
                      .updated_fragment_offsets = {{0, SerializeRoaring(offsets)}}};
  const Manifest next = Apply(before, update).ValueOrDie();
  const DataFragment after = Parsed(next, 0);
  EXPECT_THAT(after.files, SizeIs(2));
  EXPECT_EQ(after.row_ids, Parsed(before, 0).row_ids);
  EXPECT_THAT(UpdatedVersionsOf(after, {"m"}).ValueOrDie(),
              ElementsAre(VersionRun{1, 3}, VersionRun{3, 1}, VersionRun{2, 3}, VersionRun{4, 1}));
  EXPECT_EQ(after.created_at_versions, Parsed(before, 0).created_at_versions);

  const std::vector<RowRange> last = {{9, 10}};
  const Update at_the_end{.updated_fragments = FragmentsOf({rewritten}),
                          .fields_modified = {1},
                          .mode = Update::Mode::kRewriteColumns,
                          .updated_fragment_offsets = {{0, SerializeRoaring(last)}}};
  EXPECT_THAT(UpdatedVersionsOf(Parsed(*Apply(before, at_the_end), 0), {"m"}).ValueOrDie(),
              ElementsAre(VersionRun{9, 1}, VersionRun{1, 3}));

  const std::vector<RowRange> beyond = {{10, 11}};
  const Update outside{.updated_fragments = FragmentsOf({rewritten}),
                       .fields_modified = {1},
                       .mode = Update::Mode::kRewriteColumns,
                       .updated_fragment_offsets = {{0, SerializeRoaring(beyond)}}};
  EXPECT_THAT(Apply(before, outside), IsError(ErrorKind::kInvalidInput, "row 10 of fragment 0"));
}

TEST(ApplyUpdateTest, WhatLaysOverAColumnThatIsRewrittenGoesAndUnknownFieldsStay) {
  Manifest before = TwoFragments(false);
  DataFragment overlaid = Parsed(before, 0);
  const RowRange rows = {0, 1};
  for (const int32_t field : {0, 1}) {
    const wire::DataOverlayFile overlay{.data_file = File("overlay", {field}),
                                        .offset_bitmaps = {SerializeRoaring({&rows, 1})},
                                        .committed_version = 2};
    overlaid.overlays.push_back(wire::Serialize(overlay));
  }
  wire::AppendVarint(99, 7, &overlaid.unknown_fields);
  wire::AppendVarint(98, 7, &overlaid.files[0].unknown_fields);
  before.fragments = before.fragments.Replace({{overlaid}}).ValueOrDie();
  DataFragment rewritten = overlaid;
  rewritten.files[0].fields[1] = wire::kTombstoneFieldId;
  rewritten.files.push_back(File("b again", {1}));
  rewritten.unknown_fields.clear();
  rewritten.files[0].unknown_fields.clear();
  const Update update{.updated_fragments = FragmentsOf({rewritten}),
                      .fields_modified = {1},
                      .mode = Update::Mode::kRewriteColumns};
  const DataFragment after = Parsed(Apply(before, update).ValueOrDie(), 0);
  EXPECT_THAT(after.overlays, ElementsAre(overlaid.overlays[0]));
  EXPECT_EQ(after.unknown_fields, overlaid.unknown_fields);
  EXPECT_EQ(after.files[0].unknown_fields, overlaid.files[0].unknown_fields);
}

TEST(ApplyUpdateTest, RowsAreTakenFromTheFilesThatTheTableHas) {
  const Manifest read = TwoFragments(false);
  DataFragment rewritten = Parsed(read, 0);
  rewritten.files[0].fields[1] = wire::kTombstoneFieldId;
  rewritten.files.push_back(File("b again", {1}));
  const Update columns{.updated_fragments = FragmentsOf({rewritten}),
                       .fields_modified = {1},
                       .mode = Update::Mode::kRewriteColumns};
  const Manifest latest = Apply(read, columns).ValueOrDie();
  // Made from a version whose files were others: its deletions would come with old values.
  const Update stale{.updated_fragments = FragmentsOf({WithDeletions(read, 0, 1)}),
                     .new_fragments = FragmentsOf({NewFragment("moved", 1)})};
  const auto refused = Apply(latest, stale).status();
  EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, "column 1 of fragment 0 in f0"));
  EXPECT_TRUE(IsRetryable(refused));
  const Update other_column{.updated_fragments = FragmentsOf({Parsed(read, 0)}),
                            .fields_modified = {0}};
  EXPECT_THAT(Apply(latest, other_column), IsError(ErrorKind::kCommitConflict, "column 1"));

  // What it does not name stays as it is, its sizes too.
  DataFragment bare = WithDeletions(latest, 0, 1);
  bare.files.pop_back();
  bare.files[0].file_size_bytes = 77;
  const Manifest next =
      Apply(latest, Update{.updated_fragments = FragmentsOf({bare})}).ValueOrDie();
  EXPECT_EQ(Parsed(next, 0).files, Parsed(latest, 0).files);
  EXPECT_EQ(Parsed(next, 0).deletion_file, bare.deletion_file);
}

TEST(ApplyUpdateTest, RowsThatMoveTwiceKeepWhenTheyAndTheirNeighboursWereMade) {
  const Manifest before = TwoFragments(true);
  const Update first{.updated_fragments = FragmentsOf({WithDeletions(before, 0, 1)}),
                     .new_fragments = FragmentsOf({NewFragment("moved", 1, {{5, 6}})})};
  const Manifest moved = Apply(before, first).ValueOrDie();
  const Update second{.removed_fragment_ids = {2},
                      .updated_fragments = FragmentsOf({WithDeletions(moved, 0, 2)}),
                      .new_fragments = FragmentsOf({NewFragment("again", 2, {{5, 7}})})};
  const Manifest next = Apply(moved, second).ValueOrDie();
  EXPECT_THAT(CreatedVersionsOf(Parsed(next, 3), {"m"}).ValueOrDie(),
              ElementsAre(VersionRun{2, 1}));
}

TEST(ApplyUpdateTest, FilesOfADroppedColumnStayDropped) {
  Manifest before = TwoFragments(false);
  DataFragment stale = WithDeletions(before, 0, 1);
  stale.files.push_back(File("dropped since", {5}));
  DataFragment moved = NewFragment("moved", 1);
  moved.files.push_back(File("dropped as well", {5}));
  const Manifest next = Apply(before, Update{.updated_fragments = FragmentsOf({stale}),
                                             .new_fragments = FragmentsOf({moved})})
                            .ValueOrDie();
  EXPECT_THAT(Parsed(next, 0).files, SizeIs(1));
  EXPECT_THAT(Parsed(next, 2).files, SizeIs(1));
}

TEST(ApplyUpdateTest, IndicesThatKnowIdsFollowRowsWhoseValuesStay) {
  Manifest before = TwoFragments(true);
  before.index_section = IndexSection(
      {IndexEntry("a", {0}, {{0, 2}}), IndexEntry("b", {1}, {{0, 2}}),
       IndexEntry("half", {0}, {{0, 1}}),
       IndexEntry("by address", {0}, {{0, 2}},
                  {.details_type = "/lance.table.BTreeIndexDetails", .index_version = 1})});
  Update update{
      .updated_fragments = FragmentsOf({WithDeletions(before, 0, 1), WithDeletions(before, 1, 1)}),
      .new_fragments = FragmentsOf({NewFragment("moved", 2, {{3, 4}, {12, 13}}),
                                    NewFragment("with a new row", 2, {{4, 5}})}),
      .fields_for_preserving_frag_bitmap = {1}};
  const std::vector<RowRange> followed = {{0, 3}};
  const std::vector<RowRange> both = {{0, 2}};
  const std::vector<RowRange> first = {{0, 1}};
  EXPECT_THAT(CoverageOf(Apply(before, update)->index_section),
              ElementsAre(followed, both, first, both));

  before.reader_feature_flags = 0;
  EXPECT_EQ(Apply(before, update)->index_section, before.index_section)
      << "addresses change when rows move";
}

TEST(ApplyUpdateTest, IndicesLoseFragmentsWhoseColumnWasRewritten) {
  Manifest before = TwoFragments(false);
  before.index_section =
      IndexSection({IndexEntry("a", {0}, {{0, 2}}), IndexEntry("b", {1}, {{0, 2}})});
  const Update update{.updated_fragments = FragmentsOf({Parsed(before, 0)}),
                      .fields_modified = {1}};
  const std::vector<RowRange> both = {{0, 2}};
  const std::vector<RowRange> second = {{1, 2}};
  EXPECT_THAT(CoverageOf(Apply(before, update)->index_section), ElementsAre(both, second));
}

TEST(ApplyUpdateTest, WhatTheTableDoesNotHaveCannotBeUpdated) {
  const Manifest before = TwoFragments(false);
  DataFragment stranger = Parsed(before, 0);
  stranger.id = 7;
  EXPECT_THAT(Apply(before, Update{.updated_fragments = FragmentsOf({stranger})}),
              IsError(ErrorKind::kInvalidInput, "fragment 7 is not in"));
  DataFragment shorter = Parsed(before, 0);
  shorter.physical_rows = 9;
  EXPECT_THAT(Apply(before, Update{.updated_fragments = FragmentsOf({shorter})}),
              IsError(ErrorKind::kInvalidInput, "9 of the 10 rows"));
  EXPECT_THAT(Apply(before, Update{.compacted_sstables = {"s"}}),
              IsError(ErrorKind::kUnsupported, "write-ahead log"));
}

}  // namespace
}  // namespace glaive::table
