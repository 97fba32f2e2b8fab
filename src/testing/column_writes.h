#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "glaive/columns.h"
#include "glaive/commit.h"
#include "glaive/files.h"
#include "glaive/schema.h"
#include "testing/column_table.h"
#include "testing/matchers.h"

// What tests of column writes do to the small table between staging and commit.
namespace glaive::testing {

inline constexpr std::nullopt_t kNull = std::nullopt;

inline StagedColumns StageOk(const Dataset& dataset, uint64_t fragment_id, const Columns& columns,
                             bool nullable = true) {
  return Stage(dataset, fragment_id, columns, nullable).ValueOrDie();
}

inline void ExpectOk(const arrow::Result<Dataset>& made) { EXPECT_THAT(made.status(), IsOk()); }

// The commit is refused, says where, and leaves table and files as they were.
inline void ExpectRefused(const Dataset& dataset, const std::vector<StagedColumns>& staged,
                          std::optional<uint64_t> fragment_id, const std::string& field,
                          const CommitColumnsOptions& options = {}) {
  const uint64_t version = NewestColumnTable().version();
  const size_t files = NumDataFiles();
  const auto made = CommitAll(dataset, staged, options);
  ASSERT_THAT(made.status(), IsError(ErrorKind::kCommitConflict, "Commit conflict for version"));
  EXPECT_TRUE(IsRetryable(made.status()));
  const auto* conflict = ColumnWriteConflict::Of(made.status());
  ASSERT_NE(conflict, nullptr) << made.status();
  EXPECT_EQ(conflict->fragment_id(), fragment_id) << made.status();
  EXPECT_EQ(conflict->field(), field) << made.status();
  EXPECT_EQ(NewestColumnTable().version(), version);
  EXPECT_EQ(NumDataFiles(), files);
  for (const StagedColumns& each : staged) EXPECT_THAT(Discard(dataset, each), IsOk());
  EXPECT_EQ(NumDataFiles(), files - staged.size());
}

// Lays values over some rows of fragment 0, in a file of one column.
inline void LayOver(const Dataset& dataset, const std::string& column,
                    const std::vector<uint32_t>& rows, const Values& values) {
  setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1", 1);
  const auto stream = ColumnStream({{column, values}});
  const std::string name = column + std::to_string(dataset.version()) + ".lance";
  const auto file =
      DataFileWriter::Create(ColumnTableUri() + "/data/" + name, stream->schema(), {}).ValueOrDie();
  ASSERT_THAT(file->Write(stream->Next().ValueOrDie()), IsOk());
  ASSERT_THAT(file->Finish().status(), IsOk());
  operation::DataOverlay overlay;
  overlay.groups.push_back({0,
                            {{.data_file = DescribeDataFile(dataset, name).ValueOrDie(),
                              .offset_bitmaps = {MakeBitmap(rows).ValueOrDie()}}}});
  ExpectOk(Commit(dataset, {.read_version = dataset.version(), .operation = overlay}));
}

// The metadata of fragment 0, changed by a merge that touches no file.
inline void Edit(const Dataset& dataset, const std::string& from, const std::string& to) {
  operation::Merge merge{.fragments = dataset.Fragments().ValueOrDie(),
                         .schema = SchemaOf(dataset).ValueOrDie()};
  std::string json = merge.fragments[0].ToJson();
  const size_t place = json.find(from);
  ASSERT_NE(place, std::string::npos) << json;
  merge.fragments[0] =
      FragmentMetadata::FromJson(json.replace(place, from.size(), to)).ValueOrDie();
  ExpectOk(Commit(dataset, {.read_version = dataset.version(), .operation = merge}));
}

}  // namespace glaive::testing
