#include "glaive/write.h"

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <arrow/util/logging.h>
#include <gtest/gtest.h>

#include "core/xxhash64.h"
#include "dataset/handle/dataset_state.h"
#include "glaive/commit.h"
#include "glaive/config.h"
#include "glaive/retention.h"
#include "glaive/session.h"
#include "io/memory_store.h"
#include "io/object_store.h"
#include "table/commit/commit.h"
#include "testing/counting_store.h"
#include "testing/matchers.h"
#include "testing/numbered_rows.h"
#include "wire/fields.h"

namespace glaive {
namespace {

using glaive::testing::CountingStore;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::IsOkAndHolds;
using glaive::testing::NumberedRows;

using ReaderPtr = std::shared_ptr<arrow::RecordBatchReader>;

ReaderPtr Rows(int64_t count, bool with_text = true) {
  const auto rows = NumberedRows(0, count, with_text);
  return arrow::RecordBatchReader::Make({rows}, rows->schema()).ValueOrDie();
}

// A table of a store that counts, for each test its own.
class WriteTargetTest : public ::testing::Test {
 protected:
  WriteTargetTest() : store_(std::make_shared<CountingStore>(io::MakeMemoryStore())) {
    io::RegisterStore("target", store_);
  }
  ~WriteTargetTest() override {
    CloseCachedWriteTargets();
    io::RegisterStore("target", nullptr);
  }

  Dataset Create(const WriteOptions& options = {}) {
    return WriteDataset(Rows(3), kUri, options).ValueOrDie().dataset;
  }
  Dataset Open() {
    return Dataset::Open(kUri, {.session = std::make_shared<Session>()}).ValueOrDie();
  }
  WriteTarget Target() { return WriteTargetOf(Open()).ValueOrDie(); }
  void Recreate() {
    ARROW_CHECK_OK(DropDataset(kUri));
    Create();
  }
  IoStats Cost(const std::function<void()>& work) {
    store_->Reset();
    work();
    return store_->stats();
  }

  static constexpr const char* kUri = "target://table";
  const WriteOptions kAppend = {.mode = WriteMode::kAppend};
  std::shared_ptr<CountingStore> store_;
};

Transaction AppendOf(std::vector<FragmentMetadata> fragments, uint64_t read_version) {
  return {.read_version = read_version, .operation = operation::Append{std::move(fragments)}};
}

TEST_F(WriteTargetTest, TravelsAsBytes) {
  Create({.enable_stable_row_ids = true,
          .initial_config = {{"a", "b"}},
          .initial_bases = {{.name = "other", .path = "target://other"}}});
  const WriteTarget target = Target();
  const WriteTarget arrived = WriteTarget::Parse(target.Serialize()).ValueOrDie();
  EXPECT_TRUE(arrived == target);
  EXPECT_EQ(arrived.uri(), kUri);
  EXPECT_EQ(arrived.version(), 1u);
  EXPECT_EQ(arrived.transaction_uuid().size(), 36u);
  EXPECT_TRUE(arrived.schema()->Equals(*Open().schema(), /*check_metadata=*/true));
  EXPECT_EQ(arrived.data_storage_version(), "2.2");
  EXPECT_TRUE(arrived.has_stable_row_ids());
  EXPECT_EQ(arrived.config().at("a"), "b");
  ASSERT_EQ(arrived.bases().size(), 1u);
  EXPECT_EQ(arrived.bases()[0], target.bases()[0]);
  EXPECT_EQ(arrived.bases()[0].name, "other");
}

TEST_F(WriteTargetTest, EveryByteIsChecked) {
  Create();
  const std::string bytes = Target().Serialize();
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_THAT(WriteTarget::Parse(changed), IsError(ErrorKind::kCorrupt, "damaged")) << i;
    EXPECT_FALSE(WriteTarget::Parse(bytes.substr(0, i)).ok()) << "cut to " << i;
  }
  EXPECT_THAT(WriteTarget::Parse(bytes + 'x'), IsError(ErrorKind::kCorrupt, "changed or cut"));
  EXPECT_THAT(WriteTarget::Parse("GLWT"), IsError(ErrorKind::kCorrupt, "no write target"));
  std::string newer = bytes;
  newer[12] = 3;
  const uint64_t hash = XxHash64(wire::AsBytes(std::string_view(newer).substr(12)));
  std::memcpy(newer.data() + 4, &hash, sizeof(hash));
  EXPECT_THAT(WriteTarget::Parse(newer), IsError(ErrorKind::kUnsupported, "format 3"));
}

TEST_F(WriteTargetTest, ItsSizeIsThatOfTheSchema) {
  Dataset dataset = Create();
  const size_t size = WriteTargetOf(dataset).ValueOrDie().Serialize().size();
  for (int i = 0; i < 20; ++i) {
    dataset = WriteDataset(Rows(1), dataset, kAppend).ValueOrDie().dataset;
  }
  EXPECT_EQ(WriteTargetOf(dataset).ValueOrDie().Serialize().size(), size);
}

TEST_F(WriteTargetTest, WritingForItReadsNothing) {
  Create();
  const Dataset pinned = Open();
  const WriteTarget target = WriteTarget::Parse(Target().Serialize()).ValueOrDie();
  const auto one_put = [](const IoStats& cost) {
    return cost.put_requests == 1 && cost.requests() == 1 && cost.bytes_read == 0;
  };
  EXPECT_TRUE(
      one_put(Cost([&] { EXPECT_THAT(WriteFragments(Rows(3), target, kAppend), IsOk()); })));
  EXPECT_TRUE(
      one_put(Cost([&] { EXPECT_THAT(WriteFragments(Rows(3), pinned, kAppend), IsOk()); })));
  EXPECT_TRUE(
      one_put(Cost([&] { EXPECT_THAT(WriteTransaction(Rows(3), target, kAppend), IsOk()); })));
  EXPECT_TRUE(
      one_put(Cost([&] { EXPECT_THAT(WriteTransaction(Rows(3), pinned, kAppend), IsOk()); })));
  const WriteOptions overwrite = {.mode = WriteMode::kOverwrite};
  EXPECT_TRUE(one_put(
      Cost([&] { EXPECT_THAT(WriteFragments(Rows(3, false), target, overwrite), IsOk()); })));
  // A target is made of the manifest that the handle has.
  EXPECT_EQ(Cost([&] { EXPECT_THAT(WriteTargetOf(pinned), IsOk()); }).requests(), 0u);
}

TEST_F(WriteTargetTest, AUriCostsALookAtTheNewestVersion) {
  Create();
  // Room for the target of a table whose manifest has none.
  for (const uint64_t cache_bytes : {Session::kDefaultMetadataCacheBytes, uint64_t{1} << 20}) {
    WriteOptions options = kAppend;
    options.session = std::make_shared<Session>(cache_bytes);
    EXPECT_THAT(WriteFragments(Rows(3), kUri, options), IsOk());
    const IoStats cost = Cost([&] { EXPECT_THAT(WriteFragments(Rows(3), kUri, options), IsOk()); });
    EXPECT_EQ(cost.put_requests, 1u);
    EXPECT_EQ(cost.get_requests, 0u);
    EXPECT_EQ(cost.list_requests + cost.head_requests, 1u);
    EXPECT_EQ(cost.bytes_read, 0u);
  }
}

TEST_F(WriteTargetTest, AUriSeesWhatIsNew) {
  Dataset dataset = Create();
  WriteOptions options = kAppend;
  options.session = std::make_shared<Session>();
  EXPECT_EQ(WriteTransaction(Rows(3), kUri, options)->read_version, 1u);
  WriteDataset(Rows(3), dataset, kAppend).ValueOrDie();
  EXPECT_EQ(WriteTransaction(Rows(3), kUri, options)->read_version, 2u);
  ASSERT_THAT(DropDataset(kUri), IsOk());
  WriteDataset(Rows(3, /*with_text=*/false), kUri).ValueOrDie();
  EXPECT_THAT(WriteFragments(Rows(3), kUri, options),
              IsError(ErrorKind::kInvalidInput, "unexpected=[s]"));
}

TEST_F(WriteTargetTest, TheTargetsSchemaAndVersionCount) {
  const Dataset dataset = Create({.data_storage_version = "2.1"});
  const WriteTarget target = Target();
  WriteDataset(Rows(3, /*with_text=*/false), dataset, {.mode = WriteMode::kOverwrite}).ValueOrDie();
  const auto transaction = WriteTransaction(Rows(5), target, kAppend).ValueOrDie();
  EXPECT_EQ(transaction.read_version, 1u);
  const auto& fragments = std::get<operation::Append>(*transaction.operation).fragments;
  ASSERT_EQ(fragments.size(), 1u);
  EXPECT_EQ(fragments[0].files()[0].file_minor_version, 1u);
  EXPECT_EQ(fragments[0].files()[0].fields, std::vector<int32_t>({0, 1}));
  EXPECT_THAT(Commit(kUri, transaction), IsError(ErrorKind::kCommitConflict, "version 2"));
  EXPECT_THAT(WriteFragments(Rows(3), target, {.mode = WriteMode::kCreate}),
              IsError(ErrorKind::kAlreadyExists, kUri));
}

TEST_F(WriteTargetTest, FilesGoToBases) {
  Create({.initial_bases = {{.id = 7, .name = "other", .path = "target://other"}}});
  WriteOptions options = kAppend;
  options.target_bases = {"other"};
  const auto fragments = WriteFragments(Rows(3), Target(), options).ValueOrDie();
  EXPECT_EQ(fragments.at(0).files().at(0).base_id, 7u);
  EXPECT_THAT(Commit(kUri, AppendOf(fragments, 1)), IsOk());
  EXPECT_THAT(Open().CountRows(), IsOkAndHolds(6));
}

TEST_F(WriteTargetTest, ManyCommitsOfOneTarget) {
  Create();
  const WriteTarget target = Target();
  const auto fragments = WriteFragments(Rows(3), target, kAppend).ValueOrDie();
  for (uint64_t version = 2; version < 5; ++version) {
    const auto again = WriteFragments(Rows(3), target, kAppend).ValueOrDie();
    EXPECT_EQ(Commit(kUri, AppendOf(again, version - 1))->version(), version);
  }
  EXPECT_EQ(Commit(Open(), AppendOf(fragments, 1))->version(), 5u);
}

TEST_F(WriteTargetTest, AnotherTableInItsPlaceIsNotWrittenTo) {
  const Dataset old_handle = Create();
  const WriteTarget target = Target();
  const auto before = WriteFragments(Rows(3), target, kAppend).ValueOrDie();
  Recreate();
  const auto after = WriteFragments(Rows(3), target, kAppend).ValueOrDie();
  const auto transaction = WriteTransaction(Rows(3), target, kAppend).ValueOrDie();
  const auto refused = IsError(ErrorKind::kCommitConflict, "another table");
  for (const auto& fragments : {before, after}) {
    EXPECT_THAT(Commit(kUri, AppendOf(fragments, 1)), refused);
    EXPECT_THAT(Commit(Open(), AppendOf(fragments, 1)), refused);
    EXPECT_THAT(Commit(old_handle, AppendOf(fragments, 1)), refused);
    // What became JSON on the way still knows.
    const auto copy = FragmentMetadata::FromJson(fragments.at(0).ToJson()).ValueOrDie();
    EXPECT_THAT(Commit(kUri, AppendOf({copy}, 1)), refused);
  }
  EXPECT_THAT(Commit(kUri, transaction), refused);
  EXPECT_THAT(CommitBatch(kUri, std::vector{transaction}), refused);
  EXPECT_FALSE(IsRetryable(Commit(kUri, transaction).status()));
  const auto schema = TableSchema::FromArrow(*target.schema()).ValueOrDie();
  const Transaction overwrite = {.operation = operation::Overwrite{after, schema, {}, {}}};
  EXPECT_THAT(Commit(kUri, overwrite), refused);
  EXPECT_EQ(Open().version(), 1u);

  // Where no table is, what was written for one makes none.
  ASSERT_THAT(DropDataset(kUri), IsOk());
  EXPECT_THAT(Commit(kUri, overwrite), IsError(ErrorKind::kNotFound, "was not found"));
}

TEST_F(WriteTargetTest, WhatCannotBeToldIsRefused) {
  Dataset dataset = Create();
  const auto fragments = WriteFragments(Rows(3), Target(), kAppend).ValueOrDie();
  dataset = WriteDataset(Rows(3), dataset, kAppend).ValueOrDie().dataset;
  EXPECT_THAT(Commit(kUri, AppendOf(fragments, 2)), IsOk());
  const std::string path = table::FindVersion(StateOf(dataset)->location, 1).ValueOrDie().path;
  ASSERT_THAT(store_->Delete(path), IsOk());
  EXPECT_THAT(Commit(kUri, AppendOf(fragments, 2)),
              IsError(ErrorKind::kCommitConflict, "not there any more"));
}

TEST_F(WriteTargetTest, OnlyTargetsAreRemembered) {
  Create();
  const auto by_uri = WriteFragments(Rows(3), kUri, kAppend).ValueOrDie();
  EXPECT_EQ(by_uri.at(0).ToJson().find("written_for"), std::string::npos);
  const auto by_target = WriteFragments(Rows(3), Target(), kAppend).ValueOrDie();
  EXPECT_NE(by_target.at(0).ToJson().find("written_for"), std::string::npos);
  // Events are what a job recovers from.
  WriteOptions options = kAppend;
  std::string told;
  options.fragment_events.complete = [&](const FragmentMetadata& fragment) {
    told = fragment.ToJson();
    return arrow::Status::OK();
  };
  WriteFragments(Rows(3), Target(), options).ValueOrDie();
  EXPECT_NE(told.find("written_for"), std::string::npos);
  // A version does not keep it.
  const Dataset committed = Commit(kUri, AppendOf(by_target, 1)).ValueOrDie();
  for (const auto& fragment : committed.Fragments().ValueOrDie()) {
    EXPECT_EQ(fragment.ToJson().find("written_for"), std::string::npos);
  }
}

TEST_F(WriteTargetTest, CachedIsReadOnce) {
  const Dataset dataset = Create();
  const CachedTargetOptions first = {.version = 1};
  EXPECT_GT(Cost([&] { EXPECT_THAT(CachedWriteTarget(kUri, first), IsOk()); }).requests(), 0u);
  EXPECT_EQ(Cost([&] { EXPECT_THAT(CachedWriteTarget(kUri, first), IsOk()); }).requests(), 0u);
  EXPECT_EQ(StatsOfCachedWriteTargets().num_targets, 1u);
  EXPECT_GT(StatsOfCachedWriteTargets().size_bytes, 0u);

  const CachedTargetOptions other = {.version = 1, .storage_options = {{"a", "b"}}};
  EXPECT_GT(Cost([&] { EXPECT_THAT(CachedWriteTarget(kUri, other), IsOk()); }).requests(), 0u);
  EXPECT_GT(Cost([&] { EXPECT_THAT(CachedWriteTarget(kUri, first), IsOk()); }).requests(), 0u);
  EXPECT_EQ(StatsOfCachedWriteTargets().num_targets, 1u);

  WriteDataset(Rows(3), dataset, kAppend).ValueOrDie();
  EXPECT_EQ(CachedWriteTarget(kUri, {.version = 2})->version(), 2u);
  EXPECT_EQ(CachedWriteTarget(kUri)->version(), 2u);
  EXPECT_THAT(CachedWriteTarget(kUri, {.version = 9}), IsError(ErrorKind::kNotFound, "version 9"));
  CloseCachedWriteTargets(kUri);
  EXPECT_EQ(StatsOfCachedWriteTargets().num_targets, 0u);
}

}  // namespace
}  // namespace glaive
