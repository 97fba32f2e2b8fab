#include "cli/measure.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include <arrow/compare.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>

#include "cli/show/terminal.h"
#include "glaive/scan.h"
#include "glaive/session.h"

namespace glaive::cli {
namespace {

std::string LocalPath(const std::string& uri) {
  constexpr std::string_view kScheme = "file://";
  return uri.starts_with(kScheme) ? uri.substr(kScheme.size()) : uri;
}

// Only clean pages leave the cache, hence the sync.
arrow::Status DropPageCache(const std::string& folder) {
  std::error_code error;
  for (auto it = std::filesystem::recursive_directory_iterator(folder, error);
       !error && it != std::filesystem::recursive_directory_iterator(); it.increment(error)) {
    if (!it->is_regular_file(error)) continue;
    const int file = open(it->path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    fdatasync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
  }
  if (error) return arrow::Status::IOError(folder, ": ", error.message());
  return arrow::Status::OK();
}

// The same version with nothing of it cached by the engine.
arrow::Result<Dataset> OpenCold(const Dataset& dataset) {
  return Dataset::Open(dataset.uri(),
                       {.version = dataset.version(), .session = std::make_shared<Session>()});
}

arrow::Result<double> SecondsToTake(const Dataset& dataset, const std::vector<uint64_t>& rows) {
  const auto started = std::chrono::steady_clock::now();
  ARROW_ASSIGN_OR_RAISE(const auto table, Take(dataset, rows));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  if (table->num_rows() != static_cast<int64_t>(rows.size())) {
    return arrow::Status::UnknownError("a take of ", rows.size(), " rows gave ", table->num_rows());
  }
  return took.count();
}

}  // namespace

std::vector<uint64_t> SpreadRows(uint64_t num_rows, uint64_t count) {
  std::vector<uint64_t> rows;
  for (uint64_t i = 0; i < count && num_rows > 0; ++i) {
    const uint64_t begin = num_rows * i / count;
    const uint64_t size = num_rows * (i + 1) / count - begin;
    rows.push_back(begin + (size == 0 ? 0 : (i * 7919 + 104729) % size));
  }
  return rows;
}

arrow::Result<TakeCost> ColdTake(const Dataset& dataset, const std::vector<uint64_t>& rows) {
  ARROW_RETURN_NOT_OK(DropPageCache(LocalPath(dataset.uri())));
  TakeCost cost;
  ARROW_ASSIGN_OR_RAISE(const Dataset here, OpenCold(dataset));
  ARROW_ASSIGN_OR_RAISE(cost.seconds, SecondsToTake(here, rows));
  ARROW_ASSIGN_OR_RAISE(const Dataset far, OpenCold(dataset));
  const IoRecorder recorder(kRoundTrip);
  ARROW_ASSIGN_OR_RAISE(cost.distant_seconds, SecondsToTake(far, rows));
  cost.io = recorder.stats();
  return cost;
}

arrow::Result<uint64_t> CheckSameRows(const Dataset& left, const Dataset& right) {
  ARROW_ASSIGN_OR_RAISE(const auto left_rows, Scan(left, {.batch_size = 512}));
  ARROW_ASSIGN_OR_RAISE(const auto right_rows, Scan(right, {.batch_size = 512}));
  const auto equality = arrow::EqualOptions::Defaults().nans_equal(true).signed_zeros_equal(false);
  uint64_t num_rows = 0;
  while (true) {
    ARROW_RETURN_NOT_OK(CheckInterrupt());
    ARROW_ASSIGN_OR_RAISE(const auto expected, left_rows->Next());
    ARROW_ASSIGN_OR_RAISE(const auto found, right_rows->Next());
    if (expected == nullptr && found == nullptr) return num_rows;
    if (expected == nullptr || found == nullptr ||
        !expected->Equals(*found, /*check_metadata=*/false, equality)) {
      return arrow::Status::UnknownError("versions ", left.version(), " and ", right.version(),
                                         " differ in the 512 rows from row ", num_rows, " on");
    }
    num_rows += static_cast<uint64_t>(expected->num_rows());
  }
}

}  // namespace glaive::cli
