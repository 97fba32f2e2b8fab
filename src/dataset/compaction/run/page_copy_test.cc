#include "dataset/compaction/run/page_copy.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "dataset/handle/dataset_state.h"
#include "file/file_reader.h"
#include "glaive/compaction.h"
#include "glaive/rows.h"
#include "glaive/scan.h"
#include "glaive/session.h"
#include "glaive/write.h"
#include "io/memory_store.h"
#include "table/manifest/fragment_metadata.h"
#include "testing/faulty_store.h"
#include "testing/matchers.h"
#include "testing/random_values.h"

namespace glaive::dataset {
namespace {

using glaive::testing::FaultyStore;
using glaive::testing::IsError;
using glaive::testing::IsOk;
using glaive::testing::RandomValues;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAreArray;
using TablePtr = std::shared_ptr<arrow::Table>;

constexpr char kUri[] = "pages://table";
constexpr char kDataFolder[] = "/table/data";

// A table in a store of its own, each of whose columns would take another way by itself.
class PageCopyTest : public ::testing::Test {
 protected:
  ~PageCopyTest() override { io::RegisterStore("pages", nullptr); }

  void Use(std::shared_ptr<io::ObjectStore> store) {
    store_ = store;
    io::RegisterStore("pages", std::move(store));
  }

  // Fragments of so many rows.
  Dataset Make(const arrow::FieldVector& fields, const std::vector<int64_t>& fragment_rows,
               const std::string& version = "2.2", double nulls = 0.1) {
    Use(io::MakeMemoryStore());
    const auto schema = arrow::schema(fields);
    std::optional<Dataset> dataset;
    uint64_t seed = 0;
    for (const int64_t rows : fragment_rows) {
      arrow::ArrayVector columns;
      for (const auto& field : fields) {
        RandomValues values({.nulls = nulls, .max_items = 300, .max_length = 12}, ++seed);
        columns.push_back(arrow::MakeArray(values.Make(field->type(), rows)));
      }
      const auto batch = arrow::RecordBatch::Make(schema, rows, columns);
      dataset = WriteDataset(arrow::RecordBatchReader::Make({batch}, schema).ValueOrDie(), kUri,
                             {.mode = dataset ? WriteMode::kAppend : WriteMode::kCreate,
                              .data_storage_version = version})
                    .ValueOrDie()
                    .dataset;
    }
    return *dataset;
  }

  static Dataset Open() {
    return Dataset::Open(kUri, {.session = std::make_shared<Session>()}).ValueOrDie();
  }

  static arrow::Result<TablePtr> Read(const Dataset& dataset) {
    ARROW_ASSIGN_OR_RAISE(auto stream, Scan(dataset, {}));
    ARROW_ASSIGN_OR_RAISE(const auto table, ToReader(std::move(stream))->ToTable());
    return table->CombineChunks();
  }

  // Pages of each file of a copy; nothing where none is made.
  static std::optional<std::vector<size_t>> Copy(const Dataset& dataset,
                                                 const std::vector<uint64_t>& planned_rows,
                                                 FileLimits limits = {},
                                                 CompactionMode mode = CompactionMode::kReencode) {
    std::vector<wire::DataFragment> fragments;
    ScanOptions scan;
    scan.fragment_ids.emplace();
    for (const auto& fragment : dataset.Fragments().ValueOrDie()) {
      fragments.push_back(StateOf(fragment)->fragment);
      scan.fragment_ids->push_back(fragment.id());
    }
    const auto copied = CopyPages({.source = dataset,
                                   .fragments = fragments,
                                   .limits = limits,
                                   .version = StateOf(dataset)->manifest->data_file_version,
                                   .planned_rows = planned_rows,
                                   .mode = mode,
                                   .scan = scan,
                                   .progress = {}})
                            .ValueOrDie();
    if (!copied) return std::nullopt;
    std::vector<size_t> pages;
    for (const std::string& path : copied->files.paths()) {
      const auto file = file::FileReader::Open(StoreOf(dataset), path, std::nullopt).ValueOrDie();
      pages.push_back(file->metadata().columns[0].pages.size());
    }
    return pages;
  }

  static std::shared_ptr<io::ObjectStore> StoreOf(const Dataset& dataset) {
    return io::Resolve(dataset.uri()).ValueOrDie().store;
  }

  std::vector<std::string> DataFiles() const { return store_->ListNames(kDataFolder).ValueOrDie(); }

  std::shared_ptr<io::ObjectStore> store_;
};

const auto kZipped = arrow::field("zipped", arrow::fixed_size_binary(300));
const auto kLists = arrow::field("lists", arrow::list(arrow::int16()));
const auto kText = arrow::field("text", arrow::utf8());
const auto kNumber = arrow::field("number", arrow::int64());

TEST_F(PageCopyTest, WhatCanBeJoinedIs) {
  // 1.2 MB a page.
  EXPECT_THAT(*Copy(Make({kZipped}, {4001, 4000, 4001}), {12'002}), ElementsAre(1));
  EXPECT_THAT(*Copy(Make({kLists}, {4001, 4000, 4001}), {12'002}), ElementsAre(1));
  EXPECT_FALSE(Copy(Make({kText}, {4001, 4000, 4001}), {12'002}));
  EXPECT_FALSE(Copy(Make({kNumber}, {4001, 4000, 4001}), {12'002}));  // too small
  EXPECT_FALSE(Copy(Make({kLists}, {1001, 1000, 1001}), {3'002}));    // likewise
  EXPECT_THAT(*Copy(Make({kText, kZipped}, {400, 400}), {800}), ElementsAre(1));
}

TEST_F(PageCopyTest, FileBordersMustBePageBorders) {
  const Dataset dataset = Make({kZipped}, {400, 400, 400, 400});
  EXPECT_THAT(*Copy(dataset, {800, 800}), ElementsAre(1, 1));
  EXPECT_THAT(*Copy(dataset, {400, 1200}), ElementsAre(1, 1));
  EXPECT_FALSE(Copy(dataset, {600, 1000}));
  EXPECT_FALSE(Copy(dataset, {800, 700}));
  EXPECT_FALSE(Copy(dataset, {800, 900}));
}

TEST_F(PageCopyTest, PagesEndWhereLimitsSay) {
  const Dataset dataset = Make({kZipped}, {400, 400, 400});
  constexpr uint64_t kPage = (400 * 300 * 8 + 400) / 8;
  EXPECT_THAT(*Copy(dataset, {1200}, {.max_page_bytes = 2 * kPage}), ElementsAre(2));
  EXPECT_THAT(*Copy(dataset, {1200}, {.data_cache_bytes = 2 * kPage}), ElementsAre(2));
  EXPECT_THAT(*Copy(dataset, {1200}, {.max_page_bytes = kPage}), ElementsAre(3));
  // Pages far below the limit, or above it, are made anew.
  EXPECT_FALSE(Copy(dataset, {1200}, {.max_page_bytes = kPage * 3 / 2}));
  EXPECT_FALSE(Copy(dataset, {1200}, {.max_page_bytes = kPage - 1}));
  EXPECT_FALSE(Copy(dataset, {1200}, {.max_rows_per_group = 100}));
}

TEST_F(PageCopyTest, RowsThatAreNotAsTheFilesHaveThemAreRead) {
  Dataset dataset = Make({kZipped, kNumber}, {400, 400});
  dataset = Delete(dataset, Predicate::Sql("number is null")).ValueOrDie().dataset;
  EXPECT_FALSE(Copy(dataset, {dataset.CountRows().ValueOrDie()}));
  dataset = CompactFiles(dataset).ValueOrDie().dataset;
  EXPECT_EQ(dataset.num_fragments(), 1u);
}

TEST_F(PageCopyTest, ACompactionHoldsTheRows) {
  for (const std::string version : {"2.1", "2.2"}) {
    for (const CompactionMode mode : {CompactionMode::kReencode, CompactionMode::kTryBinaryCopy,
                                      CompactionMode::kForceBinaryCopy}) {
      const Dataset before =
          Make({kNumber, kLists, kText, kZipped}, {4001, 4000, 4003, 3999}, version);
      const auto rows = Read(before).ValueOrDie();
      const auto compacted = CompactFiles(before, {.mode = mode}).ValueOrDie();
      EXPECT_EQ(compacted.dataset.num_fragments(), 1u);
      EXPECT_EQ(compacted.summary.pages.total, 4u);
      EXPECT_TRUE(Read(Open()).ValueOrDie()->Equals(*rows));
    }
  }
}

// Whatever call of the store fails, no file is left that nobody knows.
TEST_F(PageCopyTest, AFailedCopyLeavesNothingBehind) {
  Make({kZipped, kText}, {400, 400});
  const auto inner = store_;
  const auto files = DataFiles();
  for (uint64_t call = 0;; ++call) {
    const auto store = std::make_shared<FaultyStore>(inner);
    Use(store);
    const Dataset dataset = Open();
    const auto plan = PlanCompaction(dataset).ValueOrDie();
    store->FailAt(call);
    const auto result = ExecuteCompaction(dataset, plan.tasks.at(0));
    if (!store->has_failed()) {
      EXPECT_THAT(result, IsOk());
      EXPECT_GT(call, 8u);
      break;
    }
    EXPECT_THAT(result, IsError(ErrorKind::kIO, ""));
    store->Disarm();
    EXPECT_THAT(DataFiles(), UnorderedElementsAreArray(files)) << "call " << call;
  }
}

TEST_F(PageCopyTest, ACopyCanBeBrokenOff) {
  const Dataset dataset = Make({kZipped, kLists}, {4000, 4000});
  const auto files = DataFiles();
  const auto plan = PlanCompaction(dataset).ValueOrDie();
  int calls = 0;
  for (int last = 0; last < 5; ++last) {
    calls = 0;
    CompactionOptions options;
    options.version.progress = [&](const Progress&) {
      return ++calls > last ? arrow::Status::Cancelled("enough") : arrow::Status::OK();
    };
    const auto result = ExecuteCompaction(dataset, plan.tasks.at(0), options);
    EXPECT_TRUE(result.status().IsCancelled()) << result.status().ToString();
    EXPECT_EQ(calls, last + 1);
    EXPECT_THAT(DataFiles(), UnorderedElementsAreArray(files));
  }
}

class DamagedPageCopyTest : public PageCopyTest {
 protected:
  // Compacts the table whose first file has these bytes.
  void Check(const std::string& bytes, CompactionMode mode);

  // Of the fragment that is to be damaged.
  void ReadFiles(size_t damaged) {
    files_.clear();
    for (const auto& file : store_->ListRecursive("/table").ValueOrDie()) {
      files_[file.path] = store_->ReadWhole(file.path).ValueOrDie()->ToString();
    }
    const auto fragments = Open().Fragments().ValueOrDie();
    damaged_path_ = std::string(kDataFolder) + "/" + fragments[damaged].files()[0].path;
  }
  const std::string& Whole() const { return files_.at(damaged_path_); }

  // A new table, of the damaged bytes.
  void PutFiles(const std::string& damaged) {
    Use(io::MakeMemoryStore());
    for (const auto& [path, content] : files_) {
      const std::string& bytes = path == damaged_path_ ? damaged : content;
      EXPECT_THAT(store_->Put(path, std::as_bytes(std::span(bytes))), IsOk());
    }
  }

  std::map<std::string, std::string> files_;
  std::string damaged_path_;
  int num_refused_ = 0;
  int num_equal_ = 0;
};

void ExpectTyped(const arrow::Status& status) {
  const ErrorKind kind = KindOf(status);
  EXPECT_TRUE(kind == ErrorKind::kCorrupt || kind == ErrorKind::kUnsupported ||
              kind == ErrorKind::kIO)
      << status.ToString();
}

void DamagedPageCopyTest::Check(const std::string& bytes, CompactionMode mode) {
  PutFiles(bytes);
  const auto direct = Read(Open());
  const auto names = DataFiles();
  const auto compacted = CompactFiles(Open(), {.mode = mode});
  if (!compacted.ok()) {
    ++num_refused_;
    ExpectTyped(compacted.status());
    EXPECT_THAT(DataFiles(), UnorderedElementsAreArray(names));
    return;
  }
  const auto read = Read(Open());
  if (!read.ok()) {
    ExpectTyped(read.status());
    EXPECT_FALSE(direct.ok()) << read.status().ToString();
    return;
  }
  ASSERT_THAT(direct, IsOk());
  EXPECT_TRUE((*read)->Equals(**direct, arrow::EqualOptions::Defaults().nans_equal(true)));
  ++num_equal_;
}

TEST_F(DamagedPageCopyTest, FlippedBitsAreErrorsOrRows) {
  for (const std::string version : {"2.1", "2.2"}) {
    Make({kZipped, kText, arrow::field("vectors", arrow::fixed_size_list(arrow::float32(), 80))},
         {301, 301, 302}, version, 0);
    ReadFiles(1);
    const std::string whole = Whole();
    std::mt19937_64 random(version.size() + 7);
    num_refused_ = num_equal_ = 0;
    // All that describes the pages, and some of them.
    std::vector<size_t> places;
    const auto file = file::FileReader::Open(store_, damaged_path_, std::nullopt).ValueOrDie();
    for (size_t i = file->metadata().global_buffers[0].offset; i < whole.size(); ++i) {
      places.push_back(i);
    }
    for (int i = 0; i < 100; ++i) places.push_back(random() % places.front());
    for (const size_t place : places) {
      const size_t bit = random() % 8;
      SCOPED_TRACE("bit " + std::to_string(bit) + " of byte " + std::to_string(place) + " of " +
                   std::to_string(whole.size()) + " in " + version);
      std::string bytes = whole;
      bytes[place] = static_cast<char>(bytes[place] ^ (1 << bit));
      Check(bytes, static_cast<CompactionMode>(random() % 3));
    }
    EXPECT_GT(num_refused_, 100);
    EXPECT_GT(num_equal_, 100);
  }
}

// A file is read as the version that its own end says, whatever the table says of it.
TEST_F(DamagedPageCopyTest, AFileOfAnotherVersionThanTheTableSaysIsNotCopied) {
  for (const char* version : {"2.1", "2.2"}) {
    EXPECT_TRUE(Copy(Make({kZipped}, {301, 301}, version), {602}));
    ReadFiles(0);
    std::string bytes = Whole();
    bytes[bytes.size() - 6] ^= 1 ^ 2;
    Check(bytes, CompactionMode::kReencode);
    EXPECT_EQ(num_refused_, 0);
    PutFiles(bytes);
    EXPECT_FALSE(Copy(Open(), {602}));
  }
}

TEST_F(DamagedPageCopyTest, FilesThatWereCutOrGrewAreErrors) {
  Make({kZipped, kText}, {301, 301});
  ReadFiles(0);
  const std::string whole = Whole();
  std::mt19937_64 random(5);
  for (int i = 0; i < 60; ++i) {
    const size_t at = i < 20 ? whole.size() - 1 - static_cast<size_t>(i) : random() % whole.size();
    SCOPED_TRACE("byte " + std::to_string(at));
    const auto mode = static_cast<CompactionMode>(i % 3);
    Check(whole.substr(0, at), mode);
    Check(whole.substr(0, at) + "x" + whole.substr(at), mode);
    Check(whole + std::string(1 + random() % 100, 'x'), mode);
  }
}

}  // namespace
}  // namespace glaive::dataset
