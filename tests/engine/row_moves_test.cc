#include "table/versions/row_moves.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/handle/dataset_state.h"
#include "glaive/refs.h"
#include "table/versions/versions.h"
#include "testing/column_writes.h"
#include "testing/matchers.h"

namespace glaive::dataset {
namespace {

using namespace glaive::testing;  // the small table and its columns
using ::testing::HasSubstr;

void Append1() {
  const auto rows = ColumnStream({{"id", {9}}});
  ExpectOk(WriteDataset(rows, NewestColumnTable(), {.mode = WriteMode::kAppend})
               .Map([](const WriteResult& written) { return written.dataset; }));
}

// What became of fragment 0 between version 1 and the newest.
std::optional<RowMoves::Found> FoundIn(const Dataset& latest) {
  const table::Manifest& manifest = *StateOf(latest)->manifest;
  const auto now = manifest.fragments.Find(0)->Parse().ValueOrDie();
  RowMoves moves(StateOf(latest)->location, {0});
  EXPECT_THAT(moves.Read(1, latest.version()), IsOk());
  return moves.FindFor({.fragment_id = 0, .read_version = 1, .same_deletions = true, .files = {}},
                       now);
}

TEST(RowMovesTest, AVersionThatIsGoneMayHaveMovedRows) {
  const Dataset first = MakeColumnTable();
  Append1();
  Append1();
  EXPECT_FALSE(FoundIn(NewestColumnTable()));
  const auto second = table::FindVersion(StateOf(first)->location, 2).ValueOrDie();
  ASSERT_THAT(StateOf(first)->location.store->Delete(second.path), IsOk());
  const auto found = FoundIn(NewestColumnTable());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, 2);
  EXPECT_THAT(found->what, HasSubstr("does not say any more"));
}

// As when a commit is tried again, and a cleanup took all versions in between.
TEST(RowMovesTest, AVersionThatIsGoneIsSilentAlsoBehindOneThatWasRead) {
  const Dataset first = MakeColumnTable();
  for (int i = 0; i < 3; ++i) Append1();
  const Dataset latest = NewestColumnTable();
  RowMoves moves(StateOf(latest)->location, {0});
  ASSERT_THAT(moves.Read(1, 2), IsOk());
  for (const uint64_t version : {2, 3}) {
    const auto gone = table::FindVersion(StateOf(first)->location, version).ValueOrDie();
    ASSERT_THAT(StateOf(first)->location.store->Delete(gone.path), IsOk());
  }
  ASSERT_THAT(moves.Read(1, latest.version()), IsOk());
  const auto now = StateOf(latest)->manifest->fragments.Find(0)->Parse().ValueOrDie();
  const auto found = moves.FindFor(
      {.fragment_id = 0, .read_version = 1, .same_deletions = true, .files = {}}, now);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, 3);
}

TEST(RowMovesTest, ARestorePutsOtherRowsInThePlaceOfAll) {
  const Dataset first = MakeColumnTable();
  Append1();
  ASSERT_THAT(Restore(first), IsOk());
  const auto found = FoundIn(NewestColumnTable());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, 3);
  EXPECT_THAT(found->what, HasSubstr("took the place of all"));
}

}  // namespace
}  // namespace glaive::dataset
