#include "dataset/write/stream.h"

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <arrow/api.h>
#include <arrow/util/logging.h>
#include <gtest/gtest.h>

#include "core/executor.h"
#include "glaive/fragment.h"
#include "glaive/scan.h"
#include "glaive/write.h"
#include "io/memory_store.h"
#include "testing/counting_store.h"
#include "testing/hooked_store.h"
#include "testing/matchers.h"

namespace glaive {
namespace {

using glaive::testing::IsError;
using glaive::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ReaderPtr = std::shared_ptr<arrow::RecordBatchReader>;

std::shared_ptr<arrow::Table> Numbers(int64_t num_rows) {
  arrow::Int64Builder a;
  arrow::StringBuilder s;
  for (int64_t i = 0; i < num_rows; ++i) {
    ARROW_CHECK_OK(a.Append(i));
    ARROW_CHECK_OK(s.Append("row " + std::to_string(i)));
  }
  return arrow::Table::Make(
      arrow::schema({arrow::field("a", arrow::int64()), arrow::field("s", arrow::utf8())}),
      {a.Finish().ValueOrDie(), s.Finish().ValueOrDie()});
}

// A stream that is no table: its rows come once, in order.
class Stream final : public arrow::RecordBatchReader {
 public:
  Stream(std::shared_ptr<arrow::Table> table, int64_t batch_rows)
      : table_(std::move(table)), reader_(table_) {
    reader_.set_chunksize(batch_rows);
  }
  std::shared_ptr<arrow::Schema> schema() const override { return table_->schema(); }
  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    caller_ = std::this_thread::get_id();
    return reader_.ReadNext(batch);
  }
  std::thread::id caller() const { return caller_; }

 private:
  std::shared_ptr<arrow::Table> table_;
  arrow::TableBatchReader reader_;
  std::thread::id caller_;
};

// Rows of a given size each.
class SizedRows final : public dataset::SliceableReader {
 public:
  SizedRows(uint64_t num_rows, uint64_t row_bytes) : num_rows_(num_rows), row_bytes_(row_bytes) {}
  std::shared_ptr<arrow::Schema> schema() const override { return arrow::schema({}); }
  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>*) override {
    return arrow::Status::OK();
  }
  uint64_t num_rows() const override { return num_rows_; }
  uint64_t BytesBefore(uint64_t row) const override { return row * row_bytes_; }
  bool is_in_memory() const override { return true; }
  arrow::Result<ReaderPtr> Slice(uint64_t, uint64_t) const override { return nullptr; }

 private:
  uint64_t num_rows_;
  uint64_t row_bytes_;
};

TEST(CutRowsTest, PartsAreEqualAndNeitherSmallNorMany) {
  constexpr uint64_t kMiB = 1 << 20;
  const auto cut = [](uint64_t rows, uint64_t row_bytes, size_t parts, FileLimits limits = {}) {
    return dataset::CutRows(SizedRows(rows, row_bytes), parts, limits);
  };
  EXPECT_THAT(cut(0, 1, 4), ElementsAre(0));
  EXPECT_THAT(cut(63, kMiB, 4), ElementsAre(0));
  EXPECT_THAT(cut(64, kMiB, 4), ElementsAre(0, 32));
  EXPECT_THAT(cut(3000, kMiB, 3), ElementsAre(0, 1000, 2000));
  // Full files may be parts, whatever their bytes.
  EXPECT_THAT(cut(1000, 1, 3, {.max_rows_per_file = 90}), ElementsAre(0, 360, 630));
  EXPECT_THAT(cut(100, 1, 8, {.max_rows_per_file = 90}), ElementsAre(0));
  // A cut moves to where a file ends, but not far.
  EXPECT_THAT(cut(3000, kMiB, 3, {.max_rows_per_file = 490}), ElementsAre(0, 980, 1960));
  EXPECT_THAT(cut(3000, kMiB, 2, {.max_rows_per_file = 1000}), ElementsAre(0, 1500));
}

// In memory, below a store of its own.
class WriteStreamTest : public ::testing::Test {
 protected:
  ~WriteStreamTest() override { io::RegisterStore("parallel", nullptr); }

  void Use(std::shared_ptr<io::ObjectStore> store) {
    store_ = store;
    io::RegisterStore("parallel", std::move(store));
  }

  static std::vector<uint64_t> FragmentRows(const Dataset& dataset) {
    std::vector<uint64_t> rows;
    for (const auto& fragment : dataset.Fragments().ValueOrDie()) {
      rows.push_back(fragment.num_rows());
    }
    return rows;
  }

  static std::shared_ptr<arrow::Table> ReadAll(const Dataset& dataset) {
    return ToReader(Scan(dataset, {}).ValueOrDie())->ToTable().ValueOrDie();
  }

  std::shared_ptr<io::ObjectStore> store_ = io::MakeMemoryStore();
  const std::string uri_ = "parallel://table";
};

TEST_F(WriteStreamTest, PartitionsKeepTheOrderOfTheRows) {
  Use(store_);
  const auto table = Numbers(1000);
  const auto written =
      WriteDataset(ReadTable(table), uri_, {.limits = {.max_rows_per_file = 90}, .n_jobs = 3})
          .ValueOrDie();
  EXPECT_TRUE(ReadAll(written.dataset)->Equals(*table));
  EXPECT_THAT(FragmentRows(written.dataset),
              ElementsAre(90, 90, 90, 90, 90, 90, 90, 90, 90, 90, 90, 10));
  EXPECT_EQ(written.summary.rows, 1000u);
  EXPECT_EQ(written.summary.files, 12u);
  EXPECT_EQ(written.summary.pages.by_file_end, 24u);
}

// Whatever the limits, each partition beyond the first costs one file at most.
TEST_F(WriteStreamTest, PartitionsMakeFewFilesMore) {
  Use(store_);
  std::mt19937 random(5);
  const auto up_to = [&](uint64_t bits) { return uint64_t{1} << random() % (bits + 1); };
  size_t num_cut = 0;
  for (int round = 0; round < 120; ++round) {
    arrow::Int64Builder numbers;
    arrow::StringBuilder texts;
    const uint64_t num_rows = 1 + random() % 600;
    const uint64_t max_number = up_to(60);
    const uint64_t max_length = up_to(9);
    for (uint64_t i = 0; i < num_rows; ++i) {
      ASSERT_THAT(numbers.Append(static_cast<int64_t>(random() % max_number)), IsOk());
      ASSERT_THAT(texts.Append(std::string(random() % max_length, 'x')), IsOk());
    }
    const auto table = arrow::Table::Make(
        arrow::schema({arrow::field("n", arrow::int64()), arrow::field("t", arrow::utf8())}),
        {numbers.Finish().ValueOrDie(), texts.Finish().ValueOrDie()});
    FileLimits limits;
    if (random() % 4 > 0) limits.max_bytes_per_file = up_to(15) + random() % 100;
    if (random() % 3 == 0) limits.max_rows_per_file = 10 + random() % 300;
    if (random() % 2 == 0) limits.data_cache_bytes = up_to(17);
    if (random() % 4 == 0) limits.max_page_bytes = up_to(15);
    const int64_t n_jobs = 2 + static_cast<int64_t>(random() % 6);
    const auto num_files = [&](const std::string& name, int64_t jobs) {
      const auto uri = uri_ + std::to_string(round) + name;
      return WriteDataset(ReadTable(table), uri, {.limits = limits, .n_jobs = jobs})
          .ValueOrDie()
          .summary.files;
    };
    const uint64_t one = num_files("a", 1);
    const uint64_t several = num_files("b", n_jobs);
    EXPECT_GE(several, one) << round;
    EXPECT_LE(several, one + static_cast<uint64_t>(n_jobs) - 1) << round;
    num_cut += several > one ? 1 : 0;
  }
  EXPECT_GT(num_cut, 5u);
}

TEST_F(WriteStreamTest, StreamsAreReadByTheCallerAndFilesAreThoseOfOneWriter) {
  Use(store_);
  const auto table = Numbers(1000);
  const FileLimits limits = {.max_rows_per_file = 90, .data_cache_bytes = 1000};
  const auto one = WriteDataset(std::make_shared<Stream>(table, 37), uri_ + "1", {.limits = limits})
                       .ValueOrDie();
  for (const int64_t n_jobs : {2, 3, 100}) {
    const auto stream = std::make_shared<Stream>(table, 37);
    const auto written =
        WriteDataset(stream, uri_ + std::to_string(n_jobs), {.limits = limits, .n_jobs = n_jobs})
            .ValueOrDie();
    EXPECT_EQ(stream->caller(), std::this_thread::get_id());
    EXPECT_TRUE(ReadAll(written.dataset)->Equals(*table));
    EXPECT_EQ(FragmentRows(written.dataset), FragmentRows(one.dataset));
    EXPECT_EQ(written.summary.bytes, one.summary.bytes);
    EXPECT_EQ(written.summary.pages.total, one.summary.pages.total);
    EXPECT_EQ(written.summary.pages.by_cache_bytes, one.summary.pages.by_cache_bytes);
  }
}

TEST_F(WriteStreamTest, CallbacksAreCalledByTheCaller) {
  Use(store_);
  const auto caller = std::this_thread::get_id();
  for (const bool is_table : {true, false}) {
    int begun = 0;
    int completed = 0;
    uint64_t last_rows = 0;
    WriteOptions options = {.mode = WriteMode::kOverwrite,
                            .limits = {.max_rows_per_file = 100},
                            .n_jobs = 3,
                            .version = {.progress = [&](const Progress& progress) {
                              EXPECT_EQ(std::this_thread::get_id(), caller);
                              EXPECT_GE(progress.rows, last_rows);
                              last_rows = progress.rows;
                              return arrow::Status::OK();
                            }}};
    const auto count = [&](int& calls) {
      return [&calls, caller](const FragmentMetadata&) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        ++calls;
        return arrow::Status::OK();
      };
    };
    options.fragment_events = {.begin = count(begun), .complete = count(completed)};
    const auto table = Numbers(1000);
    const ReaderPtr rows = is_table ? ReadTable(table) : std::make_shared<Stream>(table, 30);
    ASSERT_THAT(WriteDataset(rows, uri_, options), IsOk());
    EXPECT_EQ(begun, 10);
    EXPECT_EQ(completed, 10);
    EXPECT_EQ(last_rows, 1000u);

    for (auto* event : {&options.fragment_events.begin, &options.fragment_events.complete}) {
      WriteOptions stopped = options;
      stopped.version.progress = nullptr;
      auto& stopping = event == &options.fragment_events.begin ? stopped.fragment_events.begin
                                                               : stopped.fragment_events.complete;
      stopping = [](const FragmentMetadata&) { return arrow::Status::Invalid("enough"); };
      const ReaderPtr again = is_table ? ReadTable(table) : std::make_shared<Stream>(table, 30);
      EXPECT_EQ(WriteDataset(again, uri_, stopped).status().message(), "enough");
    }
  }
}

// Fails to finish the n-th file.
class FailingFinish final : public testing::HookedStore {
 public:
  FailingFinish(std::shared_ptr<io::ObjectStore> inner, int file)
      : HookedStore(std::move(inner)), left_(file) {}
  arrow::Status Around(const testing::StoreCall& call,
                       const std::function<arrow::Status()>& perform) override {
    if (call.kind == testing::StoreCallKind::kFinish && left_.fetch_sub(1) == 0) {
      return arrow::Status::IOError("the disk is full");
    }
    return perform();
  }

 private:
  std::atomic<int> left_;
};

TEST_F(WriteStreamTest, AFailingPartitionIsNamedAndNothingIsLeft) {
  const auto table = Numbers(1000);
  for (const bool is_table : {true, false}) {
    for (const int file : {0, 4, 9}) {
      const auto inner = io::MakeMemoryStore();
      Use(std::make_shared<FailingFinish>(inner, file));
      const ReaderPtr rows = is_table ? ReadTable(table) : std::make_shared<Stream>(table, 30);
      const arrow::Status status =
          WriteDataset(rows, uri_, {.limits = {.max_rows_per_file = 100}, .n_jobs = 3}).status();
      EXPECT_THAT(status, IsError(ErrorKind::kIO, "partition "));
      EXPECT_THAT(status.message(), HasSubstr(" rows): the disk is full"));
      const ErrorDetail* detail = ErrorDetail::Of(status);
      ASSERT_NE(detail, nullptr);
      ASSERT_NE(detail->cause(), nullptr);
      EXPECT_EQ(detail->cause()->message(), "the disk is full");
      const std::string root = io::Resolve(uri_).ValueOrDie().path;
      EXPECT_THAT(inner->ListRecursive(root), testing::IsOkAndHolds(::testing::IsEmpty()));
    }
  }
}

TEST_F(WriteStreamTest, WrongNumbersOfJobsAreNamed) {
  Use(store_);
  for (const int64_t n_jobs : {0, -1}) {
    EXPECT_THAT(WriteDataset(ReadTable(Numbers(10)), uri_, {.n_jobs = n_jobs}),
                IsError(ErrorKind::kInvalidInput,
                        "n_jobs must be at least 1, not " + std::to_string(n_jobs)));
  }
}

}  // namespace
}  // namespace glaive
