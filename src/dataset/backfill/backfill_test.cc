#include "glaive/history.h"
#include "glaive/staged_columns.h"

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "testing/column_table.h"
#include "testing/matchers.h"
#include "testing/temporary_folder.h"

namespace glaive {
namespace {

using testing::ColumnTableUri;
using ::testing::ElementsAre;
using testing::IsError;
using testing::IsOk;
using testing::MakeColumnTable;
using testing::Values;

std::vector<std::optional<int32_t>> Read(const std::string& name) {
  const Dataset dataset = Dataset::Open(ColumnTableUri()).ValueOrDie();
  auto stream = Scan(dataset, {.columns = {{name}}}).ValueOrDie();
  Values values;
  while (const auto batch = stream->Next().ValueOrDie()) {
    const auto& column = static_cast<const arrow::Int32Array&>(*batch->column(0));
    for (const auto& value : column) values.push_back(value);
  }
  return values;
}

// y = v + 1, of what `on_batch` lets pass.
ColumnFunction PlusOne(std::function<arrow::Status(int32_t first_v)> on_batch = nullptr) {
  ColumnFunction function;
  function.schema = arrow::schema({arrow::field("y", arrow::int32())});
  function.inputs = {"v"};
  function.compute = [=, schema = function.schema](const std::shared_ptr<arrow::RecordBatch>& batch)
      -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
    const auto& v = static_cast<const arrow::Int32Array&>(*batch->column(0));
    if (on_batch) ARROW_RETURN_NOT_OK(on_batch(v.Value(0)));
    arrow::Int32Builder y;
    for (const auto& value : v) ARROW_RETURN_NOT_OK(y.Append(*value + 1));
    ARROW_ASSIGN_OR_RAISE(const auto column, y.Finish());
    return arrow::RecordBatch::Make(schema, column->length(), {column});
  };
  return function;
}

TEST(BackfillTest, AFunctionGivesEveryFragmentItsValues) {
  const auto result = Backfill(MakeColumnTable(), PlusOne()).ValueOrDie();
  EXPECT_EQ(result.versions, 1);
  EXPECT_EQ(result.fragments_committed, 2);
  EXPECT_THAT(Read("y"), ElementsAre(1, 11, 21, 31, 41, 51));
}

TEST(BackfillTest, ExpressionsAreCommittedInSeveralVersions) {
  const std::vector<ComputedColumn> columns = {{"y", "cast(v + 1 as int)"}};
  const auto result = Backfill(MakeColumnTable(), columns, {.commit_every = 1, .num_threads = 1});
  ASSERT_THAT(result.status(), IsOk());
  EXPECT_EQ(result->fragments_committed, 2);
  EXPECT_THAT(Read("y"), ElementsAre(1, 11, 21, 31, 41, 51));
}

TEST(BackfillTest, TheCheckpointKeepsWhatWasComputedBeforeAFailure) {
  const testing::TemporaryFolder folder;
  const BackfillOptions options = {.checkpoint = folder.path() + "/kept", .num_threads = 1};
  const Dataset dataset = MakeColumnTable();
  const auto fail = [](int32_t v) {
    return v == 30 ? arrow::Status::IOError("no luck") : arrow::Status::OK();
  };
  EXPECT_THAT(Backfill(dataset, PlusOne(fail), options).status().ToString(),
              ::testing::HasSubstr("no luck"));
  EXPECT_EQ(LatestVersion(dataset).ValueOrDie(), 1);

  const auto seen = std::make_shared<std::vector<int32_t>>();
  const auto remember = [seen](int32_t v) {
    seen->push_back(v);
    return arrow::Status::OK();
  };
  const auto result = Backfill(dataset, PlusOne(remember), options).ValueOrDie();
  EXPECT_THAT(*seen, ElementsAre(30));
  EXPECT_EQ(result.fragments_resumed, 1);
  EXPECT_THAT(Read("y"), ElementsAre(1, 11, 21, 31, 41, 51));
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/kept"));
}

TEST(BackfillTest, AFragmentWhoseInputChangedIsComputedAgain) {
  const Dataset dataset = MakeColumnTable();
  const auto is_first = std::make_shared<std::atomic<bool>>(true);
  const auto change = [=](int32_t) -> arrow::Status {
    if (!is_first->exchange(false)) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto staged, testing::Stage(dataset, 0, {{"v", {7, 8, 9}}}));
    return testing::CommitAll(dataset, {staged}).status();
  };
  const auto result = Backfill(dataset, PlusOne(change), {.num_threads = 1}).ValueOrDie();
  EXPECT_EQ(result.fragments_computed, 3);
  EXPECT_EQ(result.fragments_recomputed, 1);
  EXPECT_THAT(Read("y"), ElementsAre(8, 9, 10, 31, 41, 51));
}

TEST(BackfillTest, ColumnsThatAreThereAreOverwrittenOnlyIfAsked) {
  const Dataset dataset = MakeColumnTable();
  const std::vector<ComputedColumn> columns = {{"w", "cast(v + 2 as int)"}};
  EXPECT_THAT(Backfill(dataset, columns).status(), IsError(ErrorKind::kInvalidInput, "'w'"));
  ASSERT_THAT(Backfill(dataset, columns, {.overwrite = true}).status(), IsOk());
  EXPECT_THAT(Read("w"), ElementsAre(2, 12, 22, 32, 42, 52));
}

}  // namespace
}  // namespace glaive
