#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include <arrow/result.h>

#include "core/clock.h"
#include "glaive/dataset.h"
#include "glaive/version_options.h"
#include "table/manifest/location.h"
#include "table/manifest/manifest.h"

// How verbs that change rows of a snapshot get their change into the table.
namespace glaive::dataset {

// How often a change that another writer got in the way of is made again.
struct Persistence {
  uint32_t conflict_retries = 10;
  uint64_t retry_timeout_ms = 30'000;
  ProgressCallback progress;
};

// Waits before the next attempt: for a random share of a time that doubles, in units of what the
// first one cost. Ends early when the progress callback wants it.
arrow::Status WaitToTryAgain(uint32_t attempt, std::chrono::nanoseconds first_attempt,
                             SteadyTime deadline, const ProgressCallback& progress);

// Whether the newest version is proven to be of the table that an older one was read from.
bool IsOfSameTable(const table::TableLocation& table, const table::Manifest& newest,
                   const table::Manifest& older);

// The newest version of the table that the handle is of. Nothing where that is not proven: another
// table may be at its place by now, or it is gone.
std::optional<Dataset> NewestOfSameTable(const Dataset& dataset);

// Whether an attempt that failed so may succeed on a newer version: the files of an old one go with
// a clean-up.
bool MayDoOnNewer(const arrow::Status& failure);

// Calls `attempt(version)` on this version and, after each conflict that allows it, on the newest
// one of the same table. Where none is known, that conflict is the result.
template <typename Attempt>
auto Persist(const Dataset& dataset, const Persistence& persistence, Attempt attempt)
    -> decltype(attempt(dataset)) {
  const auto start = SteadyNow();
  const auto deadline = start + std::chrono::milliseconds(persistence.retry_timeout_ms);
  std::chrono::nanoseconds first_attempt{};
  Dataset current = dataset;
  for (uint32_t i = 0;; ++i) {
    auto result = attempt(current);
    if (result.ok() || !MayDoOnNewer(result.status())) return result;
    const auto now = SteadyNow();
    if (i == persistence.conflict_retries || now >= deadline) return result;
    if (i == 0) first_attempt = now - start;
    ARROW_RETURN_NOT_OK(WaitToTryAgain(i, first_attempt, deadline, persistence.progress));
    const auto newest = NewestOfSameTable(current);
    const bool is_newer = newest && newest->version() != current.version();
    if (!newest || (!is_newer && !IsRetryable(result.status()))) return result;
    current = *newest;
  }
}

}  // namespace glaive::dataset
