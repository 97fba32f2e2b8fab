// What compaction is for, on a store far away: 20 ms a request. Takes eight scattered rows of 40 kB
// with nothing cached, from a table of 20 small fragments, the same compacted, and one written at
// once; prints the best of ten takes of each, in turn.
//
//   glaive_far_take_bench [rows=6000]

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <arrow/util/logging.h>
#include <fmt/core.h>

#include "glaive/compaction.h"
#include "glaive/scan.h"
#include "glaive/session.h"
#include "glaive/write.h"
#include "io/memory_store.h"
#include "io/object_store.h"
#include "testing/latency_store.h"

namespace glaive {
namespace {

std::shared_ptr<arrow::Table> Lists(int64_t num_rows) {
  constexpr int64_t kItems = 20'000;
  std::mt19937 random(1);
  arrow::Int32Builder offsets;
  arrow::Int16Builder items;
  int32_t end = 0;
  ARROW_CHECK_OK(offsets.Append(0));
  for (int64_t row = 0; row < num_rows; ++row) {
    end += static_cast<int32_t>(kItems - 100 + random() % 200);
    ARROW_CHECK_OK(offsets.Append(end));
  }
  ARROW_CHECK_OK(items.Reserve(end));
  for (int32_t i = 0; i < end; ++i) items.UnsafeAppend(static_cast<int16_t>(random() % 200));
  const auto lists =
      arrow::ListArray::FromArrays(*offsets.Finish().ValueOrDie(), *items.Finish().ValueOrDie())
          .ValueOrDie();
  return arrow::Table::Make(arrow::schema({arrow::field("feat", lists->type())}), {lists});
}

double MillisecondsToTake(const std::string& uri, const std::vector<uint64_t>& rows) {
  const auto dataset = Dataset::Open(uri, {.session = std::make_shared<Session>()}).ValueOrDie();
  const auto begin = std::chrono::steady_clock::now();
  ARROW_CHECK(Take(dataset, rows, {}).ValueOrDie()->num_rows() == 8);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  return taken.count();
}

void Run(int64_t num_rows) {
  const auto inner = io::MakeMemoryStore();
  io::RegisterStore("far", inner);
  const auto table = Lists(num_rows);
  const auto write = [&](const std::string& uri, int64_t rows_per_file) {
    return WriteDataset(ReadTable(table), uri,
                        {.limits = {.max_rows_per_file = static_cast<uint64_t>(rows_per_file)}})
        .ValueOrDie()
        .dataset;
  };
  write("far://small", num_rows / 20);
  ARROW_CHECK_OK(CompactFiles(write("far://compacted", num_rows / 20), {}).status());
  write("far://bulk", num_rows);

  io::RegisterStore(
      "far", std::make_shared<testing::LatencyStore>(
                 inner, testing::LatencyOptions{.per_request = std::chrono::milliseconds(20)}));
  std::vector<uint64_t> rows;
  for (int64_t i = 0; i < 8; ++i)
    rows.push_back(static_cast<uint64_t>((2 * i + 1) * num_rows / 16));
  const std::array<std::string, 3> names = {"small", "compacted", "bulk"};
  std::array<double, 3> best = {1e9, 1e9, 1e9};
  for (int round = 0; round < 10; ++round) {
    for (size_t i = 0; i < names.size(); ++i) {
      best[i] = std::min(best[i], MillisecondsToTake("far://" + names[i], rows));
    }
  }
  for (size_t i = 0; i < names.size(); ++i) {
    fmt::print("{}: {:.1f} ms, {:.2f} times the bulk write\n", names[i], best[i],
               best[i] / best[2]);
  }
}

}  // namespace
}  // namespace glaive

int main(int argc, char** argv) { glaive::Run(argc > 1 ? std::atoll(argv[1]) : 6'000); }
