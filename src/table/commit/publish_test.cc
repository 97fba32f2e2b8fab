// What a commit reports where the store failed, and where the table is for newer writers.
#include "table/commit/publish.h"

#include <functional>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "io/memory_store.h"
#include "table/commit/commit.h"
#include "table/versions/file.h"
#include "testing/hooked_store.h"
#include "testing/matchers.h"

namespace glaive::table {
namespace {

using glaive::testing::HookedStore;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::StoreCall;
using glaive::testing::StoreCallKind;

// Fails puts of manifests, before or after they take effect, and notes what is synced.
class DoubtfulStore final : public HookedStore {
 public:
  using HookedStore::HookedStore;
  enum class Put { kWorks, kFails, kLosesAnswer };
  Put put = Put::kWorks;
  std::set<std::string> synced;

  arrow::Status Around(const StoreCall& call,
                       const std::function<arrow::Status()>& perform) override {
    synced.insert(call.synced.begin(), call.synced.end());
    const bool is_manifest =
        call.kind == StoreCallKind::kPutIfAbsent && call.path.ends_with(".manifest");
    if (!is_manifest || put == Put::kWorks) return perform();
    if (put == Put::kLosesAnswer) ARROW_RETURN_NOT_OK(perform());
    return IOError({call.path}, "the store failed");
  }
};

class PublishTest : public ::testing::Test {
 protected:
  PublishTest() {
    wire::DataFile file{.path = "f", .fields = {0}, .column_indices = {0}};
    file.file_major_version = file.file_minor_version = 2;
    append_.fragments = FragmentsOf({{.files = {file}, .physical_rows = 10}});
    wire::Schema schema;
    schema.fields.push_back({.id = 0, .name = "k", .logical_type = "int64"});
    const Overwrite first{.fragments = append_.fragments, .schema = WrapSchema(schema)};
    base_ = CommitCreate(table_, first, {}).ValueOrDie();
  }

  const std::shared_ptr<DoubtfulStore> store_ =
      std::make_shared<DoubtfulStore>(io::MakeMemoryStore());
  const TableLocation table_ = {store_, "/t", "memory://t"};
  Append append_;
  ManifestPtr base_;
};

// What was put may not be on stable storage, since the store did not say so.
TEST_F(PublishTest, AVersionWhoseAnswerWasLostIsSynced) {
  store_->put = DoubtfulStore::Put::kLosesAnswer;
  const auto made = Commit(table_, base_, append_, {.durability = Durability::kCommit});
  ASSERT_THAT(made, IsOk());
  EXPECT_TRUE(store_->synced.contains((*made)->path));
}

TEST_F(PublishTest, APutThatFailedWithNothingAboveIsNoDoubt) {
  store_->put = DoubtfulStore::Put::kFails;
  EXPECT_THAT(Commit(table_, base_, append_, {}), IsError(ErrorKind::kIO, "the store failed"));
  store_->put = DoubtfulStore::Put::kWorks;
  EXPECT_EQ(ReadLatestManifest(table_).ValueOrDie()->version, 1);
}

TEST_F(PublishTest, NothingFollowsAVersionThatIsForNewerWriters) {
  Manifest theirs = *Commit(table_, base_, append_, {}).ValueOrDie();
  ASSERT_THAT(store_->Delete(theirs.path), IsOk());
  theirs.writer_feature_flags |= uint64_t{1} << 40;
  const Transaction transaction = {.read_version = 1, .uuid = NewUuid(), .operation = append_};
  ASSERT_EQ(Publish(table_, transaction, Durability::kNone, &theirs).ValueOrDie(), Outcome::kOurs);
  EXPECT_THAT(Commit(table_, base_, append_, {}),
              IsError(ErrorKind::kUnsupported, "feature flags"));
  EXPECT_EQ(ReadLatestManifest(table_).ValueOrDie()->version, 2);
}

}  // namespace
}  // namespace glaive::table
