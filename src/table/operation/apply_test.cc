#include "table/operation/apply.h"

#include <gtest/gtest.h>

#include "table/rows/row_ids.h"
#include "table/sets/roaring.h"
#include "testing/golden.h"
#include "testing/matchers.h"
#include "wire/fields.h"
#include "wire/index.h"

namespace glaive::table {
namespace {

using glaive::testing::FromHex;
using glaive::testing::IsError;
using glaive::testing::kManifestHex;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using wire::DataFile;
using wire::DataFragment;

DataFile File(std::string path, std::vector<int32_t> fields, uint32_t minor_version = 2) {
  DataFile file{.path = std::move(path), .fields = std::move(fields), .file_major_version = 2};
  for (size_t i = 0; i < file.fields.size(); ++i) {
    file.column_indices.push_back(static_cast<int32_t>(i));
  }
  file.file_minor_version = minor_version;
  return file;
}

DataFragment NewFragment(std::string path) {
  return {.files = {File(std::move(path), {0, 1})}, .physical_rows = 5};
}

// Version 3 of pylance's table: fragments 0 and 1, 100 rows each, 7 of them deleted.
Manifest Golden() {
  Manifest manifest;
  manifest.version = 3;
  manifest.max_fragment_id = 1;
  manifest.fragments = FragmentTable::Open(arrow::Buffer::FromString(FromHex(kManifestHex)),
                                           {"_versions/3.manifest"})
                           .ValueOrDie();
  manifest.reader_feature_flags = manifest.writer_feature_flags = feature::kDeletionFiles;
  return manifest;
}

DataFragment Parsed(const Manifest& manifest, uint64_t id) {
  return manifest.fragments.Find(id)->Parse().ValueOrDie();
}

TEST(ApplyTest, AppendGivesIdsInListOrder) {
  const Append append{FragmentsOf({NewFragment("a"), NewFragment("b")})};
  const Manifest next = Apply(Golden(), append).ValueOrDie();
  EXPECT_EQ(next.version, 4);
  EXPECT_EQ(next.max_fragment_id, 3);
  EXPECT_EQ(Parsed(next, 2).files[0].path, "a");
  EXPECT_EQ(Parsed(next, 3).files[0].path, "b");
  EXPECT_EQ(next.fragments.totals().live_rows(), 186 + 10);
  EXPECT_EQ(Apply({}, append).ValueOrDie().max_fragment_id, 1) << "ids start at 0";
}

TEST(ApplyTest, DeleteTakesOnlyTheDeletionFile) {
  DataFragment stale = Parsed(Golden(), 0);
  stale.files.clear();  // as read before a column was added
  stale.deletion_file->num_deleted_rows = 9;
  const Manifest next =
      Apply(Golden(), Delete{FragmentsOf({stale}), {1}, "k < 9", {}}).ValueOrDie();
  EXPECT_EQ(next.fragments.totals().num_fragments, 1);
  EXPECT_EQ(next.fragments.totals().live_rows(), 91);
  EXPECT_THAT(Parsed(next, 0).files, SizeIs(1));
  EXPECT_EQ(next.max_fragment_id, 1) << "an id is never used again";
  EXPECT_THAT(Apply(next, Delete{{}, {1}, "", {}}),
              IsError(ErrorKind::kInvalidInput, "fragment 1 is not in"));
}

TEST(ApplyTest, OverwriteGoesOnWithIdsAndConfig) {
  Manifest previous = Golden();
  previous.config["a"] = "1";
  DataFragment fragment = NewFragment("new");
  fragment.id = 77;  // of no account
  const Manifest next = Apply(previous, Overwrite{.fragments = FragmentsOf({fragment}),
                                                  .config_upserts = {{"b", "2"}}})
                            .ValueOrDie();
  EXPECT_EQ(next.fragments.totals().num_fragments, 1);
  EXPECT_EQ(Parsed(next, 2).files[0].path, "new");
  EXPECT_THAT(next.config, SizeIs(2));
  EXPECT_EQ(next.reader_feature_flags, 0);
  EXPECT_EQ(next.writer_feature_flags, feature::kTableConfig);

  fragment.deletion_file.emplace();
  EXPECT_THAT(Apply(previous, Overwrite{.fragments = FragmentsOf({fragment})}),
              IsError(ErrorKind::kInvalidInput, "deletion file"));
}

TEST(ApplyTest, DataReplacementSwapsAddsOrTombstones) {
  const auto files_after = [](const Manifest& manifest, DataFile file) {
    return Parsed(Apply(manifest, DataReplacement{{{0, std::move(file)}}}).ValueOrDie(), 0).files;
  };
  const auto swapped = files_after(Golden(), File("same columns", {0, 1}));
  EXPECT_THAT(swapped, SizeIs(1));
  EXPECT_EQ(swapped[0].path, "same columns");
  EXPECT_THAT(swapped[0].column_indices, ElementsAre(0, 1)) << "only path, size and base change";

  EXPECT_THAT(files_after(Golden(), File("new column", {2})), SizeIs(2));

  const auto tombstoned = files_after(Golden(), File("one of two", {1}));
  ASSERT_THAT(tombstoned, SizeIs(2));
  EXPECT_THAT(tombstoned[0].fields, ElementsAre(0, wire::kTombstoneFieldId));

  const auto dropped = files_after(Golden(), File("all, other version", {1, 0}, 1));
  EXPECT_THAT(dropped, SizeIs(1));
  const Manifest mixed =
      Apply(Golden(), DataReplacement{{{0, File("2.1", {1, 0}, 1)}}}).ValueOrDie();
  EXPECT_TRUE(mixed.writer_feature_flags & feature::kMixedFileVersions);
}

TEST(ApplyTest, DataReplacementRefusesWhatCannotBeMeant) {
  const DataFile as_it_is = Parsed(Golden(), 0).files[0];
  EXPECT_THAT(Apply(Golden(), DataReplacement{{{0, as_it_is}}}),
              IsError(ErrorKind::kInvalidInput, "changes nothing"));
  EXPECT_THAT(Apply(Golden(), DataReplacement{{{0, File("a", {0})}, {1, File("b", {1})}}}),
              IsError(ErrorKind::kInvalidInput, "b does not hold the fields of the other"));
  EXPECT_THAT(Apply(Golden(), DataReplacement{{{9, File("a", {0})}}}),
              IsError(ErrorKind::kInvalidInput, "fragment 9 is not in version"));
}

// An index of field 0 that covers fragments 0 and 1.
Manifest Indexed() {
  Manifest manifest = Golden();
  std::string entry;
  wire::AppendPacked(2, std::array{uint64_t{0}}, &entry);
  wire::AppendBytes(3, "i", &entry);
  wire::AppendBytes(5, SerializeRoaring(std::vector<RowRange>{{0, 2}}), &entry);
  wire::AppendBytes(1, entry, &manifest.index_section);
  return manifest;
}

std::vector<RowRange> Covered(const Manifest& manifest) {
  std::vector<RowRange> covered;
  const auto read = [&](const wire::FieldView& field) -> arrow::Status {
    const auto entry = wire::ParseIndex(field.payload, field.where).ValueOrDie();
    covered = ParseRoaring(wire::AsBytes(entry.fragment_bitmap), {"m"}).ValueOrDie();
    return arrow::Status::OK();
  };
  EXPECT_TRUE(
      wire::VisitFields(wire::AsBytes(manifest.index_section), {"m"}, "IndexSection", read).ok());
  return covered;
}

TEST(ApplyTest, IndicesLoseTheFragmentsTheyNoLongerKnow) {
  const Manifest indexed = Indexed();
  const DataReplacement replacement{{{1, File("new", {0})}}};
  EXPECT_THAT(Covered(Apply(indexed, replacement).ValueOrDie()), ElementsAre(RowRange{0, 1}));
  const DataReplacement other_field{{{1, File("new", {1})}}};
  EXPECT_THAT(Covered(Apply(indexed, other_field).ValueOrDie()), ElementsAre(RowRange{0, 2}));
  EXPECT_EQ(Apply(indexed, Append{FragmentsOf({NewFragment("a")})})->index_section,
            indexed.index_section);
  EXPECT_EQ(Apply(indexed, Overwrite{})->index_section, "");
}

TEST(ApplyTest, StableRowIdsAreGivenAndKept) {
  Manifest empty;
  empty.reader_feature_flags = empty.writer_feature_flags = feature::kStableRowIds;
  const Manifest first =
      Apply(empty, Append{FragmentsOf({NewFragment("a"), NewFragment("b")})}).ValueOrDie();
  EXPECT_EQ(first.next_row_id, 10);
  EXPECT_TRUE(first.has_stable_row_ids());
  const auto ids_of = [](const DataFragment& fragment) {
    const std::string& bytes = std::get<wire::InlineSequence>(fragment.row_ids).bytes;
    return RowIdSequence::Parse(wire::AsBytes(bytes), 5, {"m"})->runs()[0].first;
  };
  const auto changed_in = [](const DataFragment& fragment) {
    const auto& bytes = std::get<wire::InlineSequence>(fragment.last_updated_at_versions).bytes;
    return ParseRowVersions(wire::AsBytes(bytes), 5, {"m"}).ValueOrDie()[0].version;
  };
  EXPECT_EQ(ids_of(Parsed(first, 1)), 5);
  EXPECT_EQ(changed_in(Parsed(first, 1)), 1);

  const Manifest second = Apply(first, DataReplacement{{{1, File("c", {1})}}}).ValueOrDie();
  EXPECT_EQ(ids_of(Parsed(second, 1)), 5);
  EXPECT_EQ(changed_in(Parsed(second, 1)), 2);
  EXPECT_EQ(changed_in(Parsed(second, 0)), 1);
  EXPECT_EQ(Apply(second, Overwrite{.fragments = FragmentsOf({NewFragment("d")})})->next_row_id, 15)
      << "ids are never given twice";

  const Rewrite loses_ids{{{FragmentsOf({Parsed(second, 0)}), FragmentsOf({NewFragment("e")})}},
                          {}};
  EXPECT_THAT(Apply(second, loses_ids), IsError(ErrorKind::kInvalidInput, "does not carry"));
}

TEST(ApplyTest, FilesWhoseColumnsDoNotMatchTheirFields) {
  DataFragment fragment = NewFragment("a");
  fragment.files[0].column_indices.pop_back();
  EXPECT_THAT(Apply({}, Append{FragmentsOf({fragment})}),
              IsError(ErrorKind::kInvalidInput, "a has 2 fields in 1 columns"));
  EXPECT_THAT(Apply({}, Append{FragmentsOf({DataFragment{.files = {File("b", {})}}})}),
              IsError(ErrorKind::kInvalidInput, "b has 0 fields"));
}

TEST(ApplyTest, OverwritingWhereFieldIdsCount) {
  Manifest counting = Golden();
  counting.max_allocated_field_id = 7;
  EXPECT_THAT(Apply(counting, Overwrite{}), IsError(ErrorKind::kUnsupported, "field ids"));
}

TEST(ApplyTest, ReservingOnAnEmptyTable) {
  EXPECT_EQ(Apply({}, ReserveFragments{1}).ValueOrDie().max_fragment_id, 1) << "as pylance has it";
  Manifest full;
  full.max_fragment_id = ~0u;
  EXPECT_THAT(Apply(full, ReserveFragments{1}), IsError(ErrorKind::kUnsupported, "2^32"));
}

TEST(ApplyTest, OtherOperationsAreRefusedByName) {
  EXPECT_THAT(Apply(Golden(), UpdateMemWalState{}),
              IsError(ErrorKind::kUnsupported, "committing an UpdateMemWalState"));
}

}  // namespace
}  // namespace glaive::table
