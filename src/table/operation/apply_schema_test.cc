#include <gtest/gtest.h>

#include "table/operation/apply.h"
#include "table/rows/row_lineage.h"
#include "testing/edits.h"
#include "testing/index_entries.h"
#include "testing/matchers.h"

namespace glaive::table {
namespace {

using glaive::testing::CoverageOf;
using glaive::testing::Edit;
using glaive::testing::IndexEntry;
using glaive::testing::IndexSection;
using glaive::testing::IsError;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
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

DataFragment NewFragment(std::string path) {
  return {.files = {File(std::move(path), {0, 1})}, .physical_rows = 5};
}

using Fragments = std::vector<DataFragment>;

wire::Schema SchemaOf(std::initializer_list<int32_t> ids) {
  wire::Schema schema;
  for (const int32_t id : ids) {
    schema.fields.push_back({.id = id, .name = std::to_string(id), .logical_type = "int64"});
  }
  return schema;
}

// Fragments 0 and 1 of fields 0 and 1, in version 1.
Manifest TwoFragments(bool stable_row_ids = false) {
  Manifest manifest;
  manifest.schema = SchemaOf({0, 1});
  if (stable_row_ids) manifest.reader_feature_flags = feature::kStableRowIds;
  return Apply(manifest, Append{FragmentsOf({NewFragment("f0"), NewFragment("f1")})}).ValueOrDie();
}

DataFragment Parsed(const Manifest& manifest, uint64_t id) {
  return manifest.fragments.Find(id)->Parse().ValueOrDie();
}

// Both fragments, with a column more in the first.
Merge AddColumn(const Manifest& manifest) {
  Fragments fragments = {Parsed(manifest, 0), Parsed(manifest, 1)};
  fragments[0].files.push_back(File("more", {2}));
  return {.fragments = FragmentsOf(std::move(fragments)),
          .schema = WrapSchema(SchemaOf({0, 1, 2}))};
}

TEST(ApplySchemaTest, AMergeAddsColumnsAndFragments) {
  const Manifest before = TwoFragments();
  Merge merge = AddColumn(before);
  merge.fragments.push_back(MakeFragmentMetadata(NewFragment("new")));
  const Manifest next = Apply(before, merge).ValueOrDie();
  EXPECT_EQ(next.schema, SchemaOf({0, 1, 2}));
  EXPECT_EQ(Parsed(next, 0), StateOf(merge.fragments[0])->fragment);
  EXPECT_EQ(Parsed(next, 2).files[0].path, "new");
  EXPECT_EQ(next.max_fragment_id, 2);
}

TEST(ApplySchemaTest, AMergeKeepsEveryFragmentAndItsRows) {
  const Manifest before = TwoFragments();
  const auto after = [&](auto change) {
    Merge merge = AddColumn(before);
    Edit(merge.fragments, change);
    return Apply(before, merge);
  };
  EXPECT_THAT(after([](Fragments& all) { all.pop_back(); }),
              IsError(ErrorKind::kInvalidInput, "names 1 of the 2 fragments of version 1"));
  EXPECT_THAT(after([](Fragments& all) { all.push_back(all[1]); }),
              IsError(ErrorKind::kInvalidInput, "fragment 1 twice"));
  EXPECT_THAT(after([](Fragments& all) { all.emplace_back(all[1]).id = 7; }),
              IsError(ErrorKind::kInvalidInput, "fragment 7 is not in version 1"));
  EXPECT_THAT(after([](Fragments& all) { all[0].physical_rows = 4; }),
              IsError(ErrorKind::kInvalidInput, "4 rows of the 5 of fragment 0"));
  EXPECT_THAT(after([](Fragments& all) { all.insert(all.begin() + 1, NewFragment("new")); }),
              IsError(ErrorKind::kInvalidInput, "fragment 1 behind a new one"));
}

TEST(ApplySchemaTest, AMergeChangesRowsWhoseColumnsItWrites) {
  const Manifest before = TwoFragments(true);
  Merge merge = AddColumn(before);
  Edit(merge.fragments, [](Fragments& all) {
    all[0].row_ids = std::monostate{};  // as JSON may come without it
    all.push_back(NewFragment("new"));
  });
  const Manifest next = Apply(before, merge).ValueOrDie();
  const auto changed = [&](uint64_t id) {
    return UpdatedVersionsOf(Parsed(next, id), {"m"}).ValueOrDie();
  };
  EXPECT_THAT(changed(0), ElementsAre(VersionRun{5, 2}));
  EXPECT_THAT(changed(1), ElementsAre(VersionRun{5, 1}));
  EXPECT_EQ(Parsed(next, 0).row_ids, Parsed(before, 0).row_ids);
  EXPECT_EQ(Parsed(next, 0).created_at_versions, Parsed(before, 0).created_at_versions);
  EXPECT_EQ(RowIdsOf(Parsed(next, 2), {"m"})->runs()[0].first, 10);
  EXPECT_EQ(next.next_row_id, 15);

  Edit(merge.fragments, [&](Fragments& all) { all[2].row_ids = Parsed(before, 0).row_ids; });
  EXPECT_THAT(Apply(before, merge), IsError(ErrorKind::kInvalidInput, "has row ids already"));
}

TEST(ApplySchemaTest, AMergeTakesRewrittenColumnsOutOfTheirIndices) {
  Manifest before = TwoFragments();
  before.index_section =
      IndexSection({IndexEntry("a", {0}, {{0, 2}}), IndexEntry("b", {1}, {{0, 2}}),
                    IndexEntry("__lance_mem_wal", {}, {})});
  const std::vector<RowRange> both = {{0, 2}};
  const std::vector<RowRange> second = {{1, 2}};
  EXPECT_EQ(Apply(before, AddColumn(before))->index_section, before.index_section);

  Merge rewrites = AddColumn(before);
  Edit(rewrites.fragments, [](Fragments& all) {
    all[0].files = {File("f0", {0, wire::kTombstoneFieldId}), File("again", {1})};
  });
  EXPECT_THAT(CoverageOf(Apply(before, rewrites)->index_section),
              ElementsAre(both, second, IsEmpty()));

  Merge drops = AddColumn(before);
  drops.schema = WrapSchema(SchemaOf({1, 2}));
  EXPECT_THAT(CoverageOf(Apply(before, drops)->index_section), ElementsAre(both, IsEmpty()));
}

TEST(ApplySchemaTest, AMergeHandsBackWhatItsCallerDidNotKnow) {
  Manifest before = TwoFragments();
  DataFragment newer = Parsed(before, 0);
  newer.unknown_fields = std::string("\xd2\x4d\x01x", 4);
  newer.files[0].unknown_fields = std::string("\xd2\x4d\x01y", 4);
  before.fragments = before.fragments.Replace({{newer}}).ValueOrDie();
  Merge merge = AddColumn(before);
  Edit(merge.fragments, [](Fragments& all) {
    all[0].unknown_fields.clear();
    all[0].files[0].unknown_fields.clear();
  });
  const DataFragment after = Parsed(Apply(before, merge).ValueOrDie(), 0);
  EXPECT_EQ(after.unknown_fields, newer.unknown_fields);
  EXPECT_EQ(after.files[0].unknown_fields, newer.files[0].unknown_fields);
}

TEST(ApplySchemaTest, AProjectDropsFilesOfNoField) {
  DataFragment fragment = NewFragment("a");
  fragment.files.push_back(File("b", {2}));
  Manifest before = TwoFragments();
  before.schema = SchemaOf({0, 1, 2});
  before = Apply(before, Append{FragmentsOf({fragment})}).ValueOrDie();
  const Project project{.schema = WrapSchema(SchemaOf({0, 1}))};
  const Manifest next = Apply(before, project).ValueOrDie();
  EXPECT_EQ(next.schema, SchemaOf({0, 1}));
  EXPECT_THAT(Parsed(next, 2).files, ElementsAre(fragment.files[0]));
  EXPECT_EQ(Parsed(next, 0), Parsed(before, 0));
}

TEST(ApplySchemaTest, AProjectDropsIndicesOfLostFields) {
  Manifest before = TwoFragments();
  before.index_section =
      IndexSection({IndexEntry("a", {0}, {{0, 2}}), IndexEntry("b", {1}, {{0, 2}})});
  Project renames{.schema = WrapSchema(before.schema)};
  Edit(renames.schema, [](wire::Schema& schema) { schema.fields[0].name = "renamed"; });
  EXPECT_EQ(Apply(before, renames)->index_section, before.index_section);
  EXPECT_EQ(Apply(before, Project{.schema = WrapSchema(SchemaOf({1}))})->index_section,
            IndexSection({IndexEntry("b", {1}, {{0, 2}})}));
}

}  // namespace
}  // namespace glaive::table
