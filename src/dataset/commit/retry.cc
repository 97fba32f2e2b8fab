#include "dataset/commit/retry.h"

#include <algorithm>

#include "core/error.h"
#include "core/random.h"
#include "dataset/handle/dataset_state.h"
#include "table/commit/same_table.h"

namespace glaive::dataset {

bool MayDoOnNewer(const arrow::Status& failure) {
  return IsRetryable(failure) || KindOf(failure) == ErrorKind::kFileNotFound;
}

bool IsOfSameTable(const table::TableLocation& table, const table::Manifest& newest,
                   const table::Manifest& older) {
  if (table::AreRelated(newest, older)) return true;
  const auto witness = table::WitnessOf(table, older, std::nullopt);
  return witness.ok() &&
         (*witness == table::Witness::kSameTable || *witness == table::Witness::kReplaced);
}

std::optional<Dataset> NewestOfSameTable(const Dataset& dataset) {
  const auto newest = dataset.CheckoutLatest();
  if (!newest.ok()) return std::nullopt;
  const dataset::DatasetState& state = *StateOf(dataset);
  const table::Manifest& manifest = *StateOf(*newest)->manifest;
  if (!IsOfSameTable(state.location, manifest, *state.manifest)) return std::nullopt;
  return *newest;
}

arrow::Status WaitToTryAgain(uint32_t attempt, std::chrono::nanoseconds first_attempt,
                             SteadyTime deadline, const ProgressCallback& progress) {
  constexpr uint32_t kMaxDoublings = 4;
  constexpr auto kLongestStep = std::chrono::milliseconds(50);
  const auto slots = uint32_t{1} << std::min(attempt, kMaxDoublings);
  const auto until = std::min(SteadyNow() + first_attempt * RandomBelow(slots), deadline);
  while (true) {
    if (progress) ARROW_RETURN_NOT_OK(progress({}));
    const auto left = until - SteadyNow();
    if (left <= SteadyTime::duration::zero()) return arrow::Status::OK();
    SleepFor(std::min<SteadyTime::duration>(left, kLongestStep));
  }
}

}  // namespace glaive::dataset
