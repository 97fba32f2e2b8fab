#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "table/commit/after_put.h"
#include "table/commit/commit.h"
#include "table/commit/publish.h"
#include "table/versions/chain.h"
#include "table/versions/file.h"
#include "table/versions/hint.h"
#include "table/versions/naming_schemes.h"
#include "testing/commit_races.h"
#include "testing/dear_listings.h"
#include "testing/golden.h"
#include "testing/temporary_folder.h"

// Commits from handles whose base, or whose table, went meanwhile.
namespace glaive::table {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::DearListings;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::NewFragment;
using glaive::testing::StoreCallKind;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class OtherTableTest : public glaive::testing::CommitRaces {};

TEST_F(OtherTableTest, AVersionThatIsGoneDoesNotShowThatTheTableIsTheSame) {
  const ManifestPtr old = Create();
  for (const bool is_other : {true, false}) {
    SetUp();
    const ManifestPtr first = is_other ? Create() : old;
    if (!is_other) {
      Manifest again = *old;
      ASSERT_TRUE(Publish(calm_, {.uuid = *TransactionUuidOf(*old), .operation = FirstRows()},
                          Durability::kNone, &again)
                      .ok());
    }
    Append1("2");
    Remove(first);
    const auto made = Commit(table_, old, Append{FragmentsOf({NewFragment("ours")})}, {});
    if (is_other) {
      EXPECT_THAT(made, IsError(ErrorKind::kCommitConflict, "open it anew"));
      EXPECT_TRUE(IsRetryable(made.status()));
    } else {
      EXPECT_THAT(made, IsOk());
    }
  }
}

TEST_F(OtherTableTest, NothingIsPutIntoATableThatIsNotTheOneRead) {
  const ManifestPtr old = Create();
  CreateAnew();
  bool was_put = false;
  store_->Before(StoreCallKind::kPutIfAbsent, "", [&] { was_put = true; });
  const auto refused = Commit(table_, old, Append{FragmentsOf({NewFragment("ours")})}, {});
  EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, "another one is in its place"));
  EXPECT_FALSE(IsRetryable(refused.status()));
  EXPECT_FALSE(was_put);
}

TEST_F(OtherTableTest, ATableThatTakesThePlaceOfTheOneReadGetsNoVersionOfIt) {
  for (const bool loses_its_first : {false, true}) {
    SetUp();
    const ManifestPtr base = Create();
    store_->Before(StoreCallKind::kPutIfAbsent, NameOf(2), [&] {
      const ManifestPtr first = CreateAnew();
      if (loses_its_first) {
        ASSERT_THAT(calm_.store->Delete(first->path), IsOk());
      }
    });
    const auto refused = Commit(table_, base, Append{FragmentsOf({NewFragment("ours")})}, {});
    EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, loses_its_first ? "" : "is gone"));
    EXPECT_THAT(Versions(), loses_its_first ? SizeIs(0) : SizeIs(1));
  }
}

TEST_F(OtherTableTest, ACommitWhoseBaseIsCleanedUpStands) {
  for (const bool keeps_one : {false, true}) {
    SetUp();
    const ManifestPtr first = Create();
    const ManifestPtr second = Append1("2");
    ASSERT_THAT(calm_.store->Put("/t/data/first", BytesOf("x")), IsOk());
    store_->After(StoreCallKind::kPutIfAbsent, NameOf(3), [&] {
      Remove(second);
      if (!keeps_one) Remove(first);
    });
    EXPECT_THAT(Commit(table_, second, Append{FragmentsOf({NewFragment("ours")})}, {}), IsOk());
    EXPECT_THAT(Files(), ElementsAre("first", "2", "ours"));
  }
}

TEST_F(OtherTableTest, AStrayInPlaceOfTheBaseDoesNotShowAnotherTable) {
  const ManifestPtr first = Create();
  const ManifestPtr late = Append1("late");
  const auto stray = BytesAt(late->path);
  Remove(late);
  const ManifestPtr base = Append1("2");
  store_->After(StoreCallKind::kPutIfAbsent, NameOf(3), [&] {
    Remove(base);
    ASSERT_THAT(calm_.store->PutIfAbsent(late->path, {{stray}}, false), IsOk());
  });
  EXPECT_THAT(Commit(table_, base, Append{FragmentsOf({NewFragment("ours")})}, {}), IsOk());
  EXPECT_THAT(Files(), ElementsAre("first", "2", "ours"));
  // Nor before a put.
  EXPECT_THAT(Commit(table_, base, Append{FragmentsOf({NewFragment("again")})}, {}), IsOk());
  EXPECT_THAT(Files(), ElementsAre("first", "2", "ours", "again"));
}

TEST_F(OtherTableTest, ATableMadeOfAnOldVersionMeanwhileIsNotPassedOver) {
  const ManifestPtr first = Create();
  const ManifestPtr late = Append1("late");
  const auto bytes = BytesAt(late->path);
  Remove(late);
  const ManifestPtr second = Append1("2");
  const ManifestPtr third = Append1("3");
  store_->Before(StoreCallKind::kPutIfAbsent, NameOf(4), [&] {
    for (const ManifestPtr& each : {first, second, third}) Remove(each);
    ASSERT_THAT(calm_.store->PutIfAbsent(late->path, {{bytes}}, false), IsOk());
  });
  const auto made = Commit(table_, third, Append{FragmentsOf({NewFragment("ours")})}, {});
  EXPECT_THAT(made, IsError(ErrorKind::kCommitUnknown, "do not say"));
  EXPECT_THAT(Versions(), ElementsAre(2, 4));
}

TEST_F(OtherTableTest, WhatCannotBeTakenBackFromAnotherTableIsTold) {
  const ManifestPtr base = Create();
  store_->Before(StoreCallKind::kPutIfAbsent, NameOf(2), [&] {
    CreateAnew();
    for (int i = 0; i < 2; ++i) store_->Fail(StoreCallKind::kDelete, NameOf(2));
  });
  EXPECT_THAT(Commit(table_, base, Append{FragmentsOf({NewFragment("ours")})}, {}),
              IsError(ErrorKind::kCommitUnknown, "could not be taken back"));
  EXPECT_THAT(Versions(), ElementsAre(1, 2));
}

TEST_F(OtherTableTest, ATableThatTakesThePlaceOfTheOneReadGetsNoSecondAttempt) {
  const ManifestPtr base = Create();
  store_->Before(StoreCallKind::kPutIfAbsent, NameOf(2), [&] { Append1("theirs"); });
  store_->After(StoreCallKind::kDelete, ".txn", [&] { CreateAnew(); });
  EXPECT_THAT(Commit(table_, base, Append{FragmentsOf({NewFragment("ours")})}, {}),
              IsError(ErrorKind::kCommitConflict, "is gone"));
  EXPECT_THAT(Versions(), ElementsAre(1));
  EXPECT_THAT(Files(), ElementsAre("anew"));
}

// Another writer read the version of our number before the table was removed, and follows it.
TEST_F(OtherTableTest, AVersionBelowOneThatWasMadeOfAnotherOfItsNumberIsNotReported) {
  const ManifestPtr base = Create();
  const ManifestPtr second = Append1("2");
  const ManifestPtr third = Append1("3");
  const auto above = BytesAt(third->path);
  for (const ManifestPtr& each : {second, third}) Remove(each);
  ASSERT_THAT(calm_.store->Put("/t/data/first", BytesOf("x")), IsOk());
  store_->Before(StoreCallKind::kPutIfAbsent, NameOf(2), [&] { Remove(base); });
  // Between the look for newer versions and the look for the base.
  store_->After(StoreCallKind::kList, "/_versions", [&] {});
  store_->Before(StoreCallKind::kHead, NameOf(3), [&] {
    ASSERT_THAT(calm_.store->PutIfAbsent(third->path, {{above}}, false), IsOk());
  });
  const auto made = Commit(table_, base, Append{FragmentsOf({NewFragment("ours")})}, {});
  EXPECT_THAT(made, IsError(ErrorKind::kCommitConflict, "open it anew"));
  EXPECT_THAT(Versions(), ElementsAre(3));
}

// The new table has names of the other scheme.
TEST_F(OtherTableTest, AVersionBelowOneOfTheOtherSchemeIsNotReported) {
  const ManifestPtr base = Create();
  store_->After(StoreCallKind::kPutIfAbsent, NameOf(2), [&] {
    const TableLocation old = {io::MakeMemoryStore(), "/t", "memory://t"};
    ManifestPtr late =
        CommitCreate(old, FirstRows("old"), {.naming_scheme = NamingScheme::kV1}).ValueOrDie();
    for (int i = 0; i < 3; ++i) {
      late = Commit(old, late, Append{FragmentsOf({NewFragment("late")})}, {}).ValueOrDie();
    }
    const auto bytes = old.store->ReadWhole(late->path).ValueOrDie();
    ASSERT_THAT(calm_.store->PutIfAbsent(late->path, {{bytes}}, false), IsOk());
  });
  const auto made = Commit(table_, base, Append{FragmentsOf({NewFragment("ours")})}, {});
  EXPECT_FALSE(made.ok());
  EXPECT_FALSE(calm_.store->Head("/t/_versions" + NameOf(2)).ValueOrDie().has_value());
}

// The table was removed, and a late writer made another version of the base's number, which counts.
TEST_F(OtherTableTest, NothingFollowsAnotherVersionOfTheBasesNumber) {
  Create();
  const ManifestPtr late = Append1("late");
  const auto bytes = BytesAt(late->path);
  Remove(late);
  const ManifestPtr base = Append1("2");
  Remove(base);
  ASSERT_THAT(calm_.store->PutIfAbsent(late->path, {{bytes}}, false), IsOk());
  const auto made = Commit(table_, base, Append{FragmentsOf({NewFragment("ours")})}, {});
  EXPECT_THAT(made, IsError(ErrorKind::kCommitConflict, "open it anew"));
  EXPECT_TRUE(IsRetryable(made.status()));
  EXPECT_THAT(Files(), ElementsAre("first", "late"));
}

// Between the listing of a drop and its deletions another writer makes a table.
TEST_F(OtherTableTest, ADropSparesWhatCameSinceItBegan) {
  Create();
  store_->After(StoreCallKind::kList, "/t", [&] { CreateAnew(); });
  ASSERT_THAT(store_->DeleteFolder("/t"), IsOk());
  EXPECT_THAT(Versions(), ElementsAre(1));
  EXPECT_THAT(Files(), ElementsAre("anew"));
}

TEST_F(OtherTableTest, AnotherVersionOfTheSameNumberAndSizeIsNotTheOneRead) {
  Create();
  const ManifestPtr late = Append1("late");
  const auto bytes = BytesAt(late->path);
  Remove(late);
  const ManifestPtr second = Append1("here");
  Append1("3");
  EXPECT_TRUE(IsStillInTable(calm_, *second).ValueOrDie());
  Remove(second);
  ASSERT_THAT(calm_.store->PutIfAbsent(late->path, {{bytes}}, false), IsOk());
  ASSERT_EQ(late->size_bytes, second->size_bytes);
  EXPECT_FALSE(IsStillInTable(calm_, *second).ValueOrDie());
}

TEST_F(OtherTableTest, AManifestThatTookThePlaceOfAListedOneIsReadWhole) {
  const glaive::testing::TemporaryFolder folder;
  const TableLocation table = {io::LocalStore(), folder.path(), folder.path()};
  const ManifestPtr first = CommitCreate(table, FirstRows(), {}).ValueOrDie();
  VersionEntry entry = ListVersions(table).ValueOrDie().front();
  for (const int difference : {-33, 33}) {
    entry.size_bytes = first->size_bytes + static_cast<uint64_t>(difference);
    EXPECT_EQ((*ReadManifest(table, entry))->transaction_file, first->transaction_file);
  }
}

// A late writer has put its version over those of a table that was made anew, and has yet to look.
// The hint leads to the new table.
TEST_F(OtherTableTest, NothingFollowsAVersionThatDoesNotComeFromTheHintedOne) {
  Create();
  const ManifestPtr late = Append1("late");
  const auto bytes = BytesAt(late->path);
  const ManifestPtr first = CreateAnew();
  ASSERT_THAT(calm_.store->PutIfAbsent(late->path, {{bytes}}, false), IsOk());
  const TableLocation far = {std::make_shared<DearListings>(calm_.store), "/t", "memory://t"};
  WriteVersionHint(far, *first);
  const auto refused = Commit(far, late, Append{FragmentsOf({NewFragment("ours")})}, {});
  EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, "open it anew"));
  EXPECT_TRUE(IsRetryable(refused.status()));
  EXPECT_THAT(Versions(), ElementsAre(1, 2));
}

// The outcome of the first call is not known to its caller, who makes it again.
TEST_F(OtherTableTest, ATransactionThatIsMadeAgainKeepsTheFileOfTheFirstTime) {
  const ManifestPtr base = Create();
  const CommitOptions options = {.transaction_uuid = "11111111-2222-4333-8444-555555555555"};
  const ManifestPtr made =
      Commit(calm_, base, Append{FragmentsOf({NewFragment("once")})}, options).ValueOrDie();
  store_->Fail(StoreCallKind::kPut, ".txn");
  EXPECT_FALSE(Commit(table_, base, Append{FragmentsOf({NewFragment("once")})}, options).ok());
  EXPECT_TRUE(calm_.store->Head(TransactionPath(calm_, *made)).ValueOrDie().has_value());
}

}  // namespace
}  // namespace glaive::table
