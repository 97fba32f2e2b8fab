#include "dataset/row_change.h"

#include <algorithm>

#include "core/error.h"
#include "core/random.h"
#include "dataset/commit_verb.h"

namespace glaive::dataset {

arrow::Result<Dataset> CommitChange(const Dataset& dataset, table::Operation operation,
                                    const ChangeOptions& options, NewFiles& files) {
  ARROW_ASSIGN_OR_RAISE(auto commit, CommitOptionsOf(options));
  return CommitVerb(PlaceOf(dataset), std::move(operation), std::move(commit), &files);
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
