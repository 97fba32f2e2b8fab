#include "table/commit/rebase.h"

#include <gtest/gtest.h>

#include "io/memory_store.h"
#include "table/operation/apply.h"
#include "table/rows/deletion_vector.h"
#include "table/sets/roaring.h"
#include "testing/index_entries.h"
#include "testing/matchers.h"
#include "wire/index.h"
#include "wire/overlay.h"

namespace glaive::table {
namespace {

using glaive::testing::CoverageOf;
using glaive::testing::IndexOf;
using glaive::testing::IndexSection;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using ::testing::ElementsAre;
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

DataFragment Parsed(const Manifest& manifest, uint64_t id) {
  return manifest.fragments.Find(id)->Parse().ValueOrDie();
}

class RebaseTest : public ::testing::Test {
 protected:
  // Fragments 0 and 1 of ten rows, of fields 0 and 1.
  static Manifest TwoFragments() {
    Manifest manifest;
    manifest.schema.fields = {{.id = 0, .name = "a", .logical_type = "int64"},
                              {.id = 1, .name = "b", .logical_type = "int64"}};
    const DataFragment rows = {.files = {File("a", {0}), File("b", {1})}, .physical_rows = 10};
    return Apply(manifest, Append{FragmentsOf({rows, rows})}).ValueOrDie();
  }

  Manifest WithDeleted(const Manifest& before, uint64_t id, std::vector<uint32_t> offsets) {
    DataFragment fragment = Parsed(before, id);
    const DeletionVector rows(std::move(offsets));
    fragment.deletion_file = WriteDeletionFile(table_, id, before.version, rows).ValueOrDie();
    return Apply(before, Delete{FragmentsOf({fragment}), {}, "", {}}).ValueOrDie();
  }

  static DataOverlay Overlay(uint64_t fragment_id, std::vector<RowRange> rows) {
    const wire::DataOverlayFile overlay{.data_file = File("overlay", {0}),
                                        .offset_bitmaps = {SerializeRoaring(rows)}};
    return {{{fragment_id, {overlay}}}};
  }

  const TableLocation table_ = {io::MakeMemoryStore(), "/t", "memory://t"};
};

TEST_F(RebaseTest, AnOverlayMayNotLieOnRowsThatWentMeanwhile) {
  const Manifest seen = WithDeleted(TwoFragments(), 0, {3});
  const Manifest latest = WithDeleted(seen, 0, {3, 6});
  const auto check = [&](std::vector<RowRange> rows) {
    return CheckCoverage(table_, seen, latest, Overlay(0, std::move(rows)));
  };
  EXPECT_THAT(check({{4, 6}, {7, 10}}), IsOk()) << "beside it";
  EXPECT_THAT(check({{2, 5}}), IsOk()) << "one that was gone when it was made";
  for (const RowRange rows : {RowRange{6, 7}, RowRange{5, 7}, RowRange{6, 9}}) {
    const arrow::Status refused = check({rows});
    EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, "overlay overlay covers"));
    EXPECT_TRUE(IsRetryable(refused));
  }
  EXPECT_THAT(CheckCoverage(table_, seen, latest, Overlay(1, {{0, 10}})), IsOk());
}

TEST_F(RebaseTest, AnIndexDoesNotCoverWhatWasWrittenAnewSinceItWasBuilt) {
  const Manifest seen = TwoFragments();
  DataFragment rewritten = Parsed(seen, 1);
  rewritten.files[1] = File("b again", {1});
  const Update update{.updated_fragments = FragmentsOf({rewritten}),
                      .fields_modified = {1},
                      .mode = Update::Mode::kRewriteColumns};
  const Manifest latest = Apply(seen, update).ValueOrDie();
  Operation operation =
      CreateIndex{.new_indices = {IndexOf("a", {0}, {{0, 2}}), IndexOf("b", {1}, {{0, 2}})}};
  RebasedFiles files;
  ASSERT_THAT(Rebase(table_, seen, latest, &operation, &files), IsOk());
  const std::vector<RowRange> both = {{0, 2}};
  const std::vector<RowRange> first = {{0, 1}};
  std::vector<std::string> entries;
  for (const IndexMetadata& index : std::get<CreateIndex>(operation).new_indices) {
    entries.push_back(wire::Serialize(index));
  }
  EXPECT_THAT(CoverageOf(IndexSection(entries)), ElementsAre(both, first));
}

TEST_F(RebaseTest, WhatIsWrittenAndSupersededIsNamed) {
  const Manifest seen = TwoFragments();
  const Manifest latest = WithDeleted(seen, 0, {3});
  DataFragment fragment = Parsed(seen, 0);
  fragment.deletion_file = WriteDeletionFile(table_, 0, 1, DeletionVector({5})).ValueOrDie();
  const std::string ours = table_.Path(DeletionFilePath(0, *fragment.deletion_file));
  Operation operation = Delete{FragmentsOf({fragment}), {}, "", std::vector<uint64_t>{5}};
  RebasedFiles files;
  ASSERT_THAT(Rebase(table_, seen, latest, &operation, &files), IsOk());
  EXPECT_THAT(files.superseded, ElementsAre(ours));
  const FragmentMetadata merged = std::get<Delete>(operation).updated_fragments.front();
  EXPECT_THAT(files.written, ElementsAre(table_.Path(merged.deletion_file()->path)));
}

}  // namespace
}  // namespace glaive::table
