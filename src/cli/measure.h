#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "glaive/session.h"

namespace glaive::cli {

// What a request to an object store takes, for comparison.
inline constexpr std::chrono::milliseconds kRoundTrip{30};

struct TakeCost {
  IoStats io;                  // as they overlap when each round trip takes kRoundTrip
  double seconds = 0;          // here
  double distant_seconds = 0;  // where each round trip takes kRoundTrip
};

// `count` positions spread over `num_rows` rows, ascending; the same on every run.
std::vector<uint64_t> SpreadRows(uint64_t num_rows, uint64_t count);

// What a take of these rows costs when nothing is cached: a session of its own, and the files of
// the table, which lies in a local folder, put out of the page cache.
arrow::Result<TakeCost> ColdTake(const Dataset& dataset, const std::vector<uint64_t>& rows);

// Compares two versions row by row and returns how many rows they have. An error names the first
// batch that differs.
arrow::Result<uint64_t> CheckSameRows(const Dataset& left, const Dataset& right);

}  // namespace glaive::cli
