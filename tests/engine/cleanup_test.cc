// What clean-ups keep, and what tags, branches and restores do where they meet one: cases beside
// those of cleanup_races_test.cc.
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/handle/dataset_state.h"
#include "dataset/refs/file_references.h"
#include "dataset/refs/files.h"
#include "dataset/refs/tombstones.h"
#include "dataset/retention/plan.h"
#include "glaive/commit.h"
#include "glaive/config.h"
#include "glaive/history.h"
#include "glaive/refs.h"
#include "glaive/retention.h"
#include "glaive/rows.h"
#include "glaive/session.h"
#include "io/memory_store.h"
#include "table/commit/publish.h"
#include "testing/column_writes.h"
#include "testing/interrupted_store.h"
#include "testing/matchers.h"

namespace glaive {
namespace {

using namespace glaive::testing;  // the small table and its columns
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;

constexpr const char* kUri = "cleanup-test://t";
constexpr uint64_t kOld = 2;  // a version that clean-ups take

class CleanupTest : public ::testing::Test {
 protected:
  void SetUp() override { Begin(); }
  void TearDown() override { io::RegisterStore("cleanup-test", nullptr); }

  // Four versions that share no file; version n has n rows.
  void Begin() {
    store_ = std::make_shared<InterruptedStore>(io::MakeMemoryStore());
    io::RegisterStore("cleanup-test", store_);
    for (size_t version = 1; version <= 4; ++version) Overwrite(version);
  }

  static void Overwrite(size_t rows) {
    const WriteMode mode = rows == 1 ? WriteMode::kCreate : WriteMode::kOverwrite;
    const Values values(rows, 7);
    ASSERT_THAT(WriteDataset(ColumnStream({{"v", values}}), kUri,
                             {.mode = mode, .session = std::make_shared<Session>()}),
                IsOk());
  }

  static Dataset Open(std::optional<uint64_t> version = std::nullopt) {
    return Dataset::Open(kUri, {.version = version, .session = std::make_shared<Session>()})
        .ValueOrDie();
  }

  static void CleanUpAll() {
    static_cast<void>(CleanUp(Open(), {.error_if_tagged_old_versions = false}));
  }

  // Runs a verb once for each of its requests, with something else before that one. `check` gets
  // what the verb returned.
  void BeforeEachCall(const std::function<void()>& prepare,
                      const std::function<arrow::Status()>& verb,
                      const std::function<void()>& other,
                      const std::function<void(const arrow::Status&)>& check) {
    for (uint64_t call = 0;; ++call) {
      Begin();
      SCOPED_TRACE("before call " + std::to_string(call));
      prepare();
      store_->InterruptAt(call, other);
      const arrow::Status status = verb();
      if (!store_->was_interrupted()) break;
      store_->Disarm();
      check(status);
      if (HasFailure()) return;
    }
  }

  std::shared_ptr<InterruptedStore> store_;
};

TEST_F(CleanupTest, WhatTheNewestVersionRefersToStays) {
  const Dataset first = MakeColumnTable();
  ASSERT_THAT(Delete(first, Predicate::Sql("id = 1")), IsOk());
  LayOver(NewestColumnTable(), "v", {0, 2}, {7, 9});
  const auto values = ReadColumn("v");
  ASSERT_THAT(CleanUp(NewestColumnTable(), {.delete_unverified = true}), IsOk());
  const auto place = io::Resolve(ColumnTableUri()).ValueOrDie();
  const auto num_files = [&](const std::string& folder) {
    return place.store->List(place.path + "/" + folder).ValueOrDie().size();
  };
  EXPECT_EQ(num_files("data"), 3);
  EXPECT_EQ(num_files("_deletions"), 1);
  EXPECT_EQ(num_files("_transactions"), 1);
  const Dataset latest =
      Dataset::Open(ColumnTableUri(), {.session = std::make_shared<Session>()}).ValueOrDie();
  EXPECT_THAT(Validate(latest), IsOk());
  EXPECT_EQ(ReadColumn("v"), values);
}

TEST_F(CleanupTest, TaggedVersionsAreNotTouched) {
  ASSERT_THAT(CreateTag(Open(), "t", kOld), IsOk());
  EXPECT_THAT(CleanUp(Open()), IsError(ErrorKind::kInvalidInput, "1 tagged versions"));
  const CleanupOptions options = {.error_if_tagged_old_versions = false};
  EXPECT_EQ(ExplainCleanUp(Open(), options)->stats.old_versions, 2);
  EXPECT_EQ(CleanUp(Open(), options)->old_versions, 2);
  EXPECT_THAT(VersionNumbers(Open()), IsOkAndHolds(ElementsAre(kOld, 4)));
}

// They may be on the way of the newest version, and do not say so.
TEST_F(CleanupTest, VersionsWithoutAncestorsAreNoStrays) {
  const table::TableLocation table = StateOf(Open())->location;
  table::Manifest last = *table::ReadManifest(table, 4).ValueOrDie();
  ASSERT_THAT(store_->Delete(last.path), IsOk());
  last.ancestors.clear();
  const table::Transaction theirs = {
      .read_version = 3, .uuid = table::NewUuid(), .operation = table::Append{}};
  ASSERT_EQ(table::Publish(table, theirs, table::Durability::kNone, &last).ValueOrDie(),
            table::Outcome::kOurs);
  constexpr uint64_t kHour = 3600ull * 1'000'000'000;
  ASSERT_THAT(CleanUp(Open(), {.older_than_ns = kHour}), IsOk());
  EXPECT_THAT(VersionNumbers(Open()), IsOkAndHolds(ElementsAre(1, 2, 3, 4)));
}

TEST_F(CleanupTest, FilesOfNobodyAreNotForOneOfVersionsOnly) {
  ASSERT_THAT(store_->Put("/t/data/stray.lance", {}), IsOk());
  const CleanupOptions options = {.delete_unverified = true};
  const auto plan = dataset::PlanCleanup(Open(), 4, options, dataset::CleanupScope::kVersions);
  ASSERT_THAT(plan, IsOk());
  for (const CleanupCandidate& file : plan->files) EXPECT_FALSE(file.unverified) << file.path;
  EXPECT_EQ(plan->manifests.size(), 3);
}

TEST_F(CleanupTest, AnAutomaticOneLeavesTheVersionBefore) {
  const MetadataEdit edit = {
      .entries = {{"lance.auto_cleanup.interval", "1"}, {"lance.auto_cleanup.older_than", "0s"}}};
  ASSERT_THAT(UpdateConfig(Open(), edit), IsOk());
  Overwrite(6);
  EXPECT_THAT(VersionNumbers(Open()), IsOkAndHolds(ElementsAre(5, 6)));
}

// Its creator has looked whether the version is there, and goes on to put the ref.
TEST_F(CleanupTest, ABranchWithoutItsRefKeepsWhatItWasMadeFrom) {
  for (uint64_t call = 0;; ++call) {
    Begin();
    SCOPED_TRACE("before call " + std::to_string(call));
    const Dataset old = Open(kOld);
    const std::string ref =
        dataset::RefPath(dataset::MainLocation(old), dataset::RefKind::kBranch, "b");
    std::string text;
    store_->InterruptAt(call, [&] {
      if (!CreateBranch(old, "b").ok()) return;
      text = store_->ReadWhole(ref).ValueOrDie()->ToString();
      ASSERT_THAT(store_->Delete(ref), IsOk());
    });
    CleanUpAll();
    if (!store_->was_interrupted()) break;
    store_->Disarm();
    if (!text.empty()) {
      ASSERT_THAT(store_->Put(ref, std::as_bytes(std::span(text))), IsOk());
      const auto branch = Open().Checkout(BranchVersion{"b", std::nullopt});
      ASSERT_THAT(branch, IsOk());
      EXPECT_THAT(Validate(*branch), IsOk());
    }
    if (HasFailure()) return;
  }
}

TEST_F(CleanupTest, ADetachedCommitBetweenTwoOfItsRequestsIsWhole) {
  const Transaction nothing = {.read_version = kOld, .operation = operation::Append{}};
  arrow::Status made;
  std::optional<Dataset> old;
  BeforeEachCall([&] { old = Open(kOld); },
                 [] {
                   CleanUpAll();
                   return arrow::Status::OK();
                 },
                 [&] { made = Commit(*old, nothing, {.detached = true}).status(); },
                 [&](const arrow::Status&) {
                   const auto detached =
                       dataset::ListDetached(StateOf(Open())->location).ValueOrDie();
                   EXPECT_EQ(made.ok(), detached.size() == 1) << made.ToString();
                   for (const auto& entry : detached)
                     EXPECT_THAT(Validate(Open(entry.version)), IsOk());
                 });
}

TEST_F(CleanupTest, ATagThatCouldNotBeMovedStaysWhereItWas) {
  bool was_refused = false;
  std::optional<Dataset> old;
  BeforeEachCall(
      [&] {
        old = Open(kOld);
        ASSERT_THAT(CreateTag(*old, "t", uint64_t{4}), IsOk());
      },
      [&] { return UpdateTag(*old, "t"); }, [] { CleanUpAll(); },
      [&](const arrow::Status& moved) {
        was_refused |= !moved.ok();
        EXPECT_EQ(GetTag(Open(), "t")->version, moved.ok() ? kOld : 4);
        EXPECT_THAT(Open().Checkout(TagName{"t"}), IsOk());
      });
  EXPECT_TRUE(was_refused);
}

// Ours is deleted, another one gets its name, and then the version that ours was to name goes.
TEST_F(CleanupTest, AnotherOnesTagIsLeftAlone) {
  std::optional<Dataset> old;
  std::optional<Dataset> latest;
  arrow::Status other;
  BeforeEachCall(
      [&] {
        old = Open(kOld);
        latest = Open();
      },
      [&] { return CreateTag(*old, "t"); },
      [&] {
        static_cast<void>(DeleteTag(*latest, "t"));
        other = CreateTag(*latest, "t");
        CleanUpAll();
      },
      [&](const arrow::Status&) {
        EXPECT_THAT(other, IsOk());
        EXPECT_THAT(ListTags(*latest).ValueOrDie(), ElementsAre(Key("t")));
        EXPECT_EQ(GetTag(*latest, "t")->version, 4);
      });
}

TEST_F(CleanupTest, ARestoreBesideAnEditOfTheSchemasMetadataIsRefused) {
  bool was_refused = false;
  std::optional<Dataset> old;
  BeforeEachCall([&] { old = Open(kOld); }, [&] { return Restore(*old).status(); },
                 [] {
                   const MetadataEdit edit = {.entries = {{"k", "v"}}};
                   EXPECT_THAT(UpdateSchemaMetadata(Open(), edit), IsOk());
                 },
                 [&](const arrow::Status& restored) {
                   if (restored.ok()) {
                     EXPECT_EQ(Open().version(), 6);
                     return;
                   }
                   was_refused = true;
                   EXPECT_THAT(restored, IsError(ErrorKind::kCommitConflict, "cannot follow"));
                   EXPECT_EQ(Open().version(), 5);
                 });
  EXPECT_TRUE(was_refused);
}

// Another table of as many rows, whose versions have the numbers and sizes of the one before.
TEST_F(CleanupTest, AHandleOfATableThatLooksTheSameRestoresNothing) {
  const Dataset old = Open(kOld);
  const table::TableLocation table = StateOf(old)->location;
  uint64_t size_bytes = 0;
  for (int i = 0; i < 100 && size_bytes != StateOf(old)->manifest->size_bytes; ++i) {
    ASSERT_THAT(DropDataset(kUri), IsOk());
    for (size_t version = 1; version <= 4; ++version) Overwrite(version);
    size_bytes = table::FindVersion(table, kOld)->size_bytes;
  }
  ASSERT_EQ(size_bytes, StateOf(old)->manifest->size_bytes);
  const arrow::Status restored = Restore(old).status();
  EXPECT_THAT(restored, IsError(ErrorKind::kCommitConflict, ""));
  EXPECT_TRUE(IsRetryable(restored));
  EXPECT_EQ(Open().version(), 4);
}

TEST_F(CleanupTest, WhatIsSaidOfARunHoldsUntilAllOfItIsDone) {
  const table::TableLocation table = StateOf(Open())->location;
  const auto entry = table::FindVersion(table, kOld).ValueOrDie();
  const auto tombstone = dataset::Bury(table, entry, "run").ValueOrDie();
  ASSERT_TRUE(tombstone);
  const auto first = dataset::DecideFate(table, "run", {.gone = {1}, .back = {kOld}}).ValueOrDie();
  const auto second = dataset::DecideFate(table, "run", {.gone = {kOld}, .back = {1}}).ValueOrDie();
  EXPECT_THAT(second.gone, ElementsAre(1));
  EXPECT_EQ(second.back, first.back);
  ASSERT_THAT(dataset::ForgetFate(table, "run"), IsOk());
  EXPECT_THAT(dataset::ListMarks(table)->decided, ElementsAre("run"));
  ASSERT_THAT(store_->Delete(tombstone->path), IsOk());
  ASSERT_THAT(dataset::ForgetFate(table, "run"), IsOk());
  EXPECT_THAT(dataset::ListMarks(table)->decided, IsEmpty());
}

class BranchesTest : public CleanupTest {};

TEST_F(BranchesTest, WhatSomethingRefersToIsNotDeleted) {
  const Dataset parent = CreateBranch(Open(), "parent").ValueOrDie();
  ASSERT_THAT(CreateBranch(parent, "child"), IsOk());
  EXPECT_THAT(DeleteBranch(Open(), "parent", /*force=*/true),
              IsError(ErrorKind::kInvalidInput, "branch child was made from"));
  ASSERT_THAT(DeleteBranch(Open(), "child", /*force=*/false), IsOk());
  ASSERT_THAT(CreateTag(parent, "t"), IsOk());
  EXPECT_THAT(DeleteBranch(Open(), "parent", /*force=*/false),
              IsError(ErrorKind::kInvalidInput, "tag t points to"));
  ASSERT_THAT(DeleteTag(Open(), "t"), IsOk());
  ASSERT_THAT(DeleteBranch(Open(), "parent", /*force=*/false), IsOk());
  EXPECT_THAT(ListBranches(Open()).ValueOrDie(), IsEmpty());
  EXPECT_THAT(store_->ListRecursive("/t/tree").ValueOrDie(), IsEmpty());
}

TEST_F(BranchesTest, OneThatIsDeletedWhileItIsMadeIsWholeOrNotThere) {
  std::optional<Dataset> latest;
  BeforeEachCall([&] { latest = Open(); }, [&] { return CreateBranch(*latest, "b").status(); },
                 [&] { static_cast<void>(DeleteBranch(*latest, "b", /*force=*/true)); },
                 [&](const arrow::Status&) {
                   if (ListBranches(*latest)->empty()) return;
                   const auto branch = latest->Checkout(BranchVersion{"b", std::nullopt});
                   ASSERT_THAT(branch, IsOk());
                   EXPECT_THAT(Validate(*branch), IsOk());
                 });
}

TEST_F(BranchesTest, WhatLiesBelowOneThatIsDeletedStays) {
  for (const char* const name : {"a", "a/b", "ab"}) ASSERT_THAT(CreateBranch(Open(), name), IsOk());
  ASSERT_THAT(DeleteBranch(Open(), "a", /*force=*/false), IsOk());
  EXPECT_THAT(ListBranches(Open()).ValueOrDie(), ElementsAre(Key("a/b"), Key("ab")));
  for (const char* const name : {"a/b", "ab"}) {
    const auto branch = Open().Checkout(BranchVersion{name, std::nullopt});
    ASSERT_THAT(branch, IsOk()) << name;
    EXPECT_THAT(Validate(*branch), IsOk());
  }
}

}  // namespace
}  // namespace glaive
