#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/handle/dataset_state.h"
#include "dataset/retention/plan.h"
#include "glaive/commit.h"
#include "glaive/history.h"
#include "glaive/refs.h"
#include "glaive/retention.h"
#include "glaive/session.h"
#include "glaive/write.h"
#include "io/memory_store.h"
#include "table/commit/commit.h"
#include "table/versions/file.h"
#include "table/versions/naming_schemes.h"
#include "testing/interrupted_store.h"
#include "testing/matchers.h"

// Clean-ups of age 0 beside restores, tags, branches and other clean-ups. Each of the two is
// interrupted by the other before each of its requests.
namespace glaive {
namespace {

using glaive::testing::InterruptedStore;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::IsOkAndHolds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kUri = "races-test://t";
constexpr uint64_t kOld = 2;  // a version that clean-ups take

std::shared_ptr<arrow::RecordBatchReader> Rows(int64_t count) {
  arrow::Int64Builder a;
  for (int64_t i = 0; i < count; ++i) EXPECT_THAT(a.Append(i), IsOk());
  const auto rows = arrow::RecordBatch::Make(arrow::schema({arrow::field("a", arrow::int64())}),
                                             count, {a.Finish().ValueOrDie()});
  return arrow::RecordBatchReader::Make({rows}, rows->schema()).ValueOrDie();
}

class CleanupRacesTest : public ::testing::Test {
 protected:
  void SetUp() override { Begin(); }
  void TearDown() override { io::RegisterStore("races-test", nullptr); }

  // Four versions that share no file; version n has n rows.
  void Begin() {
    store_ = std::make_shared<InterruptedStore>(io::MakeMemoryStore());
    io::RegisterStore("races-test", store_);
    Overwrite(1, WriteMode::kCreate);
    for (int64_t version = 2; version <= 4; ++version) Overwrite(version);
  }

  static void Overwrite(int64_t rows, WriteMode mode = WriteMode::kOverwrite) {
    ASSERT_THAT(WriteDataset(Rows(rows), kUri, {.mode = mode, .session = NewSession()}), IsOk());
  }

  static std::shared_ptr<Session> NewSession() { return std::make_shared<Session>(1 << 20); }

  static Dataset Open(std::optional<uint64_t> version = std::nullopt) {
    return Dataset::Open(kUri, {.version = version, .session = NewSession()}).ValueOrDie();
  }

  static void CleanUpAll() {
    const auto latest = Dataset::Open(kUri, {.session = NewSession()});
    if (!latest.ok()) return;  // it died before
    static_cast<void>(CleanUp(*latest, {.error_if_tagged_old_versions = false}));
  }

  // Whatever is listed is there with all its files; of the newest version nothing else is known.
  static void ExpectWhole() {
    const Dataset latest = Open();
    for (const uint64_t version : VersionNumbers(latest).ValueOrDie()) {
      EXPECT_THAT(Validate(Open(version)), IsOk()) << "version " << version;
    }
    for (const auto& [tag, info] : ListTags(latest).ValueOrDie()) {
      const auto tagged = latest.Checkout(TagName{tag});
      ASSERT_THAT(tagged, IsOk()) << tag;
      EXPECT_THAT(Validate(*tagged), IsOk()) << tag;
      EXPECT_THAT(tagged->CountRows(), IsOkAndHolds(kOld));
    }
    for (const auto& entry : ListBranches(latest).ValueOrDie()) {
      const auto branch = latest.Checkout(BranchVersion{entry.first, std::nullopt});
      ASSERT_THAT(branch, IsOk()) << entry.first;
      EXPECT_THAT(Validate(*branch), IsOk()) << entry.first;
      EXPECT_THAT(branch->CountRows(), IsOkAndHolds(kOld));
    }
  }

  // After a last clean-up nothing is left of earlier ones, and no file that nobody needs.
  void ExpectClean(size_t num_data_files) {
    for (int i = 0; i < 2; ++i) {
      ASSERT_THAT(
          CleanUp(Open(), {.delete_unverified = true, .error_if_tagged_old_versions = false}),
          IsOk());
    }
    ExpectWhole();
    const dataset::VersionMarks marks = dataset::ListMarks(StateOf(Open())->location).ValueOrDie();
    std::set<std::string> runs;
    for (const auto& tombstone : marks.tombstones) {
      // Beside the name of a version that stays: whoever put it may be about to take that name.
      EXPECT_TRUE(marks.attached.contains(tombstone.version.version)) << tombstone.path;
      runs.insert(tombstone.run);
    }
    EXPECT_THAT(marks.pins, IsEmpty());
    EXPECT_THAT(marks.decided, ::testing::IsSubsetOf(runs));
    size_t data_files = 0;
    for (const auto& object : store_->ListRecursive(io::Resolve(kUri)->path).ValueOrDie()) {
      if (object.path.ends_with(".lance")) ++data_files;
    }
    EXPECT_EQ(data_files, num_data_files);
  }

  using Verb = std::function<arrow::Status()>;
  struct NamedVerb {
    const char* name;
    Verb run;
  };

  // What makes something of version 2. The handle is from before.
  static constexpr size_t kNumVerbs = 4;
  NamedVerb VerbOf(size_t index) {
    const Dataset old = Open(kOld);
    switch (index) {
      case 0: return {"restore", [old] { return Restore(old).status(); }};
      case 1: return {"tag", [old] { return CreateTag(old, "t"); }};
      case 2: return {"move a tag", [old] { return MoveTag(old); }};
      default: return {"branch", [old] { return CreateBranch(old, "b").status(); }};
    }
  }
  static arrow::Status MoveTag(const Dataset& old) {
    ARROW_RETURN_NOT_OK(CreateTag(old, "t", uint64_t{4}));
    const arrow::Status moved = UpdateTag(old, "t");
    if (!moved.ok()) ARROW_RETURN_NOT_OK(DeleteTag(old, "t"));
    return moved;
  }

  // A verb that says it failed left nothing, and said that it can be tried again or why not.
  void ExpectOutcome(const arrow::Status& status, bool is_restore) {
    ExpectWhole();
    const Dataset latest = Open();
    const bool is_made = is_restore ? latest.version() > 4
                                    : !ListTags(latest)->empty() || !ListBranches(latest)->empty();
    EXPECT_EQ(status.ok(), is_made) << status.ToString();
    if (is_restore && status.ok()) {
      EXPECT_THAT(latest.CountRows(), IsOkAndHolds(kOld));
    }
    if (status.ok()) return;
    EXPECT_TRUE(IsRetryable(status) || KindOf(status) == ErrorKind::kNotFound) << status.ToString();
  }

  static void ExpectNothingIsMadeOf(const Dataset& stray) {
    for (const arrow::Status& refused :
         {CreateTag(stray, "t"), Restore(stray).status(), CreateBranch(stray, "b").status()}) {
      EXPECT_TRUE(IsRetryable(refused)) << refused.ToString();
    }
    EXPECT_THAT(ListTags(stray).ValueOrDie(), IsEmpty());
    EXPECT_THAT(ListBranches(stray).ValueOrDie(), IsEmpty());
  }

  std::shared_ptr<InterruptedStore> store_;
};

TEST_F(CleanupRacesTest, AVerbBetweenTwoRequestsOfACleanUp) {
  for (size_t verb = 0; verb < kNumVerbs; ++verb) {
    for (uint64_t call = 0;; ++call) {
      Begin();
      const NamedVerb rival = VerbOf(verb);
      SCOPED_TRACE(std::string(rival.name) + " before call " + std::to_string(call));
      arrow::Status status;
      store_->InterruptAt(call, [&] { status = rival.run(); });
      CleanUpAll();
      if (!store_->was_interrupted()) break;
      store_->Disarm();
      ExpectOutcome(status, verb == 0);
      ExpectClean(status.ok() ? (verb == 0 ? 1 : 2) : 1);
      if (HasFailure()) return;
    }
  }
}

TEST_F(CleanupRacesTest, ACleanUpBetweenTwoRequestsOfAVerb) {
  for (size_t verb = 0; verb < kNumVerbs; ++verb) {
    for (uint64_t call = 0;; ++call) {
      Begin();
      const NamedVerb rival = VerbOf(verb);
      SCOPED_TRACE(std::string(rival.name) + ", clean-up before call " + std::to_string(call));
      store_->InterruptAt(call, [&] { CleanUpAll(); });
      const arrow::Status status = rival.run();
      if (!store_->was_interrupted()) break;
      store_->Disarm();
      ExpectOutcome(status, verb == 0);
      ExpectClean(status.ok() ? (verb == 0 ? 1 : 2) : 1);
      if (HasFailure()) return;
    }
  }
}

// The first one may go on after the second has finished, or put back, what it had begun with.
TEST_F(CleanupRacesTest, ACleanUpAndAVerbBetweenTwoRequestsOfACleanUp) {
  for (size_t verb = 0; verb < kNumVerbs; ++verb) {
    for (const bool verb_is_first : {true, false}) {
      for (uint64_t call = 0;; ++call) {
        Begin();
        const NamedVerb rival = VerbOf(verb);
        SCOPED_TRACE(std::string(rival.name) + " before call " + std::to_string(call));
        arrow::Status status;
        store_->InterruptAt(call, [&] {
          if (verb_is_first) status = rival.run();
          CleanUpAll();
          if (!verb_is_first) status = rival.run();
        });
        CleanUpAll();
        if (!store_->was_interrupted()) break;
        store_->Disarm();
        ExpectOutcome(status, verb == 0);
        ExpectClean(status.ok() ? (verb == 0 ? 1 : 2) : 1);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(CleanupRacesTest, ACleanUpThatDied) {
  for (size_t verb = 0; verb < kNumVerbs; ++verb) {
    for (uint64_t call = 0;; ++call) {
      Begin();
      const NamedVerb rival = VerbOf(verb);
      SCOPED_TRACE(std::string(rival.name) + ", died before call " + std::to_string(call));
      arrow::Status status;
      store_->DieAt(call, [&] { status = rival.run(); });
      CleanUpAll();
      if (!store_->was_interrupted()) break;
      store_->Disarm();
      ExpectOutcome(status, verb == 0);
      CleanUpAll();
      ExpectOutcome(status, verb == 0);
      ExpectClean(status.ok() ? (verb == 0 ? 1 : 2) : 1);
      if (HasFailure()) return;
    }
  }
}

// Nothing is compared for one, so it may follow a version that is old.
TEST_F(CleanupRacesTest, ACleanUpBetweenTwoRequestsOfADetachedCommit) {
  for (uint64_t call = 0;; ++call) {
    Begin();
    SCOPED_TRACE("clean-up before call " + std::to_string(call));
    const Dataset old = Open(kOld);
    const Transaction nothing = {.read_version = kOld, .operation = operation::Append{}};
    store_->InterruptAt(call, [&] { CleanUpAll(); });
    const auto made = Commit(old, nothing, {.detached = true});
    if (!store_->was_interrupted()) break;
    store_->Disarm();
    const auto detached = dataset::ListDetached(StateOf(old)->location).ValueOrDie();
    EXPECT_EQ(made.ok(), detached.size() == 1) << made.status().ToString();
    for (const auto& entry : detached) EXPECT_THAT(Validate(Open(entry.version)), IsOk());
    ExpectClean(made.ok() ? 2 : 1);
    if (HasFailure()) return;
  }
}

// What a verb left that died, beside a clean-up, is gone once the table has moved on.
TEST_F(CleanupRacesTest, ARestoreThatDied) {
  for (uint64_t call = 0;; ++call) {
    Begin();
    SCOPED_TRACE("died before call " + std::to_string(call));
    const Verb restore = VerbOf(0).run;
    store_->DieAt(call, [&] { CleanUpAll(); });
    static_cast<void>(restore());
    if (!store_->was_interrupted()) break;
    store_->Disarm();
    ExpectWhole();
    Overwrite(9);
    ExpectClean(1);
    if (HasFailure()) return;
  }
}

// Others make two versions, and a clean-up frees the number of the first one, before the writer
// puts its own under it and dies.
TEST_F(CleanupRacesTest, AStrayGoesAndItsFilesAreNobodys) {
  bool was_stray = false;
  for (uint64_t call = 0;; ++call) {
    Begin();
    SCOPED_TRACE("died after call " + std::to_string(call));
    const Dataset old = Open();
    store_->DieAfter(call, [&] {
      Overwrite(8);
      Overwrite(9);
      CleanUpAll();
    });
    const auto written = WriteDataset(Rows(1), old, {.mode = WriteMode::kAppend});
    if (!store_->was_interrupted()) break;
    store_->Disarm();
    const bool is_stray = VersionNumbers(Open())->size() == 2;
    was_stray |= is_stray;
    if (is_stray) ExpectNothingIsMadeOf(Open(VersionNumbers(Open())->front()));
    const auto removed = CleanUp(Open());
    ASSERT_THAT(removed, IsOk());
    EXPECT_EQ(removed->old_versions, is_stray ? 1 : 0);
    EXPECT_EQ(removed->data_files_removed, 0);  // the writer might be trying again
    EXPECT_THAT(VersionNumbers(Open()), IsOkAndHolds(SizeIs(1)));
    ExpectClean(1);
    if (HasFailure()) return;
  }
  EXPECT_TRUE(was_stray);
}

// A forced deletion and another creation come between the steps of the first one.
TEST_F(CleanupRacesTest, AnotherOnesBranchIsLeftAlone) {
  for (uint64_t call = 0;; ++call) {
    Begin();
    SCOPED_TRACE("before call " + std::to_string(call));
    const Dataset old = Open(kOld);
    const Dataset latest = Open();
    arrow::Status other;
    store_->InterruptAt(call, [&] {
      static_cast<void>(DeleteBranch(latest, "b", /*force=*/true));
      other = CreateBranch(latest, "b", kOld).status();
    });
    static_cast<void>(CreateBranch(old, "b"));
    if (!store_->was_interrupted()) break;
    store_->Disarm();
    EXPECT_THAT(other, IsOk());
    EXPECT_THAT(ListBranches(latest).ValueOrDie(), ElementsAre(Key("b")));
    ExpectWhole();
    if (HasFailure()) return;
  }
}

TEST_F(CleanupRacesTest, ATagFindsAVersionThatMayYetBePutBack) {
  const Dataset latest = Open();
  ASSERT_THAT(CreateTag(latest, "t", kOld), IsOk());
  const auto entry = table::FindVersion(StateOf(latest)->location, kOld).ValueOrDie();
  ASSERT_TRUE(dataset::Bury(StateOf(latest)->location, entry, "run").ValueOrDie());
  EXPECT_THAT(latest.Checkout(kOld), IsError(ErrorKind::kNotFound, "version 2"));
  EXPECT_THAT(latest.Checkout(TagName{"t"})->CountRows(), IsOkAndHolds(kOld));
  const arrow::Status second = CreateTag(latest, "second", TagName{"t"});
  EXPECT_TRUE(IsRetryable(second)) << second.ToString();
  EXPECT_THAT(ListTags(latest).ValueOrDie(), ElementsAre(Key("t")));
  ExpectClean(2);
  EXPECT_THAT(VersionNumbers(Open()), IsOkAndHolds(ElementsAre(kOld, 4)));
}

TEST_F(CleanupRacesTest, AHandleOfAnotherTableRemovesNothing) {
  const Dataset old = Open();
  ASSERT_THAT(DropDataset(kUri), IsOk());
  Overwrite(7, WriteMode::kCreate);
  const arrow::Status above = CleanUp(old).status();
  EXPECT_TRUE(IsRetryable(above)) << above.ToString();
  for (int i = 0; i < 4; ++i) Overwrite(8);
  const arrow::Status within = CleanUp(old).status();  // a version of that number is there
  EXPECT_TRUE(IsRetryable(within)) << within.ToString();
  EXPECT_THAT(VersionNumbers(Open()), IsOkAndHolds(ElementsAre(1, 2, 3, 4, 5)));
  ExpectWhole();
  const arrow::Status restored = Restore(old).status();
  EXPECT_TRUE(IsRetryable(restored)) << restored.ToString();
  EXPECT_EQ(Open().version(), 5);
  const arrow::Status tagged = CreateTag(old, "t");
  EXPECT_TRUE(IsRetryable(tagged)) << tagged.ToString();
  const arrow::Status branched = CreateBranch(old, "b").status();
  EXPECT_TRUE(IsRetryable(branched)) << branched.ToString();
  EXPECT_THAT(ListTags(Open()).ValueOrDie(), IsEmpty());
  EXPECT_THAT(ListBranches(Open()).ValueOrDie(), IsEmpty());
}

// It had put a version back, which goes now.
TEST_F(CleanupRacesTest, ATombstoneOfAVersionThatWasPutBackIsNotTakenForOneThatGoes) {
  const table::TableLocation table = StateOf(Open())->location;
  const auto entry = table::FindVersion(table, kOld).ValueOrDie();
  ASSERT_THAT(table.store->Link(entry.path, entry.path + "-gone-run"), IsOk());
  ASSERT_THAT(dataset::DecideFate(table, "run", {.gone = {}, .back = {kOld}}), IsOk());
  EXPECT_THAT(CleanUp(Open()), IsOk());
  EXPECT_THAT(VersionNumbers(Open()), IsOkAndHolds(ElementsAre(4)));
  ExpectClean(1);
}

// The creator of a table of V1 names died while it held the V2 name of its first version; or
// another creator died before it yielded.
TEST_F(CleanupRacesTest, NamesOfCreatorsWhoDiedAreNoVersions) {
  const std::string v2 = "/_versions/" + table::ManifestName(1, table::NamingScheme::kV2);
  for (const bool is_held : {true, false}) {
    for (uint64_t call = 0;; ++call) {
      Begin();
      SCOPED_TRACE((is_held ? "held, died at call " : "lost, died at call ") +
                   std::to_string(call));
      auto bytes = arrow::Buffer::FromString(std::string(table::kHeldName));
      if (!is_held) bytes = store_->ReadWhole(io::Resolve(kUri)->path + v2).ValueOrDie();
      ASSERT_THAT(DropDataset(kUri), IsOk());
      ASSERT_THAT(
          WriteDataset(Rows(1), kUri, {.enable_v2_manifest_paths = false, .session = NewSession()}),
          IsOk());
      ASSERT_THAT(store_->PutIfAbsent(io::Resolve(kUri)->path + v2, {{bytes}}, false), IsOk());
      Overwrite(2);
      EXPECT_THAT(VersionNumbers(Open()), IsOkAndHolds(ElementsAre(1, 2)));
      store_->DieAt(call);
      CleanUpAll();
      const bool is_over = !store_->was_interrupted();
      store_->Disarm();
      ExpectClean(1);
      EXPECT_THAT(VersionNumbers(Open()), IsOkAndHolds(ElementsAre(2)));
      EXPECT_FALSE(*store_->Head(io::Resolve(kUri)->path + v2));
      if (is_over || HasFailure()) break;
    }
    if (HasFailure()) return;
  }
}

// Shows versions as they were, until it changes something itself.
class OldListings final : public testing::HookedStore {
 public:
  using HookedStore::HookedStore;

  void Begin() { old_ = inner().List(kFolder).ValueOrDie(); }

  arrow::Result<std::vector<io::ObjectInfo>> List(const std::string& folder) override {
    if (!old_ || folder != kFolder) return inner().List(folder);
    return *old_;
  }
  arrow::Result<std::vector<std::string>> ListNames(const std::string& folder) override {
    ARROW_ASSIGN_OR_RAISE(const auto objects, List(folder));
    std::vector<std::string> names;
    for (const auto& object : objects) names.push_back(object.path.substr(folder.size() + 1));
    return names;
  }
  arrow::Status Around(const testing::StoreCall& call,
                       const std::function<arrow::Status()>& perform) override {
    using enum testing::StoreCallKind;
    if (call.kind == kPut || call.kind == kPutIfAbsent || call.kind == kDelete) old_.reset();
    return perform();
  }

 private:
  static constexpr const char* kFolder = "/t/_versions";

  std::optional<std::vector<io::ObjectInfo>> old_;
};

TEST_F(CleanupRacesTest, ASweepDoesNotGoByAnOldListing) {
  const Dataset latest = Open();
  const auto staged = WriteTransaction(Rows(5), latest, {.mode = WriteMode::kAppend});
  ASSERT_THAT(staged, IsOk());
  const auto old = std::make_shared<OldListings>(store_);
  io::RegisterStore("old-listings", old);
  const Dataset seen = Dataset::Open("old-listings://t", {.session = NewSession()}).ValueOrDie();
  ASSERT_EQ(StateOf(seen)->location.root + "/_versions", "/t/_versions");
  const CleanupOptions options = {.unverified_age_ns = 0};
  const auto plan =
      dataset::PlanCleanup(seen, seen.version(), options, dataset::CleanupScope::kUnverified);
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->files.size(), 1);
  old->Begin();
  ASSERT_THAT(Commit(latest, *staged), IsOk());
  EXPECT_THAT(dataset::RunCleanup(seen, *plan, options).status, IsOk());
  io::RegisterStore("old-listings", nullptr);
  ExpectWhole();
}

TEST_F(CleanupRacesTest, ADetachedHandleIsRefused) {
  const Dataset latest = Open();
  table::CommitOptions options;
  options.detached = true;
  const auto& state = *StateOf(latest);
  const auto made =
      table::Commit(state.location, state.manifest, table::Append{}, options).ValueOrDie();
  const Dataset detached = Open(made->version);
  EXPECT_THAT(CleanUp(detached), IsError(ErrorKind::kInvalidInput, "detached"));
  EXPECT_THAT(VersionNumbers(Open()), IsOkAndHolds(ElementsAre(1, 2, 3, 4)));
}

// However long ago its files were written.
TEST_F(CleanupRacesTest, WhatIsCommittedDuringASweepStays) {
  const Dataset latest = Open();
  const auto staged = WriteTransaction(Rows(5), latest, {.mode = WriteMode::kAppend});
  ASSERT_THAT(staged, IsOk());
  const CleanupOptions options = {.unverified_age_ns = 0};
  const auto plan =
      dataset::PlanCleanup(latest, latest.version(), options, dataset::CleanupScope::kUnverified);
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->files.size(), 1);
  ASSERT_THAT(Commit(latest, *staged), IsOk());
  const dataset::CleanupRun run =
      dataset::RunCleanup(latest, *plan, options, std::chrono::nanoseconds(0));
  EXPECT_THAT(run.status, IsOk());
  EXPECT_EQ(run.removed.data_files_removed, 0);
  ExpectWhole();
}

}  // namespace
}  // namespace glaive
