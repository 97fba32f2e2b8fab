#include <gtest/gtest.h>

#include "table/operation/apply.h"
#include "table/rows/row_lineage.h"
#include "table/sets/roaring.h"
#include "testing/edits.h"
#include "testing/index_entries.h"
#include "testing/matchers.h"
#include "wire/fields.h"
#include "wire/index.h"

namespace glaive::table {
namespace {

using glaive::testing::CoverageOf;
using glaive::testing::IndexEntry;
using glaive::testing::IndexOf;
using glaive::testing::IndexSection;
using glaive::testing::IsError;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using wire::DataFragment;

DataFragment NewFragment(std::string path, uint64_t num_rows, uint64_t id = 0) {
  wire::DataFile file{.path = std::move(path), .fields = {0}, .column_indices = {0}};
  file.file_major_version = file.file_minor_version = 2;
  return {.id = id, .files = {file}, .physical_rows = num_rows};
}

// Fragments 0, 1 and 2 of five rows each, in version 1, of one field.
Manifest ThreeFragments(bool stable_row_ids = false) {
  Manifest manifest;
  manifest.schema.fields = {{.id = 0, .name = "a", .logical_type = "int64"}};
  if (stable_row_ids) manifest.reader_feature_flags = feature::kStableRowIds;
  const Append append{
      FragmentsOf({NewFragment("f0", 5), NewFragment("f1", 5), NewFragment("f2", 5)})};
  return Apply(manifest, append).ValueOrDie();
}

DataFragment Parsed(const Manifest& manifest, uint64_t id) {
  return manifest.fragments.Find(id)->Parse().ValueOrDie();
}

// Fragments 0 and 1 as one, whose rows keep their ids if they have some.
Rewrite Compact(const Manifest& manifest, uint64_t new_id = 0) {
  DataFragment compacted = NewFragment("compacted", 10, new_id);
  if (manifest.has_stable_row_ids()) {
    const RowRange ids = {0, 10};
    compacted.row_ids = wire::InlineSequence{SerializeRowIds({&ids, 1})};
  }
  return {.groups = {
              {FragmentsOf({Parsed(manifest, 0), Parsed(manifest, 1)}), FragmentsOf({compacted})}}};
}

TEST(ApplyRewriteTest, ExchangesFragmentsUnderReservedIds) {
  const Manifest before = ThreeFragments();
  const Manifest reserved = Apply(before, ReserveFragments{1}).ValueOrDie();
  EXPECT_EQ(reserved.max_fragment_id, 3);
  EXPECT_EQ(reserved.fragments.totals(), before.fragments.totals());

  const Manifest appended =
      Apply(reserved, Append{FragmentsOf({NewFragment("a", 1)})}).ValueOrDie();
  const Manifest next = Apply(appended, Compact(appended, 3)).ValueOrDie();
  EXPECT_EQ(Parsed(next, 3).files[0].path, "compacted");
  EXPECT_EQ(Parsed(next, 4).files[0].path, "a");
  EXPECT_EQ(next.fragments.totals().num_fragments, 3);
  EXPECT_EQ(next.max_fragment_id, 4);
}

template <typename Change>
void Edit(Rewrite& rewrite, const Change& change) {
  testing::Edit(rewrite.groups[0].new_fragments, [&](auto& fragments) { change(fragments[0]); });
}

TEST(ApplyRewriteTest, RowsMustBeThereAsManyAsBefore) {
  const Manifest before = ThreeFragments();
  Rewrite rewrite = Compact(before);
  Edit(rewrite, [](DataFragment& fragment) { fragment.physical_rows = 9; });
  EXPECT_THAT(Apply(before, rewrite), IsError(ErrorKind::kInvalidInput, "9 rows of the 10"));
  DataFragment deleted = Parsed(before, 0);
  deleted.deletion_file.emplace().num_deleted_rows = 1;
  const Manifest shorter = Apply(before, Delete{FragmentsOf({deleted}), {}, "", {}}).ValueOrDie();
  EXPECT_EQ(Apply(shorter, rewrite)->fragments.totals().live_rows(), 14);

  const Manifest gone = Apply(before, Delete{{}, {1}, "", {}}).ValueOrDie();
  EXPECT_THAT(Apply(gone, Compact(before)),
              IsError(ErrorKind::kCommitConflict, "fragment 1, which a rewrite is to replace"));
}

TEST(ApplyRewriteTest, StableRowIdsAreBroughtAlong) {
  const Manifest before = ThreeFragments(true);
  const DataFragment after = Parsed(Apply(before, Compact(before)).ValueOrDie(), 3);
  const auto ids = RowIdsOf(after, {"m"}).ValueOrDie();
  EXPECT_EQ(ids.size(), 10);
  EXPECT_EQ(ids.runs().back().first + ids.runs().back().length, 10);
  Rewrite loses_ids = Compact(before);
  Edit(loses_ids, [](DataFragment& fragment) { fragment.row_ids = std::monostate{}; });
  EXPECT_THAT(Apply(before, loses_ids), IsError(ErrorKind::kInvalidInput, "does not carry"));
  Rewrite too_few = Compact(before);
  Edit(too_few, [&](DataFragment& fragment) { fragment.row_ids = Parsed(before, 0).row_ids; });
  EXPECT_THAT(Apply(before, too_few), IsError(ErrorKind::kCorrupt, "lineage of 5 rows"));
}

const std::vector<RowRange> kAll = {{0, 3}};
const std::vector<RowRange> kThird = {{2, 3}};
const std::vector<RowRange> kFollowed = {{2, 4}};

TEST(ApplyRewriteTest, IndicesThatKnowAddressesLoseTheFragments) {
  Manifest before = ThreeFragments();
  before.index_section = IndexSection({IndexEntry("a", {0}, kAll)});
  EXPECT_THAT(CoverageOf(Apply(before, Compact(before))->index_section), ElementsAre(kThird));
  before.index_section = IndexSection({IndexEntry("old", {0}, {}, {.unknown_coverage = true})});
  EXPECT_THAT(Apply(before, Compact(before)), IsError(ErrorKind::kUnsupported, "index 'old'"));
}

TEST(ApplyRewriteTest, IndicesThatKnowIdsFollowRowsTheyAllKnow) {
  Manifest before = ThreeFragments(true);
  before.index_section = IndexSection(
      {IndexEntry("ids", {0}, kAll), IndexEntry("part", {0}, {{1, 3}}),
       IndexEntry("addresses", {0}, kAll, {.details_type = "/lance.table.ZoneMapIndexDetails"})});
  EXPECT_THAT(CoverageOf(Apply(before, Compact(before))->index_section),
              ElementsAre(kFollowed, kThird, kThird));
}

TEST(ApplyRewriteTest, ValuesLaidOverAfterAnIndexWasBuiltAreNotKnownToIt) {
  Manifest before = ThreeFragments(true);
  before.index_section = IndexSection({IndexEntry("ids", {0}, kAll)});
  wire::DataFile file{.path = "overlay", .fields = {0}, .column_indices = {0}};
  std::string overlay;
  wire::AppendBytes(1, wire::Serialize(file), &overlay);
  const RowRange covered = {0, 1};
  wire::AppendBytes(2, SerializeRoaring({&covered, 1}), &overlay);
  wire::AppendVarint(3, 2, &overlay);
  DataFragment overlaid = Parsed(before, 0);
  overlaid.overlays = {overlay};
  before.fragments = before.fragments.Replace({{overlaid}}).ValueOrDie();
  EXPECT_THAT(CoverageOf(Apply(before, Compact(before))->index_section), ElementsAre(kThird));
}

TEST(ApplyRewriteTest, AnIndexThatWasRewrittenAsWellFollows) {
  Manifest before = ThreeFragments();
  before.index_section = IndexSection({IndexEntry("a", {0}, kAll, {.uuid = 7})});
  Rewrite rewrite = Compact(before);
  rewrite.rewritten_indices = {{.old_id = "07070707-0707-0707-0707-070707070707",
                                .new_id = "08080808-0808-0808-0808-080808080808"}};
  EXPECT_EQ(Apply(before, rewrite)->index_section,
            IndexSection({IndexEntry("a", {0}, kFollowed, {.uuid = 8})}));
}

IndexMetadata Parsed(const std::string& entry) {
  return wire::ParseIndex(wire::AsBytes(entry), {"m"}).ValueOrDie();
}

TEST(ApplyCreateIndexTest, EntriesComeAndGo) {
  Manifest before = ThreeFragments();
  const std::string first = IndexEntry("a", {0}, kThird, {.uuid = 1});
  const std::string second = IndexEntry("b", {0}, kAll, {.uuid = 2});
  const std::string again = IndexEntry("a", {0}, kAll, {.uuid = 1});
  const Manifest both =
      Apply(before, CreateIndex{.new_indices = {Parsed(first), Parsed(second)}}).ValueOrDie();
  EXPECT_EQ(both.index_section, IndexSection({first, second}));
  EXPECT_EQ(Apply(both, CreateIndex{.new_indices = {Parsed(again)}})->index_section,
            IndexSection({second, again}));
  EXPECT_EQ(Apply(both, CreateIndex{.removed_indices = {Parsed(second)}})->index_section,
            IndexSection({first}));
}

TEST(ApplyCreateIndexTest, WhatCannotAnswerIsRefused) {
  const Manifest before = ThreeFragments();
  const auto bring = [&](std::vector<IndexMetadata> entries) {
    return Apply(before, CreateIndex{.new_indices = std::move(entries)});
  };
  EXPECT_THAT(bring({IndexOf("a", {7}, kAll)}),
              IsError(ErrorKind::kInvalidInput, "index 'a' is on field 7"));
  EXPECT_THAT(bring({IndexOf("a", {0}, kAll),
                     IndexOf("a", {0}, kThird, {.details_type = "/x.ZoneMapIndexDetails"})}),
              IsError(ErrorKind::kInvalidInput, "index 'a' store row ids and row addresses"));
}

}  // namespace
}  // namespace glaive::table
