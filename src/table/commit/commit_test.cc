#include "table/commit/commit.h"

#include <atomic>
#include <functional>
#include <set>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>

#include "io/memory_store.h"
#include "table/commit/publish.h"
#include "table/manifest/codec.h"
#include "table/manifest/feature_flags.h"
#include "table/rows/deletion_vector.h"
#include "table/versions/file.h"
#include "testing/counting_store.h"
#include "testing/faulty_store.h"
#include "testing/golden.h"
#include "testing/matchers.h"

namespace glaive::table {
namespace {

using glaive::testing::BytesOf;
using glaive::testing::CountingStore;
using glaive::testing::Fault;
using glaive::testing::FaultyStore;
using glaive::testing::FromHex;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::kManifestHex;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using wire::DataFragment;

constexpr uint64_t kRows = 10;

DataFragment NewFragment(std::string path) {
  wire::DataFile file{.path = std::move(path), .fields = {0}, .column_indices = {0}};
  file.file_major_version = 2;
  file.file_minor_version = 2;
  return {.files = {std::move(file)}, .physical_rows = kRows};
}

Overwrite FirstRows() {
  wire::Schema schema;
  schema.fields.push_back({.id = 0, .name = "k", .logical_type = "int64"});
  return {.fragments = FragmentsOf({NewFragment("first")}), .schema = WrapSchema(schema)};
}

// A table of its own for each test, in a memory store of its own.
class CommitTest : public ::testing::Test {
 protected:
  void SetUp() override { UseStore(io::MakeMemoryStore()); }

  void UseStore(std::shared_ptr<io::ObjectStore> store) {
    table_ = {std::move(store), "/t", "memory://t"};
  }

  ManifestPtr Create(const CommitOptions& options = {}) {
    return CommitCreate(table_, FirstRows(), options).ValueOrDie();
  }
  ManifestPtr Latest() { return ReadLatestManifest(table_).ValueOrDie(); }
  size_t NumFiles(const std::string& folder) {
    return table_.store->List(table_.Path(folder)).ValueOrDie().size();
  }
  std::string BytesAt(const std::string& path) {
    const auto reader = table_.store->OpenRead(path).ValueOrDie();
    return reader->Read({0, reader->size_bytes()}).ValueOrDie()->ToString();
  }
  void Put(const std::string& path, std::string_view bytes) {
    ASSERT_THAT(table_.store->Put(path, BytesOf(bytes)), IsOk());
  }

  // A delete as the verb makes it: with its file, and the addresses of what it hides.
  Delete Deleting(const Manifest& manifest, uint64_t id, const std::vector<uint32_t>& offsets) {
    DataFragment fragment = manifest.fragments.Find(id)->Parse().ValueOrDie();
    DeletionVector all(offsets);
    if (fragment.deletion_file) {
      all = all.Union(
          *ReadDeletionFile(table_, manifest, id, *fragment.deletion_file, kRows).ValueOrDie());
    }
    fragment.deletion_file = WriteDeletionFile(table_, id, manifest.version, all).ValueOrDie();
    std::vector<uint64_t> rows;
    for (const uint32_t offset : offsets) rows.push_back(id << 32 | offset);
    return {FragmentsOf({std::move(fragment)}), {}, "", std::move(rows)};
  }

  std::vector<uint32_t> Deleted(const Manifest& manifest, uint64_t id) {
    const DataFragment fragment = manifest.fragments.Find(id)->Parse().ValueOrDie();
    const auto vector =
        ReadDeletionFile(table_, manifest, id, *fragment.deletion_file, kRows).ValueOrDie();
    return {vector->offsets().begin(), vector->offsets().end()};
  }

  TableLocation table_;
};

TEST_F(CommitTest, CreatesAppendsAndReadsBack) {
  const ManifestPtr first = Create({.transaction_properties = {{"who", "me"}}});
  EXPECT_EQ(first->version, 1);
  EXPECT_EQ(first->path, "/t/_versions/18446744073709551614.manifest");
  const ManifestPtr second =
      Commit(table_, first, Append{FragmentsOf({NewFragment("a")})}, {}).ValueOrDie();
  EXPECT_EQ(second->fragments.totals().live_rows(), 20);

  const ManifestPtr read = Latest();
  EXPECT_EQ(read->version, 2);
  EXPECT_EQ(read->fragments.totals(), second->fragments.totals());
  EXPECT_EQ(read->schema, first->schema);
  EXPECT_EQ(read->transaction_file, second->transaction_file);
  EXPECT_EQ(read->size_bytes, second->size_bytes);
  EXPECT_EQ(read->transaction_section, second->transaction_section);
  EXPECT_EQ(read->writer_version->library, "glaive");
  EXPECT_EQ(read->timestamp_ns, second->timestamp_ns);
  EXPECT_GE(read->timestamp_ns, first->timestamp_ns);
  EXPECT_EQ(BytesAt("/t/_versions/latest_version_hint.json"),
            "{\"version\":2,\"transaction\":\"" + *TransactionUuidOf(*second) + "\"}");

  const auto entries = ListVersions(table_).ValueOrDie();
  ASSERT_THAT(entries, SizeIs(2));
  const auto made = ReadTransaction(table_, entries[0]).ValueOrDie();
  EXPECT_EQ(made->properties.at("who"), "me");
  EXPECT_TRUE(std::holds_alternative<Overwrite>(*made->operation));
  EXPECT_EQ(ReadTransaction(table_, entries[1]).ValueOrDie()->read_version, 1);
  EXPECT_EQ(first->transaction_file.substr(0, 2), "0-");
  EXPECT_EQ(NumFiles("_transactions"), 2);
}

// Whoever makes an operation sees each version that it is to follow.
TEST_F(CommitTest, AnOperationIsMadeAnewWhereAnotherWriterWasFaster) {
  const ManifestPtr first = Create();
  std::vector<uint64_t> seen;
  const MakeChange make = [&](const ManifestPtr& latest) -> arrow::Result<Change> {
    seen.push_back(latest->version);
    if (seen.size() <= 2) {
      ARROW_RETURN_NOT_OK(
          Commit(table_, latest, Append{FragmentsOf({NewFragment("theirs")})}, {}).status());
    }
    return Append{FragmentsOf({NewFragment("ours")})};
  };
  const auto made = Commit(table_, first, make, {});
  ASSERT_THAT(made.status(), IsOk());
  EXPECT_EQ((*made)->version, 4);
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
  EXPECT_EQ(ReadTransaction(table_, FindVersion(table_, 4).ValueOrDie())->value().read_version, 3);
}

TEST_F(CommitTest, AnOperationThatIsRefusedMakesNoVersion) {
  const ManifestPtr first = Create();
  const size_t transactions = NumFiles("_transactions");
  const MakeChange make = [](const ManifestPtr& latest) -> arrow::Result<Change> {
    return CommitConflict(Retry::kYes, latest->version, "no");
  };
  EXPECT_THAT(Commit(table_, first, make, {}).status(), IsError(ErrorKind::kCommitConflict, "no"));
  EXPECT_EQ(Latest()->version, 1);
  EXPECT_EQ(NumFiles("_transactions"), transactions);
}

TEST_F(CommitTest, WhatIsNotThereIsNamed) {
  EXPECT_THAT(ReadLatestManifest(table_),
              IsError(ErrorKind::kNotFound, "Dataset at path memory://t was not found"));
  EXPECT_EQ(LatestVersion(table_).ValueOrDie(), std::nullopt);
  Create();
  EXPECT_THAT(ReadManifest(table_, 99), IsError(ErrorKind::kNotFound, "version 99 was not found"));
  EXPECT_EQ(ReadManifest(table_, 1).ValueOrDie()->version, 1);
}

TEST_F(CommitTest, StaleAppendsAreRebased) {
  const ManifestPtr base = Create();
  ASSERT_THAT(Commit(table_, base, Append{FragmentsOf({NewFragment("a")})}, {}), IsOk());
  ASSERT_THAT(Commit(table_, base, Append{FragmentsOf({NewFragment("b")})}, {}), IsOk());
  EXPECT_EQ(Latest()->version, 3);
  EXPECT_EQ(Latest()->max_fragment_id, 2);
  const auto overwritten = Commit(table_, Latest(), FirstRows(), {});
  ASSERT_THAT(overwritten, IsOk());
  const auto refused = Commit(table_, base, Append{FragmentsOf({NewFragment("c")})}, {});
  EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, "Commit conflict for version 4"));
  EXPECT_FALSE(IsRetryable(refused.status()));
  EXPECT_EQ(NumFiles("_transactions"), 4) << "a refused commit leaves no transaction";
}

TEST_F(CommitTest, AStrictOverwriteWantsTheNextVersion) {
  const ManifestPtr base = Create();
  const CommitOptions strict{.max_retries = 0};
  ASSERT_THAT(Commit(table_, base, FirstRows(), strict), IsOk());
  const auto stale = Commit(table_, base, FirstRows(), strict);
  EXPECT_THAT(stale, IsError(ErrorKind::kCommitConflict, "version 2"));
  EXPECT_EQ(NumFiles("_transactions"), 2);
}

TEST_F(CommitTest, DeletesOfOtherRowsAreMerged) {
  const ManifestPtr base = Create();
  ASSERT_THAT(Commit(table_, base, Deleting(*base, 0, {1, 2}), {}), IsOk());
  const auto merged = Commit(table_, base, Deleting(*base, 0, {5}), {}).ValueOrDie();
  EXPECT_THAT(Deleted(*merged, 0), ElementsAre(1, 2, 5));
  EXPECT_EQ(merged->transaction_file.substr(0, 2), "2-") << "it now follows version 2";
  EXPECT_EQ(NumFiles("_deletions"), 2) << "the file that was superseded is gone";
  EXPECT_EQ(merged->fragments.totals().live_rows(), 7);

  const auto same_row = Commit(table_, base, Deleting(*base, 0, {2, 6}), {});
  EXPECT_THAT(same_row, IsError(ErrorKind::kCommitConflict, "rows of fragment 0"));
  EXPECT_TRUE(IsRetryable(same_row.status()));

  const auto rest = Commit(table_, base, Deleting(*base, 0, {0, 3, 4, 6, 7, 8, 9}), {});
  EXPECT_EQ(rest.ValueOrDie()->fragments.totals().num_fragments, 0) << "no row is left";
}

TEST_F(CommitTest, UpdatesAreMergedLikeDeletes) {
  const ManifestPtr base = Create();
  const auto hiding = [&](std::vector<uint32_t> rows) {
    Delete deletion = Deleting(*base, 0, std::move(rows));
    return Update{.updated_fragments = std::move(deletion.updated_fragments),
                  .affected_rows = std::move(deletion.affected_rows)};
  };
  ASSERT_THAT(Commit(table_, base, Deleting(*base, 0, {1, 2}), {}), IsOk());
  const auto merged = Commit(table_, base, hiding({5}), {}).ValueOrDie();
  EXPECT_THAT(Deleted(*merged, 0), ElementsAre(1, 2, 5));
  const auto same_row = Commit(table_, base, hiding({5, 6}), {});
  EXPECT_THAT(same_row, IsError(ErrorKind::kCommitConflict, "rows of fragment 0"));
  EXPECT_TRUE(IsRetryable(same_row.status()));
}

TEST_F(CommitTest, DeletesOfUnknownRowsConflict) {
  const ManifestPtr base = Create();
  ASSERT_THAT(Commit(table_, base, Deleting(*base, 0, {1}), {}), IsOk());
  Delete blind = Deleting(*base, 0, {5});
  blind.affected_rows.reset();
  const auto refused = Commit(table_, base, blind, {});
  EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, "version 2"));
  EXPECT_TRUE(IsRetryable(refused.status()));
}

TEST_F(CommitTest, RacingAppendsAllGetIn) {
  const ManifestPtr base = Create();
  constexpr int kThreads = 4;
  constexpr int kAppends = 8;
  std::atomic<int> failed = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kAppends; ++i) {
          const std::string path = std::to_string(t) + "-" + std::to_string(i);
          const CommitOptions options{.max_retries = 200};
          if (!Commit(table_, base, Append{FragmentsOf({NewFragment(path)})}, options).ok())
            ++failed;
        }
      });
    }
  }
  EXPECT_EQ(failed, 0);
  const ManifestPtr head = Latest();
  EXPECT_EQ(head->version, 1 + kThreads * kAppends);
  std::set<std::string> paths;
  ASSERT_THAT(head->fragments.Visit([&](const Fragment& fragment) {
    paths.insert(fragment.Parse()->files[0].path);
    return arrow::Status::OK();
  }),
              IsOk());
  EXPECT_THAT(paths, SizeIs(1 + kThreads * kAppends));
  EXPECT_EQ(NumFiles("_transactions"), 1 + kThreads * kAppends);
  EXPECT_EQ(ListVersions(table_)->size(), 1 + kThreads * kAppends);
}

TEST_F(CommitTest, OfRacingCreationsExactlyOneWins) {
  for (int round = 0; round < 100; ++round) {
    UseStore(io::MakeMemoryStore());
    std::atomic<int> won = 0;
    std::atomic<int> lost = 0;
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
          CommitOptions options;
          options.naming_scheme = t % 2 == 0 ? NamingScheme::kV1 : NamingScheme::kV2;
          const auto made = CommitCreate(table_, FirstRows(), options);
          if (made.ok()) ++won;
          if (!made.ok() && KindOf(made.status()) == ErrorKind::kAlreadyExists) ++lost;
          EXPECT_TRUE(made.ok() || KindOf(made.status()) == ErrorKind::kAlreadyExists)
              << made.status().ToString();
        });
      }
    }
    ASSERT_EQ(won, 1) << round;
    ASSERT_EQ(lost, 3) << round;
    ASSERT_EQ(Latest()->version, 1);
    ASSERT_EQ(NumFiles("_transactions"), 1);
    ASSERT_EQ(ListVersions(table_)->size(), 1);
  }
}

TEST_F(CommitTest, BothSchemesGoOnAsTheyBegan) {
  const ManifestPtr first = Create({.naming_scheme = NamingScheme::kV1});
  EXPECT_EQ(first->path, "/t/_versions/1.manifest");
  EXPECT_EQ(Commit(table_, Latest(), Append{}, {}).ValueOrDie()->path, "/t/_versions/2.manifest");
  EXPECT_EQ(ReadManifest(table_, 2).ValueOrDie()->naming_scheme, NamingScheme::kV1);
  EXPECT_THAT(CommitCreate(table_, FirstRows(), {}),
              IsError(ErrorKind::kAlreadyExists, "already exists: memory://t"));

  Put("/t/_versions/" + ManifestName(3, NamingScheme::kV2), BytesAt(first->path));
  EXPECT_THAT(ListVersions(table_), IsError(ErrorKind::kCorrupt, "another scheme"));
  EXPECT_THAT(ReadLatestManifest(table_), IsError(ErrorKind::kCorrupt, "another scheme"));
}

TEST_F(CommitTest, OtherNamesArePassedOver) {
  const std::string bytes = BytesAt(Create()->path);
  for (const char* name : {".tmp_7", "d14131400210192831312.manifest", "7.manifest-1234", "x",
                           ".tmp_7.manifest", "99999999999999999999.manifest", ".manifest"}) {
    Put("/t/_versions/" + std::string(name), bytes);
  }
  EXPECT_THAT(ListVersions(table_).ValueOrDie(), SizeIs(1));
}

TEST_F(CommitTest, ATornHeadIsPassedOverButNotBuiltUpon) {
  const ManifestPtr first = Create();
  const ManifestPtr second =
      Commit(table_, first, Append{FragmentsOf({NewFragment("a")})}, {}).ValueOrDie();
  const std::string whole = BytesAt(second->path);
  std::string zeros(whole.size(), '\0');
  for (const std::string& torn : {std::string(), whole.substr(0, whole.size() / 2),
                                  whole.substr(0, whole.size() - 1), zeros}) {
    Put(second->path, torn);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(Latest()->version, 1) << torn.size();
    EXPECT_NE(::testing::internal::GetCapturedStderr().find("opening version 1"),
              std::string::npos);
    EXPECT_EQ(ReadManifest(table_, 1).ValueOrDie()->version, 1);
    EXPECT_THAT(ReadManifest(table_, 2), IsError(ErrorKind::kCorrupt, "manifest"));
    EXPECT_THAT(Commit(table_, first, Append{}, {}),
                IsError(ErrorKind::kCorrupt, "nothing can follow version 2"));
    EXPECT_EQ(ListVersions(table_)->size(), 2);
  }
  Put(first->path, "");
  EXPECT_THAT(ReadLatestManifest(table_), IsError(ErrorKind::kCorrupt, "manifest"));
}

TEST_F(CommitTest, AnyFlipInAManifestIsAnErrorOrAnotherValue) {
  const ManifestPtr first = Create();
  const std::string good = BytesAt(first->path);
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string flipped = good;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    Put(first->path, flipped);
    const auto read = ReadLatestManifest(table_);
    if (!read.ok()) {
      const ErrorKind kind = KindOf(read.status());
      EXPECT_TRUE(kind == ErrorKind::kCorrupt || kind == ErrorKind::kUnsupported) << bit;
    }
  }
}

TEST_F(CommitTest, AManifestUnderAnotherName) {
  const std::string bytes = BytesAt(Create()->path);
  Put("/t/_versions/" + ManifestName(5, NamingScheme::kV2), bytes);
  EXPECT_THAT(ReadManifest(table_, 5),
              IsError(ErrorKind::kCorrupt, "is of version 1, its name says 5"));
}

TEST_F(CommitTest, LargeManifestsAreReadInTwoReads) {
  Overwrite overwrite = FirstRows();
  for (int i = 0; i < 6000; ++i) {
    overwrite.fragments.push_back(MakeFragmentMetadata(NewFragment(std::to_string(i))));
  }
  ASSERT_THAT(CommitCreate(table_, overwrite, {}), IsOk());
  const auto store = std::make_shared<CountingStore>(table_.store);
  UseStore(store);
  const ManifestPtr read = Latest();
  std::vector<io::RequestKind> requests;
  for (const auto& request : store->requests()) requests.push_back(request.kind);
  EXPECT_THAT(requests,
              ElementsAre(io::RequestKind::kList, io::RequestKind::kGet, io::RequestKind::kGet));
  EXPECT_GT(read->size_bytes, uint64_t{64} << 10);
  EXPECT_EQ(read->fragments.totals().num_fragments, 6001);
  const auto made = ReadTransaction(table_, *LatestVersion(table_).ValueOrDie()).ValueOrDie();
  EXPECT_EQ(std::get<Overwrite>(*made->operation).fragments.size(), 6001);
}

// An append by a handle: beside its data file these three, one look for what came meanwhile, and
// one after the put.
TEST_F(CommitTest, AnAppendIsThreePutsAndTwoListings) {
  const ManifestPtr base = Create();
  const auto store = std::make_shared<CountingStore>(table_.store);
  UseStore(store);
  ASSERT_THAT(Commit(table_, base, Append{FragmentsOf({NewFragment("a")})}, {}), IsOk());
  EXPECT_EQ(store->stats().put_requests, 3);  // transaction, manifest, hint
  EXPECT_EQ(store->stats().list_requests, 2);
  EXPECT_EQ(store->stats().head_requests, 2);  // whether it is the same table, before and after
  EXPECT_EQ(store->stats().get_requests, 0);
}

TEST_F(CommitTest, UnknownFieldsSurvive) {
  const ManifestPtr first = Create();
  Manifest foreign = *first;
  foreign.unknown_fields = FromHex("924d03616263");
  foreign.schema.fields[0].unknown_fields = FromHex("924d03646566");
  DataFragment fragment = foreign.fragments.Find(0)->Parse().ValueOrDie();
  fragment.unknown_fields = FromHex("924d03676869");
  fragment.files[0].unknown_fields = FromHex("924d036a6b6c");
  foreign.fragments = foreign.fragments.Replace({{fragment}}).ValueOrDie();
  const auto base = std::make_shared<const Manifest>(foreign);
  ASSERT_THAT(Commit(table_, base, Deleting(*base, 0, {1}), {}), IsOk());
  const ManifestPtr read = Latest();
  EXPECT_EQ(read->unknown_fields, foreign.unknown_fields);
  EXPECT_EQ(read->schema, foreign.schema);
  fragment.deletion_file = read->fragments.Find(0)->Parse()->deletion_file;
  EXPECT_EQ(read->fragments.Find(0)->Parse().ValueOrDie(), fragment);
}

TEST_F(CommitTest, UnknownOperationsConflictWithAll) {
  const ManifestPtr base = Create();
  const ManifestPtr second = Commit(table_, base, Append{}, {}).ValueOrDie();
  std::string bytes = BytesAt(second->path);
  const size_t operation = bytes.find(FromHex("a20600"));  // field 100, of no bytes
  ASSERT_NE(operation, std::string::npos);
  bytes.replace(operation, 2, FromHex("b209"));  // field 150
  Put(second->path, bytes);
  const auto refused = Commit(table_, base, Append{FragmentsOf({NewFragment("a")})}, {});
  EXPECT_THAT(refused, IsError(ErrorKind::kCommitConflict, "does not say what it changed"));
  EXPECT_FALSE(IsRetryable(refused.status()));
  EXPECT_THAT(Commit(table_, Latest(), Append{FragmentsOf({NewFragment("a")})}, {}), IsOk());
}

TEST_F(CommitTest, TheTransactionFileWillDoWhereNoCopyIsInline) {
  const ManifestPtr base = Create();
  const ManifestPtr second =
      Commit(table_, base, Append{FragmentsOf({NewFragment("a")})}, {}).ValueOrDie();
  const VersionEntry entry = *LatestVersion(table_).ValueOrDie();
  const auto parts = SerializeManifestFile(*second, std::nullopt).ValueOrDie();
  Put(entry.path, arrow::ConcatenateBuffers(parts).ValueOrDie()->ToString());
  EXPECT_EQ(ReadTransaction(table_, {2, entry.path}).ValueOrDie()->read_version, 1);
  EXPECT_THAT(Commit(table_, base, Append{FragmentsOf({NewFragment("b")})}, {}), IsOk());
  ASSERT_THAT(table_.store->Delete(table_.Path("_transactions/" + second->transaction_file)),
              IsOk());
  EXPECT_EQ(ReadTransaction(table_, {2, entry.path}).ValueOrDie(), std::nullopt);
}

TEST_F(CommitTest, StableRowIdsGoOn) {
  const ManifestPtr first = Create({.enable_stable_row_ids = true});
  EXPECT_TRUE(first->has_stable_row_ids());
  const auto second =
      Commit(table_, first, Append{FragmentsOf({NewFragment("a")})}, {}).ValueOrDie();
  EXPECT_EQ(second->next_row_id, 2 * kRows);
  const DataFragment added = second->fragments.Find(1)->Parse().ValueOrDie();
  // What pylance writes for ids 10 to 19 of version 2.
  EXPECT_EQ(std::get<wire::InlineSequence>(added.row_ids).bytes, FromHex("0a060a04080a1014"));
  EXPECT_EQ(std::get<wire::InlineSequence>(added.created_at_versions).bytes,
            FromHex("0a080a040a02100a1002"));
  EXPECT_THAT(CheckReadable(*Latest()), IsOk());
}

// The i-th call of the store fails, for every i: the version is there as a whole if that was
// reported, or else nothing is.
class CommitFaultTest : public CommitTest,
                        public ::testing::WithParamInterface<std::tuple<Fault, Durability>> {
 protected:
  // `prepare` sets the table up and returns the commit that is to be watched.
  void RunWithFaults(
      const std::function<std::function<arrow::Result<ManifestPtr>(const CommitOptions&)>()>&
          prepare) {
    const auto [fault, durability] = GetParam();
    const CommitOptions options{.durability = durability};
    for (uint64_t call = 0;; ++call) {
      const auto store = std::make_shared<FaultyStore>(io::MakeMemoryStore());
      UseStore(store);
      const auto commit = prepare();
      const size_t versions = ListVersions(table_)->size();
      const size_t transactions = NumFiles("_transactions");
      store->FailAt(call, fault);
      const auto made = commit(options);
      const bool failed = store->has_failed();
      store->Disarm();
      if (made.ok()) {
        EXPECT_EQ(Latest()->version, (*made)->version) << call;
        EXPECT_EQ(Latest()->fragments.totals(), (*made)->fragments.totals()) << call;
      }
      const size_t expected = made.ok() ? 1 : 0;
      if (made.ok() || KindOf(made.status()) != ErrorKind::kCommitUnknown) {
        EXPECT_EQ(ListVersions(table_)->size(), versions + expected) << call;
        EXPECT_EQ(NumFiles("_transactions"), transactions + expected) << call;
      }
      if (!failed) {
        EXPECT_THAT(made, IsOk());
        break;
      }
      ASSERT_LT(call, 100);
    }
  }
};

TEST_P(CommitFaultTest, Create) {
  RunWithFaults([this] {
    return
        [this](const CommitOptions& options) { return CommitCreate(table_, FirstRows(), options); };
  });
}

TEST_P(CommitFaultTest, CreateInV1) {
  RunWithFaults([this] {
    return [this](CommitOptions options) {
      options.naming_scheme = NamingScheme::kV1;
      return CommitCreate(table_, FirstRows(), options);
    };
  });
}

TEST_P(CommitFaultTest, AppendOverAnAppend) {
  RunWithFaults([this] {
    const ManifestPtr base = Create();
    EXPECT_THAT(Commit(table_, base, Append{FragmentsOf({NewFragment("a")})}, {}), IsOk());
    return [this, base](const CommitOptions& options) {
      return Commit(table_, base, Append{FragmentsOf({NewFragment("b")})}, options);
    };
  });
}

TEST_P(CommitFaultTest, DeleteOverADelete) {
  RunWithFaults([this] {
    const ManifestPtr base = Create();
    EXPECT_THAT(Commit(table_, base, Deleting(*base, 0, {1}), {}), IsOk());
    const Delete ours = Deleting(*base, 0, {2});
    return [this, base, ours](const CommitOptions& options) {
      return Commit(table_, base, ours, options);
    };
  });
}

INSTANTIATE_TEST_SUITE_P(
    Faults, CommitFaultTest,
    ::testing::Combine(::testing::Values(Fault::kBeforeEffect, Fault::kAfterEffect),
                       ::testing::Values(Durability::kNone, Durability::kCommit)));

}  // namespace
}  // namespace glaive::table
