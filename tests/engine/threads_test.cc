// Eight threads at once on one table. Each changes rows of its own, so that whatever the order was,
// what is left is known. GLAIVE_STRESS_SECONDS makes it longer.
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <arrow/api.h>
#include <arrow/util/logging.h>
#include <gtest/gtest.h>

#include "glaive/columns.h"
#include "glaive/compaction.h"
#include "glaive/dataset.h"
#include "glaive/rows.h"
#include "glaive/scan.h"
#include "glaive/verify.h"
#include "glaive/write.h"
#include "testing/matchers.h"

namespace glaive {
namespace {

using glaive::testing::IsOk;
using Clock = std::chrono::steady_clock;

constexpr int kThreads = 8;
constexpr char kUri[] = "memory://threads_test/table";
constexpr uint32_t kRetries = 100;

double Seconds() {
  const char* text = std::getenv("GLAIVE_STRESS_SECONDS");
  return text == nullptr ? 0.5 : std::strtod(text, nullptr);
}

std::shared_ptr<arrow::RecordBatchReader> Rows(const std::map<int64_t, int64_t>& rows) {
  arrow::Int64Builder ids;
  arrow::Int64Builder values;
  for (const auto& [id, value] : rows) {
    ARROW_CHECK_OK(ids.Append(id));
    ARROW_CHECK_OK(values.Append(value));
  }
  const auto schema =
      arrow::schema({arrow::field("id", arrow::int64()), arrow::field("v", arrow::int64())});
  const auto batch =
      arrow::RecordBatch::Make(schema, static_cast<int64_t>(rows.size()),
                               {ids.Finish().ValueOrDie(), values.Finish().ValueOrDie()});
  return arrow::RecordBatchReader::Make({batch}, schema).ValueOrDie();
}

std::map<int64_t, int64_t> ReadAll(const Dataset& dataset) {
  std::map<int64_t, int64_t> rows;
  ScanOptions options;
  options.columns = std::vector<std::string>{"id", "v"};
  const auto scan = Scan(dataset, options).ValueOrDie();
  while (const auto batch = scan->Next().ValueOrDie()) {
    const auto& ids = static_cast<const arrow::Int64Array&>(*batch->column(0));
    const auto& values = static_cast<const arrow::Int64Array&>(*batch->column(1));
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      EXPECT_TRUE(rows.emplace(ids.Value(i), values.Value(i)).second) << "twice: " << ids.Value(i);
    }
  }
  return rows;
}

class Worker {
 public:
  explicit Worker(int number) : number_(number), random_(static_cast<uint32_t>(number)) {}

  void Run(Clock::time_point end) {
    while (Clock::now() < end && status_.ok()) Step();
  }

  const std::map<int64_t, int64_t>& rows() const { return rows_; }
  const arrow::Status& status() const { return status_; }
  int num_done() const { return num_done_; }

 private:
  void Step() {
    const auto dataset = Dataset::Open(kUri);
    if (!dataset.ok()) {
      status_ = dataset.status();
      return;
    }
    std::map<int64_t, int64_t> next = rows_;
    const arrow::Status done = Change(*dataset, &next);
    if (done.ok()) {
      rows_ = std::move(next);
      ++num_done_;
    } else if (KindOf(done) != ErrorKind::kCommitConflict) {
      status_ = done;
    }
  }

  arrow::Status Change(const Dataset& dataset, std::map<int64_t, int64_t>* next) {
    switch (random_() % 8) {
      case 0:
      case 1: {
        const auto fresh = Fresh(20);
        next->insert(fresh.begin(), fresh.end());
        return WriteDataset(Rows(fresh), dataset, {.mode = WriteMode::kAppend}).status();
      }
      case 2: {
        const std::string where = Where(Chosen(5), [&](int64_t id) { next->erase(id); });
        return Delete(dataset, Predicate::Sql(where), {.conflict_retries = kRetries}).status();
      }
      case 3: {
        const std::string where = Where(Chosen(5), [&](int64_t id) { (*next)[id] += 3; });
        return Update(dataset, std::vector<ColumnUpdate>{{"v", "v + 3"}}, Predicate::Sql(where),
                      {.conflict_retries = kRetries})
            .status();
      }
      case 4: {
        std::map<int64_t, int64_t> source = Fresh(5);
        for (const int64_t id : Chosen(5)) source[id] = static_cast<int64_t>(random_() % 1000);
        for (const auto& [id, value] : source) (*next)[id] = value;
        return MergeInsert(dataset, Rows(source),
                           {.on = {"id"},
                            .when_matched = WhenMatched::kUpdateAll,
                            .insert_not_matched = true,
                            .conflict_retries = kRetries})
            .status();
      }
      case 5: return CompactFiles(dataset, {.target_rows_per_fragment = 200}).status();
      case 6: {
        const std::string name = "x" + std::to_string(number_);
        if (dataset.schema()->GetFieldByName(name) != nullptr) {
          return DropColumns(dataset, std::vector<std::string>{name}).status();
        }
        return AddColumns(dataset, std::vector<ComputedColumn>{{name, "id + 1"}}).status();
      }
      default: ReadAll(dataset); return arrow::Status::OK();
    }
  }

  std::map<int64_t, int64_t> Fresh(int64_t count) {
    std::map<int64_t, int64_t> fresh;
    while (count-- > 0) fresh[number_ * int64_t{1'000'000} + next_id_++] = count;
    return fresh;
  }

  std::vector<int64_t> Chosen(size_t count) {
    std::vector<int64_t> ids;
    for (const auto& [id, value] : rows_) {
      if (random_() % (rows_.size() / count + 1) == 0) ids.push_back(id);
    }
    return ids;
  }

  template <typename Visit>
  static std::string Where(const std::vector<int64_t>& ids, Visit&& visit) {
    std::string where = "id IN (-1";
    for (const int64_t id : ids) {
      visit(id);
      where += ", " + std::to_string(id);
    }
    return where + ")";
  }

  int number_;
  std::mt19937 random_;
  int64_t next_id_ = 0;
  std::map<int64_t, int64_t> rows_;
  arrow::Status status_;
  int num_done_ = 0;
};

TEST(ThreadsTest, EachFindsItsRowsAsItLeftThem) {
  ASSERT_THAT(WriteDataset(Rows({{-7, 7}}), kUri, {.mode = WriteMode::kCreate}), IsOk());
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(Seconds()));
  std::vector<Worker> workers;
  for (int i = 0; i < kThreads; ++i) workers.emplace_back(i);
  std::vector<std::jthread> threads;
  for (Worker& worker : workers) threads.emplace_back([&worker, end] { worker.Run(end); });
  threads.clear();  // joins
  std::map<int64_t, int64_t> expected = {{-7, 7}};
  for (const Worker& worker : workers) {
    EXPECT_THAT(worker.status(), IsOk());
    EXPECT_GT(worker.num_done(), 0);
    expected.insert(worker.rows().begin(), worker.rows().end());
  }
  const Dataset dataset = Dataset::Open(kUri).ValueOrDie();
  EXPECT_EQ(ReadAll(dataset), expected);
  const VerifyReport report = Verify(kUri).ValueOrDie();
  EXPECT_TRUE(report.ok()) << report.findings[0].message;
}

}  // namespace
}  // namespace glaive
