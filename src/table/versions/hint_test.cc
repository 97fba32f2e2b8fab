#include "table/versions/hint.h"

#include <gtest/gtest.h>

#include "io/memory_store.h"
#include "table/commit/commit.h"
#include "table/versions/file.h"
#include "testing/counting_store.h"
#include "testing/dear_listings.h"
#include "testing/golden.h"
#include "testing/matchers.h"

namespace glaive::table {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::CountingStore;
using glaive::testing::DearListings;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using ::testing::SizeIs;

wire::DataFragment NewFragment() {
  wire::DataFile file{.path = "f", .fields = {0}, .column_indices = {0}};
  file.file_major_version = 2;
  file.file_minor_version = 2;
  return {.files = {std::move(file)}, .physical_rows = 10};
}

class VersionHintTest : public ::testing::Test {
 protected:
  void SetUp() override {
    wire::DataFragment first = NewFragment();
    // No file name is used twice.
    first.files.front().path = std::to_string(++num_tables_);
    wire::Schema schema;
    schema.fields.push_back({.id = 0, .name = "k", .logical_type = "int64"});
    Overwrite overwrite{.fragments = FragmentsOf({first}), .schema = WrapSchema(schema)};
    head_ = CommitCreate(table_, std::move(overwrite), {}).ValueOrDie();
  }

  void AppendTo(const ManifestPtr& base) {
    head_ = Commit(table_, base, Append{FragmentsOf({NewFragment()})}, {}).ValueOrDie();
  }
  int num_tables_ = 0;

  void SetUpAgain() {
    ASSERT_THAT(table_.store->DeleteFolder("/t"), IsOk());
    SetUp();
  }
  void PutHint(std::string_view text) {
    ASSERT_THAT(table_.store->Put("/t/_versions/latest_version_hint.json", BytesOf(text)), IsOk());
  }
  uint64_t LatestNumber() { return LatestVersion(table_).ValueOrDie()->version; }

  std::shared_ptr<CountingStore> store_ =
      std::make_shared<CountingStore>(std::make_shared<DearListings>(io::MakeMemoryStore()));
  TableLocation table_ = {store_, "/t", "dear://t"};
  ManifestPtr head_;
};

TEST_F(VersionHintTest, FindsTheNewestWithoutAListing) {
  for (int i = 0; i < 3; ++i) AppendTo(head_);
  store_->Reset();
  const VersionEntry entry = *LatestVersion(table_).ValueOrDie();
  EXPECT_EQ(entry.version, 4);
  EXPECT_EQ(entry.path, head_->path);
  EXPECT_EQ(entry.size_bytes, head_->size_bytes);
  const IoStats stats = store_->stats();
  EXPECT_EQ(stats.get_requests, 1);
  EXPECT_EQ(stats.head_requests, 2);  // of the version, and of the one after it
  EXPECT_EQ(stats.list_requests, 0);
}

TEST_F(VersionHintTest, IsCheckedWhateverItSays) {
  for (int i = 0; i < 3; ++i) AppendTo(head_);
  for (const char* hint : {R"({"version":2})", R"({"version":99})", R"({"version":0})",
                           R"({ "version" : 1 , "more": 7 })", R"({"version":"4"})", "", "4",
                           R"({"version":18446744073709551615})", "\xff\xfe{\"version\":"}) {
    PutHint(hint);
    EXPECT_EQ(LatestNumber(), 4) << hint;
    const auto newer =
        NewerVersions(table_, 2, ReadVersionHint(table_), /*trusts_hint=*/false).ValueOrDie();
    EXPECT_THAT(newer, SizeIs(2)) << hint;
  }
  ASSERT_THAT(table_.store->Delete("/t/_versions/latest_version_hint.json"), IsOk());
  EXPECT_EQ(LatestNumber(), 4);
}

TEST_F(VersionHintTest, ACommitIsThreePutsOneGetAndOneListing) {
  store_->Reset();
  AppendTo(head_);
  const IoStats stats = store_->stats();
  EXPECT_EQ(stats.put_requests, 3);   // transaction, manifest, hint
  EXPECT_EQ(stats.get_requests, 1);   // the hint, which also says that it is still the same table
  EXPECT_EQ(stats.head_requests, 1);  // the look after the put: whether it is the same table
  EXPECT_EQ(stats.list_requests, 1);  // and whether a newer version is there
}

// As other writers leave it.
TEST_F(VersionHintTest, WithoutATransactionItIsNoProofOfTheTable) {
  for (const char* hint : {R"({"version":1})", R"({"version":1,"transaction":7})",
                           R"({"version":1,"transaction":"another"})"}) {
    SetUpAgain();
    PutHint(hint);
    store_->Reset();
    AppendTo(head_);
    EXPECT_EQ(store_->stats().head_requests, 2) << hint;  // before and after the put
  }
}

TEST_F(VersionHintTest, ATableInPlaceOfTheOneReadIsSeen) {
  const ManifestPtr old = head_;
  SetUpAgain();
  EXPECT_EQ(ReadVersionHint(table_)->version, old->version);
  EXPECT_THAT(Commit(table_, old, Append{FragmentsOf({NewFragment()})}, {}),
              IsError(ErrorKind::kCommitConflict, "another one is in its place"));
}

// A slow writer left it, and a clean-up took the version behind it: probing by name ends there.
TEST_F(VersionHintTest, AHintThatNewerVersionsDoNotFollowIsMended) {
  AppendTo(head_);
  const ManifestPtr second = head_;
  AppendTo(head_);
  const ManifestPtr third = head_;
  AppendTo(head_);
  ASSERT_THAT(table_.store->Delete(third->path), IsOk());
  PutHint(R"({"version":2})");
  EXPECT_EQ(LatestVersion(table_).ValueOrDie()->version, 2);
  EXPECT_THAT(Commit(table_, second, Append{FragmentsOf({NewFragment()})}, {}),
              IsError(ErrorKind::kCommitConflict, "not compared"));
  EXPECT_EQ(LatestVersion(table_).ValueOrDie()->version, 4);
}

// The name that is taken tells that the hint was old.
TEST_F(VersionHintTest, AnOldHintCostsAnAttemptAndNothingElse) {
  const ManifestPtr base = head_;
  AppendTo(base);
  AppendTo(head_);
  PutHint(R"({"version":1})");
  AppendTo(base);
  EXPECT_EQ(head_->version, 4);
  EXPECT_EQ(head_->fragments.totals().num_fragments, 4);
  EXPECT_EQ(LatestNumber(), 4);
}

TEST_F(VersionHintTest, IsTurnedOffByTheEnvironment) {
  setenv("LANCE_USE_VERSION_HINT", "Off", 1);
  AppendTo(head_);
  store_->Reset();
  EXPECT_EQ(LatestNumber(), 2);
  EXPECT_EQ(store_->stats().list_requests, 1);
  EXPECT_EQ(store_->stats().get_requests, 0);
  unsetenv("LANCE_USE_VERSION_HINT");
  EXPECT_EQ(ReadVersionHint(table_)->version, 1);
}

TEST(VersionHintWithCheapListingsTest, IsNotAskedFor) {
  const auto store = std::make_shared<CountingStore>(io::MakeMemoryStore());
  EXPECT_FALSE(ReadVersionHint({store, "/t", "memory://t"}).has_value());
  EXPECT_EQ(store->stats(), IoStats{});
}

}  // namespace
}  // namespace glaive::table
