#include "glaive/write.h"

#include <random>
#include <set>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <arrow/util/logging.h>
#include <gtest/gtest.h>

#include "dataset/handle/dataset_state.h"
#include "glaive/compaction.h"
#include "glaive/scan.h"
#include "io/memory_store.h"
#include "io/object_store.h"
#include "testing/faulty_store.h"
#include "testing/matchers.h"
#include "testing/numbered_rows.h"
#include "testing/random_table.h"

namespace glaive {
namespace {

using glaive::testing::CutAtRandom;
using glaive::testing::Fault;
using glaive::testing::FaultyStore;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::NumberedRows;
using glaive::testing::RandomBatch;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using BatchPtr = std::shared_ptr<arrow::RecordBatch>;
using ReaderPtr = std::shared_ptr<arrow::RecordBatchReader>;

// A table of its own for each test, in memory.
std::string Uri() {
  return std::string("memory://write_test/") +
         ::testing::UnitTest::GetInstance()->current_test_info()->name();
}

ReaderPtr Stream(std::vector<BatchPtr> batches) {
  const auto schema = batches.at(0)->schema();
  return arrow::RecordBatchReader::Make(std::move(batches), schema).ValueOrDie();
}

std::shared_ptr<arrow::Table> ReadAll(const Dataset& dataset) {
  return ToReader(Scan(dataset, {}).ValueOrDie())
      ->ToTable()
      .ValueOrDie()
      ->CombineChunks()
      .ValueOrDie();
}

std::shared_ptr<arrow::Table> TableOf(const std::vector<BatchPtr>& batches) {
  return arrow::Table::FromRecordBatches(batches).ValueOrDie()->CombineChunks().ValueOrDie();
}

std::vector<uint64_t> FragmentRows(const Dataset& dataset) {
  std::vector<uint64_t> rows;
  for (const auto& fragment : dataset.Fragments().ValueOrDie()) rows.push_back(fragment.num_rows());
  return rows;
}

// Data files that lie in the table's folder, and those that the version names.
std::set<std::string> FilesThere(io::ObjectStore& store, const std::string& root) {
  std::set<std::string> names;
  for (const auto& file : store.List(root + "/data").ValueOrDie()) {
    names.insert(file.path.substr(file.path.rfind('/') + 1));
  }
  return names;
}
std::set<std::string> FilesNamed(const Dataset& dataset) {
  std::set<std::string> names;
  for (const auto& fragment : dataset.Fragments().ValueOrDie()) {
    for (const auto& file : fragment.files()) names.insert(file.path);
  }
  return names;
}

TEST(WriteTest, CreateAppendAndOverwrite) {
  auto first = WriteDataset(Stream({NumberedRows(0, 10)}), Uri()).ValueOrDie();
  EXPECT_EQ(first.dataset.version(), 1u);
  EXPECT_EQ(first.dataset.data_storage_version(), "2.2");
  EXPECT_EQ(first.summary.rows, 10u);
  EXPECT_EQ(first.summary.pages.by_file_end, 2u);

  auto second = WriteDataset(Stream({NumberedRows(10, 30)}), Uri(), {.mode = WriteMode::kAppend})
                    .ValueOrDie();
  EXPECT_EQ(second.dataset.version(), 2u);
  EXPECT_TRUE(
      ReadAll(second.dataset)->Equals(*TableOf({NumberedRows(0, 10), NumberedRows(10, 30)})));
  EXPECT_TRUE(ReadAll(first.dataset)->Equals(*TableOf({NumberedRows(0, 10)})));

  auto third =
      WriteDataset(Stream({NumberedRows(5, 6, false)}), Uri(), {.mode = WriteMode::kOverwrite})
          .ValueOrDie();
  EXPECT_EQ(third.dataset.version(), 3u);
  EXPECT_TRUE(ReadAll(third.dataset)->Equals(*TableOf({NumberedRows(5, 6, false)})));
}

TEST(WriteTest, RowsOfEveryKindComeBack) {
  std::mt19937_64 random(5);
  const auto batch = RandomBatch({.num_rows = 3000}, random);
  const auto written = WriteDataset(Stream(CutAtRandom(batch, random)), Uri(),
                                    {.limits = {.max_rows_per_file = 700, .max_page_bytes = 5000}})
                           .ValueOrDie();
  EXPECT_THAT(FragmentRows(written.dataset), ElementsAre(700, 700, 700, 700, 200));
  EXPECT_TRUE(ReadAll(written.dataset)->Equals(*TableOf({batch})));
}

TEST(WriteTest, AppendTakesColumnsInAnyOrderAndMissingOnes) {
  ASSERT_THAT(WriteDataset(Stream({NumberedRows(0, 2)}), Uri()), IsOk());
  const auto rows = NumberedRows(2, 4);
  const auto turned =
      arrow::RecordBatch::Make(arrow::schema({rows->schema()->field(1), rows->schema()->field(0)}),
                               2, {rows->column(1), rows->column(0)});
  ASSERT_THAT(WriteDataset(Stream({turned}), Uri(), {.mode = WriteMode::kAppend}), IsOk());
  const auto last =
      WriteDataset(Stream({NumberedRows(4, 5, false)}), Uri(), {.mode = WriteMode::kAppend})
          .ValueOrDie();
  const auto table = ReadAll(last.dataset);
  EXPECT_EQ(table->num_rows(), 5);
  EXPECT_TRUE(table->column(0)->Equals(*TableOf({NumberedRows(0, 5)})->column(0)));
  EXPECT_EQ(table->column(1)->null_count(), 1);
  EXPECT_THAT(last.dataset.Fragments().ValueOrDie()[2].files()[0].fields, ElementsAre(0));
}

TEST(WriteTest, ViewsAndDictionariesAreWrittenAsWhatTheyHold) {
  ASSERT_THAT(WriteDataset(Stream({NumberedRows(0, 1)}), Uri()), IsOk());
  const auto append = [&](const std::shared_ptr<arrow::Array>& text) {
    const auto batch = arrow::RecordBatch::Make(
        arrow::schema({arrow::field("a", arrow::int64()), arrow::field("s", text->type())}), 1,
        {NumberedRows(1, 2)->column(0), text});
    return WriteDataset(Stream({batch}), Uri(), {.mode = WriteMode::kAppend});
  };
  arrow::StringViewBuilder view;
  ARROW_CHECK_OK(view.Append("a text that is too long to be stored in line"));
  arrow::StringDictionaryBuilder dictionary;
  ARROW_CHECK_OK(dictionary.Append("word"));
  ASSERT_THAT(append(view.Finish().ValueOrDie()), IsOk());
  const auto written = append(dictionary.Finish().ValueOrDie()).ValueOrDie();
  const auto table = ReadAll(written.dataset);
  EXPECT_EQ(table->column(1)->GetScalar(1).ValueOrDie()->ToString(),
            "a text that is too long to be stored in line");
  EXPECT_EQ(table->column(1)->GetScalar(2).ValueOrDie()->ToString(), "word");
}

TEST(WriteTest, WhatDoesNotFitIsRefused) {
  const auto append = [](BatchPtr batch) {
    return WriteDataset(Stream({std::move(batch)}), Uri(), {.mode = WriteMode::kAppend}).status();
  };
  const auto one = [](std::shared_ptr<arrow::Field> field, std::shared_ptr<arrow::Array> column) {
    return arrow::RecordBatch::Make(arrow::schema({std::move(field)}), column->length(), {column});
  };
  const auto numbers = NumberedRows(0, 3);
  const auto strict =
      arrow::schema({arrow::field("a", arrow::int64(), false), arrow::field("s", arrow::utf8())});
  ASSERT_THAT(
      WriteDataset(Stream({arrow::RecordBatch::Make(strict, 3, numbers->columns())}), Uri()),
      IsOk());
  const auto kInvalid = ErrorKind::kInvalidInput;
  EXPECT_THAT(WriteDataset(Stream({numbers}), Uri()),
              IsError(ErrorKind::kAlreadyExists, "already exists"));
  EXPECT_THAT(append(one(arrow::field("zz", arrow::int64()), numbers->column(0))),
              IsError(kInvalid, "unexpected=[zz]"));
  EXPECT_THAT(append(one(arrow::field("a", arrow::utf8()), numbers->column(1))),
              IsError(kInvalid, "`a` should have type int64 but type was string"));
  EXPECT_THAT(append(one(arrow::field("s", arrow::utf8()), numbers->column(1))),
              IsError(kInvalid, "missing=[a]"));
  EXPECT_THAT(append(one(arrow::field("a", arrow::int64()),
                         arrow::MakeArrayOfNull(arrow::int64(), 1).ValueOrDie())),
              IsError(kInvalid, "`a` holds a null"));
  EXPECT_EQ(FilesThere(*io::MemoryStore(), io::Resolve(Uri()).ValueOrDie().path).size(), 1u);
}

TEST(WriteTest, VersionsAreNamed) {
  const auto write = [](std::string version) {
    return WriteDataset(Stream({NumberedRows(0, 1)}), Uri() + version,
                        {.data_storage_version = version});
  };
  EXPECT_EQ(write("2.1").ValueOrDie().dataset.data_storage_version(), "2.1");
  EXPECT_EQ(write("next").ValueOrDie().dataset.data_storage_version(), "2.3");
  EXPECT_EQ(write("stable").ValueOrDie().dataset.data_storage_version(), "2.2");
  EXPECT_EQ(write("2.0").ValueOrDie().dataset.data_storage_version(), "2.0");
  for (const std::string version : {"0.1", "legacy"}) {
    EXPECT_THAT(write(version), IsError(ErrorKind::kUnsupported, version));
  }
  EXPECT_THAT(write("9.9"), IsError(ErrorKind::kInvalidInput, "9.9"));
}

TEST(WriteTest, NoRowsNoFiles) {
  const auto created = WriteDataset(Stream({NumberedRows(0, 0)}), Uri()).ValueOrDie();
  EXPECT_EQ(created.dataset.version(), 1u);
  EXPECT_EQ(created.dataset.num_fragments(), 0u);
  EXPECT_EQ(ReadAll(created.dataset)->num_rows(), 0);
  EXPECT_THAT(WriteFragments(Stream({NumberedRows(0, 0)}), Uri(), {.mode = WriteMode::kAppend}),
              glaive::testing::IsOkAndHolds(IsEmpty()));
}

// They may be of another writer who is about to make the table. A version that was there once is
// told by what it left.
TEST(WriteTest, AppendingBesideStrayDataFilesMakesTheTable) {
  ASSERT_THAT(WriteFragments(Stream({NumberedRows(0, 3)}), Uri(), {.mode = WriteMode::kAppend}),
              IsOk());
  EXPECT_THAT(WriteDataset(Stream({NumberedRows(0, 3)}), Uri(), {.mode = WriteMode::kAppend}),
              IsOk());
}

TEST(WriteTest, AppendingToATableThatLostItsVersionsIsRefused) {
  const auto made = WriteDataset(Stream({NumberedRows(0, 3)}), Uri(), {}).ValueOrDie();
  const auto& state = *StateOf(made.dataset);
  ASSERT_THAT(state.location.store->Delete(state.manifest->path), IsOk());
  EXPECT_THAT(WriteDataset(Stream({NumberedRows(0, 3)}), Uri(), {.mode = WriteMode::kAppend}),
              IsError(ErrorKind::kInvalidInput, "the table is damaged"));
}

// A stream that gives some batches and then fails.
class FailingReader final : public arrow::RecordBatchReader {
 public:
  explicit FailingReader(int num_batches) : left_(num_batches) {}
  std::shared_ptr<arrow::Schema> schema() const override { return NumberedRows(0, 0)->schema(); }
  arrow::Status ReadNext(BatchPtr* batch) override {
    if (left_-- == 0) return arrow::Status::IOError("the source is gone");
    *batch = NumberedRows(0, 100);
    return arrow::Status::OK();
  }

 private:
  int left_;
};

TEST(WriteTest, AFailingOrStoppedWriteLeavesNothing) {
  const std::string root = io::Resolve(Uri()).ValueOrDie().path;
  const WriteOptions small_files = {.limits = {.max_rows_per_file = 70}};
  const auto failed = WriteDataset(std::make_shared<FailingReader>(5), Uri(), small_files);
  EXPECT_EQ(failed.status().code(), arrow::StatusCode::IOError);
  EXPECT_EQ(failed.status().message(), "the source is gone");
  EXPECT_THAT(io::MemoryStore()->ListRecursive(root), glaive::testing::IsOkAndHolds(IsEmpty()));

  WriteOptions stopped = small_files;
  stopped.version.progress = [](const Progress& progress) {
    return progress.rows >= 300 ? arrow::Status::Cancelled("enough") : arrow::Status::OK();
  };
  EXPECT_EQ(WriteDataset(std::make_shared<FailingReader>(5), Uri(), stopped).status().message(),
            "enough");
  EXPECT_THAT(io::MemoryStore()->ListRecursive(root), glaive::testing::IsOkAndHolds(IsEmpty()));
}

// --- every call of the store fails once
// -----------------------------------------------------------

struct Verb {
  const char* name;
  arrow::Status (*run)(const std::string& uri, const std::shared_ptr<Session>& session);
  uint64_t rows_before;
  uint64_t rows_after;
};

arrow::Status Append(const std::string& uri, const std::shared_ptr<Session>& session,
                     WriteMode mode) {
  return WriteDataset(Stream({NumberedRows(0, 60)}), uri,
                      {.mode = mode, .limits = {.max_rows_per_file = 20}, .session = session})
      .status();
}

arrow::Status AppendInParallel(const std::string& uri, const std::shared_ptr<Session>& session,
                               ReaderPtr rows) {
  return WriteDataset(std::move(rows), uri,
                      {.mode = WriteMode::kAppend,
                       .limits = {.max_rows_per_file = 20},
                       .n_jobs = 3,
                       .session = session})
      .status();
}

const Verb kVerbs[] = {
    {"create",
     [](const std::string& uri, const std::shared_ptr<Session>& session) {
       return Append(uri, session, WriteMode::kCreate);
     },
     0, 60},
    {"append",
     [](const std::string& uri, const std::shared_ptr<Session>& session) {
       return Append(uri, session, WriteMode::kAppend);
     },
     60, 120},
    {"overwrite",
     [](const std::string& uri, const std::shared_ptr<Session>& session) {
       return Append(uri, session, WriteMode::kOverwrite);
     },
     60, 60},
    {"append by partitions",
     [](const std::string& uri, const std::shared_ptr<Session>& session) {
       return AppendInParallel(uri, session, ReadTable(TableOf({NumberedRows(0, 60)})));
     },
     60, 120},
    {"append with files side by side",
     [](const std::string& uri, const std::shared_ptr<Session>& session) {
       return AppendInParallel(uri, session, Stream({NumberedRows(0, 30), NumberedRows(30, 60)}));
     },
     60, 120},
    {"compact",
     [](const std::string& uri, const std::shared_ptr<Session>& session) -> arrow::Status {
       ARROW_ASSIGN_OR_RAISE(const auto dataset, Dataset::Open(uri, {.session = session}));
       return CompactFiles(dataset).status();
     },
     60, 60},
};

TEST(WriteTest, WhicheverCallOfTheStoreFailsTheTableIsWhole) {
  for (const Verb& verb : kVerbs) {
    for (const Fault fault : {Fault::kBeforeEffect, Fault::kAfterEffect}) {
      uint64_t call = 0;
      for (;; ++call) {
        SCOPED_TRACE(std::string(verb.name) + ", call " + std::to_string(call) +
                     (fault == Fault::kAfterEffect ? " after its effect" : ""));
        auto store = std::make_shared<FaultyStore>(io::MakeMemoryStore());
        io::RegisterStore("faulty", store);
        const std::string uri = "faulty://table";
        const std::string root = io::Resolve(uri).ValueOrDie().path;
        if (verb.rows_before > 0) {
          ASSERT_THAT(Append(uri, std::make_shared<Session>(), WriteMode::kCreate), IsOk());
        }
        store->FailAt(call, fault);
        const arrow::Status status = verb.run(uri, std::make_shared<Session>());
        if (!store->has_failed()) {
          EXPECT_THAT(status, IsOk());
          break;
        }
        store->Disarm();
        const auto after = Dataset::Open(uri, {.session = std::make_shared<Session>()});
        if (!after.ok()) {
          ASSERT_THAT(after, IsError(ErrorKind::kNotFound, "was not found"));
          ASSERT_EQ(verb.rows_before, 0u);
          ASSERT_FALSE(status.ok());
          EXPECT_THAT(FilesThere(*store, root), IsEmpty());
          continue;
        }
        const uint64_t rows = after->CountRows().ValueOrDie();
        if (status.ok()) {
          ASSERT_EQ(rows, verb.rows_after);
        } else {
          ASSERT_TRUE(rows == verb.rows_before || KindOf(status) == ErrorKind::kCommitUnknown)
              << status.ToString();
        }
        ASSERT_EQ(static_cast<uint64_t>(ReadAll(*after)->num_rows()), rows);
        // What failed for certain has left no file of its own behind.
        if (!status.ok() && KindOf(status) != ErrorKind::kCommitUnknown) {
          EXPECT_EQ(FilesThere(*store, root), FilesNamed(*after)) << status.ToString();
        }
      }
      EXPECT_GT(call, 5u);
    }
  }
  io::RegisterStore("faulty", nullptr);
}

}  // namespace
}  // namespace glaive
