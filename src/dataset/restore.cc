#include <utility>

#include "dataset/commit_version.h"
#include "dataset/dataset_state.h"
#include "dataset/session_state.h"
#include "dataset/write_session.h"
#include "glaive/refs.h"

namespace glaive {

arrow::Result<Dataset> Restore(const Dataset& dataset, const RefOptions& options) {
  table::CommitOptions commit;
  ARROW_ASSIGN_OR_RAISE(commit.durability, dataset::Resolve(options.durability));
  commit.transaction_properties = options.transaction_properties;
  const Dataset::State& state = *dataset.state();
  // What was committed since the version was made is what is to be undone, not a conflict.
  ARROW_ASSIGN_OR_RAISE(auto latest, state.session->state().LatestManifest(state.location));
  ARROW_ASSIGN_OR_RAISE(
      auto manifest,
      dataset::CommitVersion(state.location, latest,
                             table::Restore{.version = dataset.version(), .content = {}}, commit));
  return dataset::MakeDataset(state.location, std::move(manifest), state.session);
}

}  // namespace glaive
