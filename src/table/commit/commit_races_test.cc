#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "table/commit/commit.h"
#include "table/commit/publish.h"
#include "table/versions/chain.h"
#include "table/versions/file.h"
#include "table/versions/naming_schemes.h"
#include "testing/commit_races.h"
#include "testing/golden.h"

// Commits beside other writers, creators and clean-ups, in an order that a store forces.
namespace glaive::table {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::HookedStore;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::NewFragment;
using glaive::testing::StoreCall;
using glaive::testing::StoreCallKind;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class CommitRacesTest : public glaive::testing::CommitRaces {};

TEST_F(CommitRacesTest, VersionsSayFromWhichTheyDescend) {
  std::vector<ManifestPtr> versions = {Create()};
  for (int i = 0; i < 40; ++i) versions.push_back(Append1(std::to_string(i)));
  const ManifestPtr latest = ReadLatestManifest(calm_).ValueOrDie();
  const Manifest& newest = *latest;
  EXPECT_THAT(newest.ancestors, SizeIs(kMaxAncestors));
  EXPECT_EQ(Descends(newest, *versions[40]), Descent::kYes);
  EXPECT_EQ(Descends(newest, *versions[39]), Descent::kYes);
  EXPECT_EQ(Descends(newest, *versions[8]), Descent::kYes);
  EXPECT_EQ(Descends(newest, *versions[7]), Descent::kUnknown);
  EXPECT_EQ(Descends(newest, 39, ChainHash("another")), Descent::kNo);
  EXPECT_EQ(Descends(*versions[3], newest), Descent::kNo);
  // A first version is known to descend from none.
  EXPECT_EQ(Descends(*versions[2], 0, ChainHash("another")), Descent::kNo);
}

// The number that was read of is free again, since a clean-up took the version that had it.
TEST_F(CommitRacesTest, APutBelowTheNewestVersionIsNoCommit) {
  const ManifestPtr base = Create();
  store_->Before(StoreCallKind::kPutIfAbsent, NameOf(2), [&] {
    const ManifestPtr second = Append1("theirs");
    Append1("theirs too");
    Remove(second);
  });
  const auto refused = Commit(table_, base, Append{FragmentsOf({NewFragment("ours")})}, {});
  EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, "not compared"));
  EXPECT_TRUE(IsRetryable(refused.status()));
  EXPECT_THAT(Versions(), ElementsAre(1, 3));
  EXPECT_THAT(Files(), ElementsAre("first", "theirs", "theirs too"));
}

// The same where more went than the one, and for an operation that is made anew.
TEST_F(CommitRacesTest, AnOperationThatIsMadeAnewFollowsTheNewestVersionInTheEnd) {
  const ManifestPtr base = Create();
  store_->Before(StoreCallKind::kPutIfAbsent, NameOf(2), [&] {
    const ManifestPtr second = Append1("2");
    const ManifestPtr third = Append1("3");
    Append1("4");
    Remove(second);
    Remove(third);
  });
  const MakeChange make = [&](const ManifestPtr&) -> arrow::Result<Change> {
    return Append{FragmentsOf({NewFragment("ours")})};
  };
  const auto made = Commit(table_, base, make, {});
  ASSERT_THAT(made.status(), IsOk());
  EXPECT_EQ((*made)->version, 5);
  EXPECT_THAT(Versions(), ElementsAre(1, 4, 5));
  EXPECT_THAT(Files(), ElementsAre("first", "2", "3", "4", "ours"));
}

TEST_F(CommitRacesTest, ACommitThatOthersBuildOnAtOnceIsOne) {
  const ManifestPtr base = Create();
  store_->After(StoreCallKind::kPutIfAbsent, NameOf(2), [&] {
    Append1("theirs");
    Append1("theirs too");
  });
  ASSERT_THAT(Commit(table_, base, Append{FragmentsOf({NewFragment("ours")})}, {}), IsOk());
  EXPECT_THAT(Files(), ElementsAre("first", "ours", "theirs", "theirs too"));
  EXPECT_THAT(Versions(), ElementsAre(1, 2, 3, 4));
}

// A version of another engine does not name the one before it.
TEST_F(CommitRacesTest, AVersionWithoutAncestorsIsJudgedByWhatItHolds) {
  for (const bool descends : {true, false}) {
    SetUp();
    const ManifestPtr base = Create();
    const auto put_like_others = [&](const ManifestPtr& on) {
      Manifest next =
          *Commit(calm_, on, Append{FragmentsOf({NewFragment("theirs")})}, {}).ValueOrDie();
      ASSERT_THAT(calm_.store->Delete(next.path), IsOk());
      next.ancestors.clear();
      const auto found = Publish(calm_,
                                 {.read_version = 1,
                                  .uuid = NewUuid(),
                                  .operation = Append{FragmentsOf({NewFragment("theirs")})}},
                                 Durability::kNone, &next);
      ASSERT_EQ(found.ValueOrDie(), Outcome::kOurs);
    };
    if (descends) {
      store_->After(StoreCallKind::kPutIfAbsent, NameOf(2),
                    [&] { put_like_others(ReadLatestManifest(calm_).ValueOrDie()); });
      EXPECT_THAT(Commit(table_, base, Append{FragmentsOf({NewFragment("ours")})}, {}), IsOk());
      EXPECT_THAT(Files(), ElementsAre("first", "ours", "theirs"));
    } else {
      store_->Before(StoreCallKind::kPutIfAbsent, NameOf(2), [&] {
        const ManifestPtr second = Append1("2");
        put_like_others(second);
        Remove(second);
      });
      EXPECT_THAT(Commit(table_, base, Append{FragmentsOf({NewFragment("ours")})}, {}),
                  IsError(ErrorKind::kCommitUnknown, "version 2"));
      EXPECT_THAT(Files(), ElementsAre("first", "2", "theirs"));
    }
  }
}

// The put was done, its answer lost, and by the time of the look clean-ups took the version.
TEST_F(CommitRacesTest, ACommitThatWasBuiltOnAndCleanedUpBeforeItIsLookedForIsOne) {
  const ManifestPtr base = Create();
  store_->LoseAnswer(StoreCallKind::kPutIfAbsent, NameOf(2), [&] {
    const ManifestPtr ours = ReadLatestManifest(calm_).ValueOrDie();
    Append1("theirs");
    Remove(ours);
  });
  ASSERT_THAT(Commit(table_, base, Append{FragmentsOf({NewFragment("ours")})}, {}), IsOk());
  EXPECT_THAT(Files(), ElementsAre("first", "ours", "theirs"));
}

// Shows a listing once more, as it was before others changed the folder.
class OldListings final : public HookedStore {
 public:
  using HookedStore::HookedStore;
  arrow::Result<std::vector<std::string>> ListNames(const std::string& folder) override {
    if (old_.empty()) return HookedStore::ListNames(folder);
    return std::exchange(old_, {});
  }
  arrow::Status Around(const StoreCall& call,
                       const std::function<arrow::Status()>& perform) override {
    const arrow::Status status = perform();
    if (call.kind != StoreCallKind::kPutIfAbsent) return status;
    old_ = inner().ListNames("/t/_versions").ValueOrDie();
    built_on_();
    return IOError({call.path}, "the answer is lost");
  }
  std::vector<std::string> old_;
  std::function<void()> built_on_;
};

// The listing after a lost answer may be older than the look by name, and show the version that
// went but not the one that was made of it.
TEST_F(CommitRacesTest, AnOldListingDoesNotShowThatACommitFailed) {
  const ManifestPtr base = Create();
  const auto store = std::make_shared<OldListings>(calm_.store);
  store->built_on_ = [&] {
    const ManifestPtr ours = ReadLatestManifest(calm_).ValueOrDie();
    Append1("theirs");
    Remove(ours);
  };
  const TableLocation table = {store, "/t", "memory://t"};
  ASSERT_THAT(Commit(table, base, Append{FragmentsOf({NewFragment("ours")})}, {}), IsOk());
  EXPECT_THAT(Files(), ElementsAre("first", "ours", "theirs"));
}

TEST_F(CommitRacesTest, NothingFollowsAVersionThatWasNotCompared) {
  const ManifestPtr base = Create();
  const ManifestPtr second = Append1("2");
  Append1("3");
  Remove(second);
  const auto refused = Commit(table_, base, Append{FragmentsOf({NewFragment("ours")})}, {});
  EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, "version 2"));
  EXPECT_TRUE(IsRetryable(refused.status()));
  EXPECT_THAT(Versions(), ElementsAre(1, 3));
}

// Versions of another engine, which do not say what they were made of.
TEST_F(CommitRacesTest, AVersionThatIsMissingIsNoticedByItsNumber) {
  const ManifestPtr base = Create();
  ManifestPtr latest = base;
  for (const std::string path : {"2", "3"}) {
    auto next = std::make_shared<Manifest>(*latest);
    ++next->version;
    next->ancestors.clear();
    ASSERT_TRUE(Publish(calm_,
                        {.read_version = latest->version,
                         .uuid = NewUuid(),
                         .operation = Append{FragmentsOf({NewFragment(path)})}},
                        Durability::kNone, next.get())
                    .ok());
    if (latest != base) Remove(latest);
    latest = next;
  }
  const auto refused = Commit(table_, base, Append{FragmentsOf({NewFragment("ours")})}, {});
  EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, "version 2"));
  EXPECT_TRUE(IsRetryable(refused.status()));
  EXPECT_THAT(Versions(), ElementsAre(1, 3));
}

// What a writer that died between its put and its look left.
TEST_F(CommitRacesTest, AStrayIsNotTakenForTheVersionOfItsNumber) {
  const ManifestPtr base = Create();
  const ManifestPtr second = Append1("2");
  Append1("3");
  Manifest stray = *second;
  Remove(second);
  ASSERT_EQ(Publish(calm_, {.read_version = 1, .uuid = NewUuid(), .operation = Append{}},
                    Durability::kNone, &stray)
                .ValueOrDie(),
            Outcome::kOurs);
  const auto refused = Commit(table_, base, Append{FragmentsOf({NewFragment("ours")})}, {});
  EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, "version 2"));
  EXPECT_TRUE(IsRetryable(refused.status()));
}

// A listing that ran while 2 and 3 were put has 3 alone; another one is old.
class OddListings final : public HookedStore {
 public:
  using HookedStore::HookedStore;
  arrow::Result<std::vector<std::string>> ListNames(const std::string& folder) override {
    ARROW_ASSIGN_OR_RAISE(auto names, HookedStore::ListNames(folder));
    std::erase_if(names, [&](const auto& name) { return hidden_.contains(name); });
    return names;
  }
  arrow::Status Around(const StoreCall& call,
                       const std::function<arrow::Status()>& perform) override {
    if (call.kind == StoreCallKind::kPutIfAbsent) hidden_.clear();
    return perform();
  }
  std::set<std::string> hidden_;
};

TEST_F(CommitRacesTest, VersionsThatAListingLacksAreLookedForByName) {
  const ManifestPtr base = Create();
  Append1("2");
  Append1("3");
  for (const std::set<std::string>& hidden :
       {std::set{ManifestName(2, NamingScheme::kV2)}, std::set{ManifestName(3, NamingScheme::kV2)},
        std::set{ManifestName(2, NamingScheme::kV2), ManifestName(3, NamingScheme::kV2)}}) {
    const auto store = std::make_shared<OddListings>(calm_.store);
    store->hidden_ = hidden;
    EXPECT_THAT(
        Commit({store, "/t", "memory://t"}, base, Append{FragmentsOf({NewFragment("ours")})}, {}),
        IsOk());
  }
  EXPECT_THAT(Versions(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(CommitRacesTest, ACreatorDoesNotYieldToAVersionMadeOfItsOwn) {
  store_->After(StoreCallKind::kPutIfAbsent, NameOf(1), [&] { Append1("theirs"); });
  ASSERT_THAT(CommitCreate(table_, FirstRows(), {}), IsOk());
  EXPECT_THAT(Versions(), ElementsAre(1, 2));
  EXPECT_THAT(Files(), ElementsAre("first", "theirs"));
}

TEST_F(CommitRacesTest, ACreatorYieldsToATableWhoseFirstVersionIsGone) {
  store_->Before(StoreCallKind::kPutIfAbsent, NameOf(1), [&] {
    const ManifestPtr first = Create();
    Append1("theirs");
    Remove(first);
  });
  EXPECT_THAT(CommitCreate(table_, FirstRows(), {}),
              IsError(ErrorKind::kAlreadyExists, "already exists"));
  EXPECT_THAT(Versions(), ElementsAre(2));
}

TEST_F(CommitRacesTest, ACreatorWithdrawsNothingAfterALookThatFailed) {
  store_->LoseAnswer(StoreCallKind::kList, "/_versions");  // of the look before
  EXPECT_FALSE(CommitCreate(table_, FirstRows(), {}).ok());
  store_->After(StoreCallKind::kPutIfAbsent, NameOf(1), [&] {
    for (int i = 0; i < 2; ++i) store_->LoseAnswer(StoreCallKind::kList, "/_versions");
  });
  EXPECT_THAT(CommitCreate(table_, FirstRows(), {}),
              IsError(ErrorKind::kCommitUnknown, "another creator"));
  EXPECT_THAT(Versions(), ElementsAre(1));
}

// The newer name is held while the older one is put: nobody may build upon it, or take it.
TEST_F(CommitRacesTest, NobodyBuildsOnTheNameThatACreatorHolds) {
  const CommitOptions v1 = {.naming_scheme = NamingScheme::kV1};
  store_->After(StoreCallKind::kPutIfAbsent, NameOf(1), [&] {
    EXPECT_EQ(LatestVersion(calm_).ValueOrDie(), std::nullopt);
    EXPECT_THAT(ReadLatestManifest(calm_), IsError(ErrorKind::kNotFound, "was not found"));
    for (const NamingScheme scheme : {NamingScheme::kV1, NamingScheme::kV2}) {
      EXPECT_THAT(CommitCreate(calm_, FirstRows(), {.naming_scheme = scheme}),
                  IsError(ErrorKind::kAlreadyExists, "already exists"));
    }
  });
  // It dies before it lets go.
  store_->After(StoreCallKind::kPutIfAbsent, NameOf(1, NamingScheme::kV1), [&] {
    EXPECT_EQ(LatestVersion(calm_).ValueOrDie()->scheme, NamingScheme::kV1);
    EXPECT_EQ(Append1("theirs")->naming_scheme, NamingScheme::kV1);
  });
  ASSERT_THAT(CommitCreate(table_, FirstRows(), v1), IsOk());
  EXPECT_THAT(Versions(), ElementsAre(1, 2));
  EXPECT_THAT(calm_.store->ListNames("/t/_versions").ValueOrDie(),
              ElementsAre("1.manifest", "2.manifest", "latest_version_hint.json"));
}

// It lists before the other one has put its version, puts its own after that, and has yet to yield.
TEST_F(CommitRacesTest, ACreatorThatWillYieldHidesNoTable) {
  const CommitOptions v1 = {.naming_scheme = NamingScheme::kV1};
  store_->Before(StoreCallKind::kPutIfAbsent, NameOf(1), [&] {
    Create(v1);
    store_->Before(StoreCallKind::kList, "/_versions", [&] {
      EXPECT_EQ(LatestVersion(calm_).ValueOrDie()->scheme, NamingScheme::kV1);
      EXPECT_EQ(Append1("theirs")->version, 2);
    });
  });
  EXPECT_THAT(CommitCreate(table_, FirstRows(), {}),
              IsError(ErrorKind::kAlreadyExists, "already exists"));
  EXPECT_THAT(Versions(), ElementsAre(1, 2));
  EXPECT_THAT(Files(), ElementsAre("first", "theirs"));
}

// Another creator holds it since this one looked whether there is a table.
TEST_F(CommitRacesTest, ACreatorThatFindsAHeldNameIsToldOfRepair) {
  const std::string name = "/t/_versions/" + ManifestName(1, NamingScheme::kV2);
  const auto mark = arrow::Buffer::FromString(std::string(kHeldName));
  ASSERT_THAT(calm_.store->PutIfAbsent(name, {{mark}}, false), IsOk());
  EXPECT_THAT(CommitCreate(table_, FirstRows(), {}),
              IsError(ErrorKind::kAlreadyExists, "`glaive repair memory://t`"));
}

TEST_F(CommitRacesTest, ACreatorThatMeetsAHeldNameFindsATable) {
  store_->Before(StoreCallKind::kPutIfAbsent, NameOf(1), [&] {
    const std::string name = "/t/_versions/" + ManifestName(1, NamingScheme::kV2);
    const auto mark = arrow::Buffer::FromString(std::string(kHeldName));
    ASSERT_THAT(calm_.store->PutIfAbsent(name, {{mark}}, false), IsOk());
  });
  EXPECT_THAT(CommitCreate(table_, FirstRows(), {}),
              IsError(ErrorKind::kAlreadyExists, "already exists"));
}

// The table was made anew, and its first version cleaned up: nothing says that it is another one
// but that no version of it descends from the one read.
TEST_F(CommitRacesTest, ARestoreOfAVersionThatGoesMeanwhileIsRefused) {
  const ManifestPtr first = Create();
  const ManifestPtr second = Append1("2");
  store_->After(StoreCallKind::kPut, ".txn", [&] { Remove(first); });
  const auto refused = Commit(table_, second, Restore{.version = 1}, {});
  EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, "was to be restored"));
  EXPECT_TRUE(IsRetryable(refused.status()));
  EXPECT_THAT(Versions(), ElementsAre(2));
  EXPECT_THAT(calm_.store->ListNames("/t/_transactions").ValueOrDie(), SizeIs(1));
}

// While a commit is under way.
// Nothing but a tagged version is left below.
// A clean-up takes the base, and a late writer of the same table puts a version under its number.
// The table is removed. A restore that was late puts its first version anew, and another writer
// goes on from there: nothing of what this commit was made of is left.
// It would be the other table's newest version.
// Of two attempts, each is made in the table that the base was read from.
// A creator that came too late, or died before it yielded, has the newer name.
TEST_F(CommitRacesTest, ANumberDoesNotLeadToALostCreation) {
  const TableLocation elsewhere = {calm_.store, "/u", "memory://u"};
  const ManifestPtr lost = CommitCreate(elsewhere, FirstRows(), {}).ValueOrDie();
  const ManifestPtr first = Create({.naming_scheme = NamingScheme::kV1});
  ASSERT_THAT(calm_.store->PutIfAbsent("/t/_versions" + NameOf(1), {{BytesAt(lost->path)}}, false),
              IsOk());
  EXPECT_EQ(FindVersion(calm_, 1)->path, first->path);
  EXPECT_EQ(ReadManifest(calm_, 1).ValueOrDie()->path, first->path);
  Append1("2");
  EXPECT_EQ(FindVersion(calm_, 1)->path, first->path);
  Remove(first);
  EXPECT_THAT(FindVersion(calm_, 1), IsError(ErrorKind::kNotFound, "version 1"));
  EXPECT_THAT(ReadManifest(calm_, 1), IsError(ErrorKind::kNotFound, "version 1"));
}

TEST_F(CommitRacesTest, ACreatorWhoseVersionIsTakenDoesNotReportIt) {
  store_->After(StoreCallKind::kPutIfAbsent, NameOf(1),
                [&] { ASSERT_THAT(calm_.store->Delete("/t/_versions" + NameOf(1)), IsOk()); });
  EXPECT_THAT(CommitCreate(table_, FirstRows(), {}),
              IsError(ErrorKind::kCommitUnknown, "come and go"));
}

TEST_F(CommitRacesTest, ADetachedVersionIsNotMadeOfAVersionThatIsGone) {
  const ManifestPtr first = Create();
  const ManifestPtr late = Append1("late");
  const auto stray = BytesAt(late->path);
  Remove(late);
  const ManifestPtr base = Append1("2");
  Append1("3");
  store_->Before(StoreCallKind::kPut, ".txn", [&] {
    Remove(base);
    ASSERT_THAT(calm_.store->PutIfAbsent(late->path, {{stray}}, false), IsOk());
  });
  const auto refused =
      Commit(table_, base, Append{FragmentsOf({NewFragment("ours")})}, {.detached = true});
  EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, "a clean-up took that version"));
  EXPECT_THAT(ListDetachedVersions(calm_).ValueOrDie(), SizeIs(0));
}

TEST_F(CommitRacesTest, ABlindOverwriteWithATokenIsMadeOnce) {
  const ManifestPtr base = Create();
  const CommitOptions options = {.max_retries = 0,
                                 .transaction_properties = {{kIdempotencyKey, "once"}}};
  const auto made = Commit(table_, base, FirstRows(), options).ValueOrDie();
  const auto again = Commit(table_, base, FirstRows(), options);
  ASSERT_THAT(again.status(), IsOk());
  EXPECT_EQ((*again)->version, made->version);
  EXPECT_THAT(Versions(), ElementsAre(1, 2));
}

TEST_F(CommitRacesTest, ADetachedVersionWithATokenIsMadeOnce) {
  const ManifestPtr base = Create();
  const CommitOptions options = {.transaction_properties = {{kIdempotencyKey, "once"}},
                                 .detached = true};
  const Append rows = {FragmentsOf({NewFragment("a")})};
  const auto made = Commit(table_, base, rows, options).ValueOrDie();
  EXPECT_EQ(Commit(table_, base, rows, options).ValueOrDie()->version, made->version);
  EXPECT_THAT(ListDetachedVersions(calm_).ValueOrDie(), SizeIs(1));
  const CommitOptions another = {.transaction_properties = {{kIdempotencyKey, "twice"}},
                                 .detached = true};
  EXPECT_NE(Commit(table_, base, rows, another).ValueOrDie()->version, made->version);
}

}  // namespace
}  // namespace glaive::table
