#include <gtest/gtest.h>

#include "table/operation/apply.h"
#include "testing/matchers.h"
#include "wire/fields.h"

namespace glaive::table {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Manifest Example() {
  Manifest manifest;
  manifest.version = 5;
  manifest.max_fragment_id = 7;
  manifest.next_row_id = 100;
  manifest.config = {{"a", "1"}, {"b", "2"}};
  manifest.schema.fields = {{.id = 0, .name = "k", .logical_type = "int64", .nullable = false},
                            {.id = 1, .name = "s", .logical_type = "string"}};
  wire::DataFragment fragment{.id = 3, .physical_rows = 10};
  fragment.files = {{.path = "own", .fields = {0}, .column_indices = {0}, .file_major_version = 2},
                    {.path = "far", .fields = {1}, .column_indices = {0}, .file_major_version = 2}};
  fragment.files[1].base_id = 0;
  fragment.deletion_file = wire::DeletionFile{.num_deleted_rows = 1};
  manifest.fragments = FragmentTable().Insert({{fragment}}).ValueOrDie();
  manifest.base_paths = {{.name = "far", .path = "/far"}};
  return manifest;
}

UpdateConfig FieldEdit(int32_t id, const std::string& key, std::optional<std::string> value) {
  return {.field_metadata = {{id, {.entries = {{key, std::move(value)}}}}}};
}

constexpr const char* kPrimaryKey = "lance-schema:unenforced-primary-key";

TEST(ApplySettingsTest, ConfigIsEditedByKey) {
  const UpdateConfig update{.config = UpdateMap{.entries = {{"a", std::nullopt}, {"c", ""}}}};
  EXPECT_THAT(Apply(Example(), update).ValueOrDie().config,
              ElementsAre(Pair("b", "2"), Pair("c", "")));
}

TEST(ApplySettingsTest, ReplacingDropsWhatIsNotNamed) {
  const UpdateConfig update{.config = UpdateMap{.entries = {{"c", "3"}}, .replace = true},
                            .table_metadata = UpdateMap{.entries = {{"t", "1"}}},
                            .schema_metadata = UpdateMap{.entries = {{"s", "1"}}}};
  const Manifest next = Apply(Example(), update).ValueOrDie();
  EXPECT_THAT(next.config, ElementsAre(Pair("c", "3")));
  EXPECT_THAT(next.table_metadata, ElementsAre(Pair("t", "1")));
  EXPECT_THAT(next.schema.metadata, ElementsAre(Pair("s", "1")));
}

TEST(ApplySettingsTest, AFieldThatIsNotThereIsAnError) {
  EXPECT_THAT(Apply(Example(), FieldEdit(9, "unit", "m")),
              IsError(ErrorKind::kInvalidInput, "Field with id 9"));
}

TEST(ApplySettingsTest, APrimaryKeyIsSetOnce) {
  const Manifest keyed = Apply(Example(), FieldEdit(0, kPrimaryKey, "true")).ValueOrDie();
  EXPECT_TRUE(keyed.schema.fields[0].unenforced_primary_key);
  for (const auto& value : {std::optional<std::string>("false"), std::optional<std::string>()}) {
    EXPECT_THAT(Apply(keyed, FieldEdit(0, kPrimaryKey, value)),
                IsError(ErrorKind::kInvalidInput, "cannot be changed"));
  }
  const UpdateConfig cleared{.field_metadata = {{0, {.entries = {}, .replace = true}}}};
  EXPECT_THAT(Apply(keyed, cleared), IsError(ErrorKind::kInvalidInput, "cannot be changed"));
  EXPECT_THAT(Apply(keyed, FieldEdit(0, "unit", "m")), IsOk());
}

TEST(ApplySettingsTest, APrimaryKeyHasNoNullsAndAValidMark) {
  EXPECT_THAT(Apply(Example(), FieldEdit(1, kPrimaryKey, "true")),
              IsError(ErrorKind::kInvalidInput, "without nulls"));
  EXPECT_THAT(Apply(Example(), FieldEdit(0, kPrimaryKey, "maybe")),
              IsError(ErrorKind::kInvalidInput, "no valid"));
}

TEST(ApplySettingsTest, RestoreKeepsTheCounters) {
  auto old = std::make_shared<Manifest>(Example());
  old->version = 2;
  old->max_fragment_id = 1;
  old->next_row_id = 10;
  old->config = {{"old", "1"}};
  const Manifest next = Apply(Example(), Restore{2}, {.content = std::move(old)}).ValueOrDie();
  EXPECT_EQ(next.version, 6);
  EXPECT_EQ(next.max_fragment_id, 7);
  EXPECT_EQ(next.next_row_id, 100);
  EXPECT_THAT(next.config, ElementsAre(Pair("old", "1")));
}

TEST(ApplySettingsTest, RestoreDoesNotTurnStableRowIdsOff) {
  Manifest stable = Example();
  stable.reader_feature_flags = stable.writer_feature_flags = feature::kStableRowIds;
  auto old = std::make_shared<Manifest>(Example());
  EXPECT_THAT(Apply(stable, Restore{5}, {.content = old}),
              IsError(ErrorKind::kInvalidInput, "stable row ids"));
  EXPECT_THAT(Apply(Example(), Restore{4}, {.content = old}),
              IsError(ErrorKind::kInvalidInput, "without its manifest"));
}

TEST(ApplySettingsTest, BasesGetTheLowestFreeIdAboveZero) {
  Manifest manifest = Example();
  manifest.base_paths.push_back({.id = 2, .path = "/two"});
  const Manifest next =
      Apply(manifest, UpdateBases{{{.path = "/one"}, {.path = "/three"}}}).ValueOrDie();
  EXPECT_EQ(next.base_paths[2].id, 1);
  EXPECT_EQ(next.base_paths[3].id, 3);
  EXPECT_NE(next.reader_feature_flags & feature::kBasePaths, 0);
  for (const BasePath& clash : {BasePath{.name = "far", .path = "/x"}, BasePath{.path = "/far"},
                                BasePath{.id = 2, .path = "/x"}}) {
    EXPECT_THAT(Apply(manifest, UpdateBases{{clash}}), IsError(ErrorKind::kInvalidInput, "/"));
  }
}

TEST(ApplySettingsTest, AShallowCloneRefersToItsSource) {
  Manifest source = Example();
  std::string index;
  wire::AppendBytes(3, "by_k", &index);
  wire::AppendBytes(1, index, &source.index_section);
  const Clone clone{.is_shallow = true,
                    .ref_name = "dev",
                    .ref_version = 5,
                    .ref_path = "/source",
                    .branch_name = "dev2"};
  const Manifest next = Apply(source, clone).ValueOrDie();
  EXPECT_EQ(next.version, 5);
  EXPECT_EQ(next.branch, "dev2");
  EXPECT_EQ(next.max_fragment_id, 7);
  const wire::DataFragment fragment = next.fragments.Find(3)->Parse().ValueOrDie();
  EXPECT_EQ(fragment.files[0].base_id, 1);
  EXPECT_EQ(fragment.files[1].base_id, 0) << "it lies where it lay";
  EXPECT_EQ(fragment.deletion_file->base_id, 1);
  EXPECT_EQ(next.base_paths.back(),
            (BasePath{.id = 1, .name = "dev", .is_dataset_root = true, .path = "/source"}));
  std::string moved = index;
  wire::AppendVarint(9, 1, &moved);
  std::string expected;
  wire::AppendBytes(1, moved, &expected);
  EXPECT_EQ(next.index_section, expected);
}

TEST(ApplySettingsTest, ADeepCloneStandsAlone) {
  const Manifest next = Apply(Example(), Clone{.ref_version = 5}).ValueOrDie();
  EXPECT_THAT(next.base_paths, IsEmpty());
  const wire::DataFragment fragment = next.fragments.Find(3)->Parse().ValueOrDie();
  EXPECT_FALSE(fragment.files[0].base_id || fragment.files[1].base_id ||
               fragment.deletion_file->base_id);
}

}  // namespace
}  // namespace glaive::table
