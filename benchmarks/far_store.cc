// How `n_jobs` pays on a store far away: 30 ms a request, 50 MB/s a stream. Writes a table of
// doubles into memory behind such a store and prints the seconds that each number of jobs takes.
//
//   glaive_far_store_bench [megabytes=400]

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>

#include <arrow/api.h>
#include <arrow/util/logging.h>
#include <fmt/core.h>

#include "glaive/scan.h"
#include "glaive/write.h"
#include "io/memory_store.h"
#include "io/object_store.h"
#include "testing/latency_store.h"

namespace glaive {
namespace {

constexpr int kColumns = 8;

std::shared_ptr<arrow::Table> RandomTable(int64_t num_rows) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> distribution;
  arrow::FieldVector fields;
  arrow::ChunkedArrayVector columns;
  for (int i = 0; i < kColumns; ++i) {
    arrow::DoubleBuilder builder;
    ARROW_CHECK_OK(builder.Reserve(num_rows));
    for (int64_t row = 0; row < num_rows; ++row) builder.UnsafeAppend(distribution(random));
    fields.push_back(arrow::field(fmt::format("c{}", i), arrow::float64()));
    columns.push_back(std::make_shared<arrow::ChunkedArray>(builder.Finish().ValueOrDie()));
  }
  return arrow::Table::Make(arrow::schema(fields), columns);
}

double SecondsToWrite(const std::shared_ptr<arrow::Table>& table, int64_t n_jobs) {
  io::RegisterStore("far", std::make_shared<testing::LatencyStore>(
                               io::MakeMemoryStore(),
                               testing::LatencyOptions{.stream_bytes_per_second = 50'000'000}));
  const auto begin = std::chrono::steady_clock::now();
  const auto written = WriteDataset(ReadTable(table), "far://table",
                                    {.limits = {.max_rows_per_file = UINT64_MAX}, .n_jobs = n_jobs})
                           .ValueOrDie();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const auto read = ToReader(Scan(written.dataset, {}).ValueOrDie())->ToTable().ValueOrDie();
  ARROW_CHECK(read->Equals(*table));
  return seconds.count();
}

}  // namespace
}  // namespace glaive

int main(int argc, char** argv) {
  const int64_t megabytes = argc > 1 ? std::atoll(argv[1]) : 400;
  const auto table = glaive::RandomTable(megabytes * 1'000'000 / (8 * glaive::kColumns));
  const double one = glaive::SecondsToWrite(table, 1);
  for (const int64_t n_jobs : {1, 2, 4, 8}) {
    const double seconds = n_jobs == 1 ? one : glaive::SecondsToWrite(table, n_jobs);
    fmt::print("n_jobs={}: {:.2f} s, {:.1f} times as fast\n", n_jobs, seconds, one / seconds);
  }
}
