#include "dataset/row_change.h"

#include <algorithm>
#include <random>
#include <thread>

#include "core/error.h"
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
                             std::chrono::steady_clock::time_point deadline,
                             const ProgressCallback& progress) {
  constexpr uint32_t kMaxDoublings = 4;
  constexpr auto kLongestStep = std::chrono::milliseconds(50);
  const auto slots = uint32_t{1} << std::min(attempt, kMaxDoublings);
  std::random_device entropy;
  using Clock = std::chrono::steady_clock;
  const auto wait = std::chrono::duration_cast<Clock::duration>(first_attempt);
  const auto until = std::min(Clock::now() + wait * (entropy() % slots), deadline);
  while (true) {
    if (progress) ARROW_RETURN_NOT_OK(progress({}));
    const auto left = until - Clock::now();
    if (left <= Clock::duration::zero()) return arrow::Status::OK();
    std::this_thread::sleep_for(std::min<Clock::duration>(left, kLongestStep));
  }
}

}  // namespace glaive::dataset
