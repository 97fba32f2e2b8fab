#pragma once

#include <cstdint>
#include <functional>

#include <arrow/status.h>

namespace glaive {

/// How far a long call is. Totals are 0 where they are not known.
struct Progress {
  uint64_t rows = 0;
  uint64_t total_rows = 0;
  uint64_t bytes = 0;
  uint64_t total_bytes = 0;
  uint64_t tasks = 0;  ///< of a compaction: tasks finished
  uint64_t total_tasks = 0;
};

/// Called from time to time on the thread that made the call, never from two at once. An error that
/// it returns ends the call with that error; what was unfinished is removed first.
using ProgressCallback = std::function<arrow::Status(const Progress&)>;

}  // namespace glaive
