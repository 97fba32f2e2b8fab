#include "table/operation/field_identity.h"

#include <gtest/gtest.h>

#include "table/operation/apply.h"
#include "table/sets/roaring.h"
#include "testing/index_entries.h"
#include "testing/matchers.h"
#include "wire/overlay.h"

namespace glaive::table {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;
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

DataFragment Rows(std::vector<DataFile> files) {
  return {.files = std::move(files), .physical_rows = 10};
}

wire::Field FieldOf(int32_t id, std::string name, std::string type = "int64") {
  return {.id = id, .name = std::move(name), .logical_type = std::move(type)};
}

// Fields 0 'a' and 1 'price', each in a file of its own.
Manifest Table() {
  Manifest manifest;
  manifest.schema.fields = {FieldOf(0, "a"), FieldOf(1, "price")};
  return Apply(manifest, Append{FragmentsOf({Rows({File("a", {0}), File("price", {1})})})})
      .ValueOrDie();
}

Manifest Projected(const Manifest& from, std::vector<wire::Field> fields) {
  return Apply(from, Project{WrapSchema({.fields = std::move(fields), .metadata = {}}), true})
      .ValueOrDie();
}

// Another column under the id that 'price' had, as a writer gives it who read the version without.
Manifest Reused(std::string name, std::string type) {
  Manifest dropped = Projected(Table(), {FieldOf(0, "a")});
  DataFragment fragment = dropped.fragments.At(0).Parse().ValueOrDie();
  dropped.fragments = FragmentTable().Insert({{fragment}}).ValueOrDie();
  fragment.files.push_back(File("new", {1}));
  const Merge merge{.fragments = FragmentsOf({fragment}),
                    .schema = WrapSchema({{FieldOf(0, "a"), FieldOf(1, name, type)}, {}})};
  return Apply(dropped, merge).ValueOrDie();
}

DataOverlay Overlay(int32_t field) {
  const RowRange rows = {0, 1};
  const wire::DataOverlayFile overlay{.data_file = File("overlay", {field}),
                                      .offset_bitmaps = {SerializeRoaring({&rows, 1})}};
  return {{{0, {overlay}}}};
}

std::vector<Operation> BringingPrice() {
  return {Append{FragmentsOf({Rows({File("late", {0, 1})})})},
          Update{.new_fragments = FragmentsOf({Rows({File("late", {0, 1})})})},
          Update{.fields_modified = {1}, .mode = Update::Mode::kRewriteColumns},
          Rewrite{{{{}, FragmentsOf({Rows({File("late", {0, 1})})})}}, {}},
          DataReplacement{{{0, File("late", {1})}}},
          Overlay(1),
          CreateIndex{{glaive::testing::IndexOf("by_price", {1}, {{0, 1}})}, {}},
          UpdateConfig{.field_metadata = {{1, UpdateMap{{{"unit", "EUR"}}, false}}}}};
}

TEST(FieldIdentityTest, AFileOfAColumnWhoseIdAnotherOneGotIsRefused) {
  const Manifest reused = Reused("age", "int64");
  for (const Operation& operation : BringingPrice()) {
    const auto status = CheckFieldsStand(Table(), reused, operation);
    EXPECT_THAT(status, IsError(ErrorKind::kCommitConflict,
                                "field 1 is 'age' (int64), and was 'price' (int64)"));
    EXPECT_TRUE(IsRetryable(status));
    EXPECT_THAT(CheckFieldsStand(Table(), Reused("price", "string"), operation),
                IsError(ErrorKind::kCommitConflict, "field 1 is 'price' (string)"));
  }
  EXPECT_THAT(CheckFieldsStand(Table(), reused, Append{FragmentsOf({Rows({File("late", {0})})})}),
              IsOk());
}

TEST(FieldIdentityTest, AFileOfAColumnThatWasDroppedBeforeTheVersionReadIsRefused) {
  const Manifest dropped = Projected(Table(), {FieldOf(0, "a")});
  EXPECT_THAT(CheckFieldsStand(dropped, Reused("age", "int64"), BringingPrice().front()),
              IsError(ErrorKind::kCommitConflict, "field 1 is 'age' (int64), which was not there"));
  EXPECT_THAT(CheckFieldsStand(dropped, dropped, BringingPrice().front()), IsOk());
}

TEST(FieldIdentityTest, ARenamedColumnIsTheSame) {
  const Manifest renamed = Projected(Table(), {FieldOf(0, "a"), FieldOf(1, "cost")});
  const Manifest dropped = Projected(Table(), {FieldOf(0, "a")});
  for (const Operation& operation : BringingPrice()) {
    EXPECT_THAT(CheckFieldsStand(Table(), renamed, operation), IsOk());
    EXPECT_THAT(CheckFieldsStand(Table(), dropped, operation), IsOk());
  }
}

Manifest WithMetadata(Manifest manifest, std::string value) {
  manifest.schema.metadata["owner"] = value;
  manifest.schema.fields[0].metadata["unit"] = value;
  return manifest;
}

TEST(FieldIdentityTest, AProjectTakesOnMetadataThatWasChangedMeanwhile) {
  const Manifest seen = WithMetadata(Table(), "old");
  const Manifest latest = WithMetadata(Table(), "new");
  Project drop{WrapSchema({.fields = {seen.schema.fields[0]}, .metadata = seen.schema.metadata}),
               true};
  ASSERT_THAT(CarryMetadata(seen, latest, &drop), IsOk());
  EXPECT_EQ(StateOf(drop.schema)->schema.metadata, latest.schema.metadata);
  EXPECT_EQ(StateOf(drop.schema)->schema.fields[0], latest.schema.fields[0]);
}

TEST(FieldIdentityTest, AProjectKeepsTheMetadataThatItChangesItself) {
  const Manifest seen = WithMetadata(Table(), "old");
  Project edit{WrapSchema(WithMetadata(Table(), "mine").schema), true};
  ASSERT_THAT(CarryMetadata(seen, seen, &edit), IsOk());
  EXPECT_EQ(StateOf(edit.schema)->schema, WithMetadata(Table(), "mine").schema);
  const auto clash = CarryMetadata(seen, WithMetadata(Table(), "new"), &edit);
  EXPECT_THAT(clash, IsError(ErrorKind::kCommitConflict, "metadata of field 'a'"));
  EXPECT_TRUE(IsRetryable(clash));
}

TEST(FieldIdentityTest, AKeyThatWasDeclaredMeanwhileStaysDeclared) {
  Manifest latest = Table();
  latest.schema.fields[0].unenforced_primary_key = true;
  latest.schema.fields[0].unenforced_primary_key_position = 1;
  Project drop{WrapSchema({.fields = {FieldOf(0, "a")}, .metadata = {}}), true};
  ASSERT_THAT(CarryMetadata(Table(), latest, &drop), IsOk());
  EXPECT_TRUE(StateOf(drop.schema)->schema.fields[0].unenforced_primary_key);
}

}  // namespace
}  // namespace glaive::table
