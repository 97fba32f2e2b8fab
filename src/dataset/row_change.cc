#include "dataset/row_change.h"

#include <algorithm>

#include "core/error.h"
#include "core/random.h"
#include "dataset/commit_version.h"
#include "dataset/dataset_state.h"
#include "dataset/write_session.h"
#include "table/commit.h"

namespace glaive::dataset {

arrow::Result<Dataset> CommitChange(const Dataset& dataset, table::Operation operation,
                                    const ChangeOptions& options, NewFiles& files) {
  table::CommitOptions commit;
  ARROW_ASSIGN_OR_RAISE(commit.durability, Resolve(options.durability));
  commit.transaction_properties = options.transaction_properties;
  commit.files_to_sync = files.paths();
  if (options.progress) commit.poll = [&] { return options.progress({}); };
  const Dataset::State& state = *dataset.state();
  auto manifest =
      dataset::CommitVersion(state.location, state.manifest, std::move(operation), commit);
  if (manifest.ok() || KindOf(manifest.status()) == ErrorKind::kCommitUnknown) files.Keep();
  ARROW_RETURN_NOT_OK(manifest.status());
  return MakeDataset(state.location, *std::move(manifest), state.session);
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
