#include "table/operation/validate.h"

#include <gtest/gtest.h>

#include "table/operation/apply.h"
#include "testing/edits.h"
#include "testing/matchers.h"

namespace glaive::table {
namespace {

using glaive::testing::Edit;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using wire::DataFile;
using wire::DataFragment;
using wire::Field;

DataFile File(std::string path, std::vector<int32_t> fields, std::vector<int32_t> columns) {
  DataFile file{.path = std::move(path), .fields = std::move(fields)};
  file.column_indices = std::move(columns);
  file.file_major_version = file.file_minor_version = 2;
  return file;
}

// a: int64, s: struct of x and y, b: int64, with ids in that order.
wire::Schema ExampleSchema() {
  Field structure{.id = 1, .name = "s", .logical_type = "struct"};
  structure.children = {{.id = 2, .name = "x", .logical_type = "int64"},
                        {.id = 3, .name = "y", .logical_type = "int64"}};
  wire::Schema schema;
  schema.fields = {{.id = 0, .name = "a", .logical_type = "int64"},
                   structure,
                   {.id = 4, .name = "b", .logical_type = "int64"}};
  return schema;
}

DataFragment NewFragment(std::string path) {
  return {.files = {File(std::move(path), {0, 2, 3, 4}, {0, 1, 2, 3})}, .physical_rows = 5};
}

Manifest Example() {
  Manifest manifest;
  manifest.schema = ExampleSchema();
  return Apply(manifest, Append{FragmentsOf({NewFragment("f0"), NewFragment("f1")})}).ValueOrDie();
}

DataFragment Parsed(const Manifest& manifest, uint64_t id) {
  return manifest.fragments.Find(id)->Parse().ValueOrDie();
}

auto AppendFile(DataFile file) {
  return Apply(Example(), Append{FragmentsOf({{.files = {std::move(file)}, .physical_rows = 5}})})
      .status();
}

TEST(ValidateTest, LeavesAreColumnsAndNothingElseIs) {
  EXPECT_THAT(AppendFile(File("f", {0, 1, 2, 3, 4}, {0, -1, 1, 2, 3})), IsOk());
  EXPECT_THAT(AppendFile(File("f", {0, 1}, {0, 1})),
              IsError(ErrorKind::kInvalidInput, "column 1 for field 1, which is no column"));
  EXPECT_THAT(AppendFile(File("f", {0, 2}, {0, -1})),
              IsError(ErrorKind::kInvalidInput, "column -1 for field 2, which is a column"));
  EXPECT_THAT(AppendFile(File("f", {0, 77}, {0, -1})), IsOk()) << "a dropped column's";
  DataFile older = File("f", {0, 1, 2}, {0, 1, 2});
  older.file_minor_version = 0;
  EXPECT_THAT(AppendFile(older), IsOk()) << "2.0 has a column for each field";
  const DataReplacement replacement{{{0, File("f", {2}, {-1})}}};
  EXPECT_THAT(Apply(Example(), replacement), IsError(ErrorKind::kInvalidInput, "field 2"));
}

TEST(ValidateTest, FilesOfTheFirstFormatAreNotMixedIn) {
  DataFile first = File("f", {0, 1}, {});
  first.file_major_version = 0;
  EXPECT_THAT(AppendFile(first), IsError(ErrorKind::kInvalidInput, "cannot be mixed"));
}

TEST(ValidateTest, FilesOfUnknownVersionsAreRefused) {
  DataFile later = File("f", {0}, {0});
  later.file_major_version = 9;
  EXPECT_THAT(AppendFile(later), IsError(ErrorKind::kInvalidInput, "version 9.2"));
}

TEST(ValidateTest, AFieldIsInOneFileOfAFragment) {
  DataFragment twice = NewFragment("f");
  twice.files.push_back(File("g", {4}, {0}));
  EXPECT_THAT(Apply(Example(), Append{FragmentsOf({twice})}),
              IsError(ErrorKind::kInvalidInput, "field 4; one of them is g"));
}

// An append that was staged before a required column was added, or a merge that adds one and leaves
// out a fragment.
TEST(ValidateTest, RequiredColumnsHaveValuesInEveryFragmentThatIsBrought) {
  Manifest before = Example();
  before.schema.fields.push_back(
      {.id = 5, .name = "c", .logical_type = "int64", .nullable = false});
  EXPECT_THAT(Apply(before, Append{FragmentsOf({NewFragment("staged")})}),
              IsError(ErrorKind::kInvalidInput, "required column 'c'"));
  Merge merge{.fragments = FragmentsOf({Parsed(Example(), 0), Parsed(Example(), 1)}),
              .schema = WrapSchema(before.schema)};
  Edit(merge.fragments, [](auto& all) { all[0].files.push_back(File("c0", {5}, {0})); });
  EXPECT_THAT(Apply(Example(), merge), IsError(ErrorKind::kInvalidInput, "required column 'c'"));
  Edit(merge.fragments, [](auto& all) { all[1].files.push_back(File("c1", {5}, {0})); });
  EXPECT_THAT(Apply(Example(), merge).status(), IsOk());

  Field inner{.id = 5, .name = "inner", .logical_type = "int64", .nullable = false};
  Field outer{.id = 6, .name = "outer", .logical_type = "struct"};
  outer.children = {inner};
  before.schema.fields.back() = outer;
  EXPECT_THAT(Apply(before, Append{FragmentsOf({NewFragment("staged")})}).status(), IsOk())
      << "a struct that may be null";
}

TEST(ValidateTest, OffsetsBelongToFragmentsThatAreBrought) {
  const Update update{.updated_fragments = FragmentsOf({Parsed(Example(), 0)}),
                      .mode = Update::Mode::kRewriteColumns,
                      .updated_fragment_offsets = {{1, ""}}};
  EXPECT_THAT(Apply(Example(), update), IsError(ErrorKind::kInvalidInput, "rows of fragment 1"));
}

TEST(ValidateTest, FragmentsOfATableWithStableRowIdsHaveSome) {
  Manifest stable = Example();
  stable.reader_feature_flags = feature::kStableRowIds;
  EXPECT_THAT(Apply(stable, UpdateConfig{}), IsError(ErrorKind::kInvalidInput, "2 fragments"));
}

auto ProjectTo(std::function<void(std::vector<Field>&)> change) {
  wire::Schema schema = ExampleSchema();
  change(schema.fields);
  return Apply(Example(), Project{.schema = WrapSchema(std::move(schema))}).status();
}

TEST(ValidateTest, AProjectionKeepsTheIdsOfTheTable) {
  using Fields = std::vector<Field>;
  EXPECT_THAT(ProjectTo([](Fields& fields) { fields.erase(fields.begin()); }), IsOk());
  EXPECT_THAT(ProjectTo([](Fields& fields) { fields[0].name = "renamed"; }), IsOk());
  EXPECT_THAT(ProjectTo([](Fields& fields) { std::swap(fields[0], fields[2]); }), IsOk());
  EXPECT_THAT(ProjectTo([](Fields& fields) {
                fields.erase(fields.begin(), fields.begin() + 2);
                fields[0].id = 0;
              }),
              IsError(ErrorKind::kInvalidInput, "makes field 0 'b', which is 'a' in the table"));
  EXPECT_THAT(ProjectTo([](Fields& fields) { fields[0].id = 9; }),
              IsError(ErrorKind::kInvalidInput, "no field 9"));
  EXPECT_THAT(ProjectTo([](Fields& fields) { fields[0].logical_type = "string"; }),
              IsError(ErrorKind::kInvalidInput, "of type string; its values are int64"));
  EXPECT_THAT(ProjectTo([](Fields& fields) { fields[0].name = "b"; }),
              IsError(ErrorKind::kInvalidInput, "two fields are called 'b'"));
  EXPECT_THAT(ProjectTo([](Fields& fields) { fields[0].id = 4; }),
              IsError(ErrorKind::kInvalidInput, "two fields have the id 4"));
  EXPECT_THAT(ProjectTo([](Fields& fields) {
                fields.push_back(fields[1].children[0]);
                fields[1].children.erase(fields[1].children.begin());
              }),
              IsError(ErrorKind::kInvalidInput, "which is 's.x' in the table"));
}

Merge Unchanged() {
  return {.fragments = FragmentsOf({Parsed(Example(), 0), Parsed(Example(), 1)}),
          .schema = WrapSchema(ExampleSchema())};
}

TEST(ValidateTest, AMergeTakesIdsThatWereNeverUsed) {
  Merge merge = Unchanged();
  Edit(merge.schema, [](wire::Schema& schema) {
    schema.fields.push_back({.id = 5, .name = "c", .logical_type = "int64"});
  });
  EXPECT_THAT(Apply(Example(), merge).status(), IsOk());
  Manifest dropped = Example();
  dropped.schema.fields.pop_back();
  merge.schema = WrapSchema(dropped.schema);
  Edit(merge.schema, [](wire::Schema& schema) {
    schema.fields.push_back({.id = 4, .name = "c", .logical_type = "int64"});
  });
  EXPECT_THAT(Apply(dropped, merge),
              IsError(ErrorKind::kInvalidInput, "the id 4, but ids up to 4"));
}

TEST(ValidateTest, AMergeThatChangesAFieldWritesItAnew) {
  Merge merge = Unchanged();
  Edit(merge.schema, [](wire::Schema& schema) { schema.fields[0].logical_type = "int32"; });
  EXPECT_THAT(Apply(Example(), merge),
              IsError(ErrorKind::kInvalidInput, "field 0 'a', whose values in fragment 0"));
  Edit(merge.fragments, [](auto& all) {
    for (DataFragment& fragment : all) {
      fragment.files[0].fields[0] = wire::kTombstoneFieldId;
      fragment.files.push_back(File("again", {0}, {0}));
    }
  });
  EXPECT_THAT(Apply(Example(), merge).status(), IsOk());
}

TEST(ValidateTest, AMergeThatReplacesAFieldHasItsValues) {
  Merge merge = Unchanged();
  Edit(merge.schema, [](wire::Schema& schema) { schema.fields[0].id = 5; });
  Edit(merge.fragments, [](auto& all) { all[0].files.push_back(File("cast", {5}, {0})); });
  EXPECT_THAT(
      Apply(Example(), merge),
      IsError(ErrorKind::kInvalidInput, "in the place of 'a', but fragment 1 has no values"));
  Edit(merge.fragments, [](auto& all) { all[1].files.push_back(File("cast", {5}, {0})); });
  EXPECT_THAT(Apply(Example(), merge).status(), IsOk());
}

}  // namespace
}  // namespace glaive::table
