#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/memory_store.h"
#include "table/commit/commit.h"
#include "table/commit/publish.h"
#include "table/versions/chain.h"
#include "table/versions/file.h"
#include "table/versions/naming_schemes.h"
#include "testing/golden.h"
#include "testing/hooked_store.h"
#include "testing/matchers.h"

// Commits beside other writers, creators and clean-ups, in an order that a store forces.
namespace glaive::table {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::HookedStore;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::StoreCall;
using glaive::testing::StoreCallKind;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// Runs a function right before or after the first call of a kind to a path that ends in a text.
class InterruptedStore final : public HookedStore {
 public:
  using HookedStore::HookedStore;

  void Before(StoreCallKind kind, std::string end, std::function<void()> run) {
    moments_.push_back({kind, std::move(end), std::move(run), /*is_before=*/true});
  }
  void After(StoreCallKind kind, std::string end, std::function<void()> run) {
    moments_.push_back({kind, std::move(end), std::move(run), /*is_before=*/false});
  }
  // The answer of the first such call is lost.
  void LoseAnswer(
      StoreCallKind kind, std::string end, std::function<void()> run = [] {}) {
    moments_.push_back({kind, std::move(end), std::move(run), false, /*loses_answer=*/true});
  }

  // The first such call does nothing.
  void Fail(StoreCallKind kind, std::string end) {
    moments_.push_back({kind, std::move(end), [] {}, /*is_before=*/true, false, /*fails=*/true});
  }

  arrow::Status Around(const StoreCall& call,
                       const std::function<arrow::Status()>& perform) override {
    Moment moment = Take(call);
    if (moment.run && moment.is_before) moment.run();
    if (moment.fails) return IOError({call.path}, "it failed");
    const arrow::Status status = perform();
    if (moment.run && !moment.is_before) moment.run();
    if (moment.loses_answer) return IOError({call.path}, "the answer is lost");
    return status;
  }

 private:
  struct Moment {
    StoreCallKind kind = StoreCallKind::kHead;
    std::string end;
    std::function<void()> run;
    bool is_before = false;
    bool loses_answer = false;
    bool fails = false;
  };

  Moment Take(const StoreCall& call) {
    for (auto moment = moments_.begin(); moment != moments_.end(); ++moment) {
      if (moment->kind != call.kind || !call.path.ends_with(moment->end)) continue;
      Moment taken = std::move(*moment);
      moments_.erase(moment);
      return taken;
    }
    return {};
  }

  std::vector<Moment> moments_;
};

wire::DataFragment NewFragment(std::string path) {
  wire::DataFile file{.path = std::move(path), .fields = {0}, .column_indices = {0}};
  file.file_major_version = 2;
  file.file_minor_version = 2;
  return {.files = {std::move(file)}, .physical_rows = 10};
}

class CommitRacesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto memory = io::MakeMemoryStore();
    calm_ = {memory, "/t", "memory://t"};
    store_ = std::make_shared<InterruptedStore>(memory);
    table_ = {store_, "/t", "memory://t"};
  }

  static Overwrite FirstRows(const std::string& path = "first") {
    Overwrite overwrite{.fragments = {NewFragment(path)}};
    overwrite.schema.fields.push_back({.id = 0, .name = "k", .logical_type = "int64"});
    return overwrite;
  }
  ManifestPtr Create(const CommitOptions& options = {}) {
    return CommitCreate(calm_, FirstRows(), options).ValueOrDie();
  }
  // A table in place of the one that was there. No file name is used twice.
  ManifestPtr CreateAnew() {
    EXPECT_THAT(calm_.store->DeleteFolder("/t"), IsOk());
    return CommitCreate(calm_, FirstRows("anew"), {}).ValueOrDie();
  }
  // By other writers, whom nothing interrupts.
  ManifestPtr Append1(const std::string& path) {
    return Commit(calm_, ReadLatestManifest(calm_).ValueOrDie(), Append{{NewFragment(path)}}, {})
        .ValueOrDie();
  }
  void Remove(const ManifestPtr& version) {
    ASSERT_THAT(calm_.store->Delete(version->path), IsOk());
    ASSERT_THAT(calm_.store->Delete(TransactionPath(calm_, *version)), IsOk());
  }
  std::shared_ptr<arrow::Buffer> BytesAt(const std::string& path) {
    return calm_.store->ReadWhole(path).ValueOrDie();
  }
  std::vector<std::string> Files() {
    std::vector<std::string> files;
    const arrow::Status visited = ReadLatestManifest(calm_).ValueOrDie()->fragments.Visit(
        [&](const Fragment& fragment) -> arrow::Status {
          ARROW_ASSIGN_OR_RAISE(const auto parsed, fragment.Parse());
          files.push_back(parsed.files.front().path);
          return arrow::Status::OK();
        });
    EXPECT_THAT(visited, IsOk());
    return files;
  }
  std::vector<uint64_t> Versions() {
    std::vector<uint64_t> versions;
    for (const auto& entry : ListVersions(calm_).ValueOrDie()) versions.push_back(entry.version);
    return versions;
  }
  static std::string NameOf(uint64_t version, NamingScheme scheme = NamingScheme::kV2) {
    return "/" + ManifestName(version, scheme);
  }

  TableLocation calm_;  // the same place, without interruptions
  TableLocation table_;
  std::shared_ptr<InterruptedStore> store_;
};

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
  const auto refused = Commit(table_, base, Append{{NewFragment("ours")}}, {});
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
  const MakeOperation make = [&](const ManifestPtr&) -> arrow::Result<Operation> {
    return Append{{NewFragment("ours")}};
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
  ASSERT_THAT(Commit(table_, base, Append{{NewFragment("ours")}}, {}), IsOk());
  EXPECT_THAT(Files(), ElementsAre("first", "ours", "theirs", "theirs too"));
  EXPECT_THAT(Versions(), ElementsAre(1, 2, 3, 4));
}

// A version of another engine does not name the one before it.
TEST_F(CommitRacesTest, AVersionWithoutAncestorsIsJudgedByWhatItHolds) {
  for (const bool descends : {true, false}) {
    SetUp();
    const ManifestPtr base = Create();
    const auto put_like_others = [&](const ManifestPtr& on) {
      Manifest next = *Commit(calm_, on, Append{{NewFragment("theirs")}}, {}).ValueOrDie();
      ASSERT_THAT(calm_.store->Delete(next.path), IsOk());
      next.ancestors.clear();
      const auto found = Publish(
          calm_,
          {.read_version = 1, .uuid = NewUuid(), .operation = Append{{NewFragment("theirs")}}},
          Durability::kNone, &next);
      ASSERT_EQ(found.ValueOrDie(), Outcome::kOurs);
    };
    if (descends) {
      store_->After(StoreCallKind::kPutIfAbsent, NameOf(2),
                    [&] { put_like_others(ReadLatestManifest(calm_).ValueOrDie()); });
      EXPECT_THAT(Commit(table_, base, Append{{NewFragment("ours")}}, {}), IsOk());
      EXPECT_THAT(Files(), ElementsAre("first", "ours", "theirs"));
    } else {
      store_->Before(StoreCallKind::kPutIfAbsent, NameOf(2), [&] {
        const ManifestPtr second = Append1("2");
        put_like_others(second);
        Remove(second);
      });
      EXPECT_THAT(Commit(table_, base, Append{{NewFragment("ours")}}, {}),
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
  ASSERT_THAT(Commit(table_, base, Append{{NewFragment("ours")}}, {}), IsOk());
  EXPECT_THAT(Files(), ElementsAre("first", "ours", "theirs"));
}

TEST_F(CommitRacesTest, NothingFollowsAVersionThatWasNotCompared) {
  const ManifestPtr base = Create();
  const ManifestPtr second = Append1("2");
  Append1("3");
  Remove(second);
  const auto refused = Commit(table_, base, Append{{NewFragment("ours")}}, {});
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
                         .operation = Append{{NewFragment(path)}}},
                        Durability::kNone, next.get())
                    .ok());
    if (latest != base) Remove(latest);
    latest = next;
  }
  const auto refused = Commit(table_, base, Append{{NewFragment("ours")}}, {});
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
  const auto refused = Commit(table_, base, Append{{NewFragment("ours")}}, {});
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
    EXPECT_THAT(Commit({store, "/t", "memory://t"}, base, Append{{NewFragment("ours")}}, {}),
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
TEST_F(CommitRacesTest, AVersionThatIsGoneDoesNotShowThatTheTableIsTheSame) {
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
    const auto made = Commit(table_, old, Append{{NewFragment("ours")}}, {});
    if (is_other) {
      EXPECT_THAT(made, IsError(ErrorKind::kCommitConflict, "open it anew"));
      EXPECT_TRUE(IsRetryable(made.status()));
    } else {
      EXPECT_THAT(made, IsOk());
    }
  }
}

TEST_F(CommitRacesTest, ARestoreOfAVersionThatGoesMeanwhileIsRefused) {
  const ManifestPtr first = Create();
  const ManifestPtr second = Append1("2");
  store_->After(StoreCallKind::kPut, ".txn", [&] { Remove(first); });
  const auto refused = Commit(table_, second, Restore{.version = 1, .content = {}}, {});
  EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, "was to be restored"));
  EXPECT_TRUE(IsRetryable(refused.status()));
  EXPECT_THAT(Versions(), ElementsAre(2));
  EXPECT_THAT(calm_.store->ListNames("/t/_transactions").ValueOrDie(), SizeIs(1));
}

TEST_F(CommitRacesTest, NothingIsPutIntoATableThatIsNotTheOneRead) {
  const ManifestPtr old = Create();
  CreateAnew();
  bool was_put = false;
  store_->Before(StoreCallKind::kPutIfAbsent, "", [&] { was_put = true; });
  const auto refused = Commit(table_, old, Append{{NewFragment("ours")}}, {});
  EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, "another one is in its place"));
  EXPECT_FALSE(IsRetryable(refused.status()));
  EXPECT_FALSE(was_put);
}

// While a commit is under way.
TEST_F(CommitRacesTest, ATableThatTakesThePlaceOfTheOneReadGetsNoVersionOfIt) {
  for (const bool loses_its_first : {false, true}) {
    SetUp();
    const ManifestPtr base = Create();
    store_->Before(StoreCallKind::kPutIfAbsent, NameOf(2), [&] {
      const ManifestPtr first = CreateAnew();
      if (loses_its_first) {
        ASSERT_THAT(calm_.store->Delete(first->path), IsOk());
      }
    });
    const auto refused = Commit(table_, base, Append{{NewFragment("ours")}}, {});
    EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, loses_its_first ? "" : "is gone"));
    EXPECT_THAT(Versions(), loses_its_first ? SizeIs(0) : SizeIs(1));
  }
}

// Nothing but a tagged version is left below.
TEST_F(CommitRacesTest, ACommitWhoseBaseIsCleanedUpStands) {
  for (const bool keeps_one : {false, true}) {
    SetUp();
    const ManifestPtr first = Create();
    const ManifestPtr second = Append1("2");
    ASSERT_THAT(calm_.store->Put("/t/data/first", BytesOf("x")), IsOk());
    store_->After(StoreCallKind::kPutIfAbsent, NameOf(3), [&] {
      Remove(second);
      if (!keeps_one) Remove(first);
    });
    EXPECT_THAT(Commit(table_, second, Append{{NewFragment("ours")}}, {}), IsOk());
    EXPECT_THAT(Files(), ElementsAre("first", "2", "ours"));
  }
}

// A clean-up takes the base, and a late writer of the same table puts a version under its number.
TEST_F(CommitRacesTest, AStrayInPlaceOfTheBaseDoesNotShowAnotherTable) {
  const ManifestPtr first = Create();
  const ManifestPtr late = Append1("late");
  const auto stray = BytesAt(late->path);
  Remove(late);
  const ManifestPtr base = Append1("2");
  store_->After(StoreCallKind::kPutIfAbsent, NameOf(3), [&] {
    Remove(base);
    ASSERT_THAT(calm_.store->PutIfAbsent(late->path, {{stray}}, false), IsOk());
  });
  EXPECT_THAT(Commit(table_, base, Append{{NewFragment("ours")}}, {}), IsOk());
  EXPECT_THAT(Files(), ElementsAre("first", "2", "ours"));
  // Nor before a put.
  EXPECT_THAT(Commit(table_, base, Append{{NewFragment("again")}}, {}), IsOk());
  EXPECT_THAT(Files(), ElementsAre("first", "2", "ours", "again"));
}

// The table is removed. A restore that was late puts its first version anew, and another writer
// goes on from there: nothing of what this commit was made of is left.
TEST_F(CommitRacesTest, ATableMadeOfAnOldVersionMeanwhileIsNotPassedOver) {
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
  const auto made = Commit(table_, third, Append{{NewFragment("ours")}}, {});
  EXPECT_THAT(made, IsError(ErrorKind::kCommitUnknown, "do not say"));
  EXPECT_THAT(Versions(), ElementsAre(2, 4));
}

// It would be the other table's newest version.
TEST_F(CommitRacesTest, WhatCannotBeTakenBackFromAnotherTableIsTold) {
  const ManifestPtr base = Create();
  store_->Before(StoreCallKind::kPutIfAbsent, NameOf(2), [&] {
    CreateAnew();
    for (int i = 0; i < 2; ++i) store_->Fail(StoreCallKind::kDelete, NameOf(2));
  });
  EXPECT_THAT(Commit(table_, base, Append{{NewFragment("ours")}}, {}),
              IsError(ErrorKind::kCommitUnknown, "could not be taken back"));
  EXPECT_THAT(Versions(), ElementsAre(1, 2));
}

// Of two attempts, each is made in the table that the base was read from.
TEST_F(CommitRacesTest, ATableThatTakesThePlaceOfTheOneReadGetsNoSecondAttempt) {
  const ManifestPtr base = Create();
  store_->Before(StoreCallKind::kPutIfAbsent, NameOf(2), [&] { Append1("theirs"); });
  store_->After(StoreCallKind::kDelete, ".txn", [&] { CreateAnew(); });
  EXPECT_THAT(Commit(table_, base, Append{{NewFragment("ours")}}, {}),
              IsError(ErrorKind::kCommitConflict, "is gone"));
  EXPECT_THAT(Versions(), ElementsAre(1));
  EXPECT_THAT(Files(), ElementsAre("anew"));
}

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
  const auto refused = Commit(table_, base, Append{{NewFragment("ours")}}, {.detached = true});
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
  const Append rows = {{NewFragment("a")}};
  const auto made = Commit(table_, base, rows, options).ValueOrDie();
  EXPECT_EQ(Commit(table_, base, rows, options).ValueOrDie()->version, made->version);
  EXPECT_THAT(ListDetachedVersions(calm_).ValueOrDie(), SizeIs(1));
  const CommitOptions another = {.transaction_properties = {{kIdempotencyKey, "twice"}},
                                 .detached = true};
  EXPECT_NE(Commit(table_, base, rows, another).ValueOrDie()->version, made->version);
}

}  // namespace
}  // namespace glaive::table
