#include <utility>

#include "dataset/commit_verb.h"
#include "dataset/dataset_state.h"
#include "dataset/session_state.h"
#include "glaive/refs.h"

namespace glaive {

arrow::Result<Dataset> Restore(const Dataset& dataset, const RefOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto commit, dataset::CommitOptionsOf(
                                         {options.durability, options.transaction_properties, {}}));
  const Dataset::State& state = *dataset.state();
  // What was committed since the version was made is what is to be undone, not a conflict.
  ARROW_ASSIGN_OR_RAISE(auto latest, state.session->state().LatestManifest(state.location));
  return dataset::CommitVerb({state.location, std::move(latest), state.session},
                             table::Restore{.version = dataset.version(), .content = {}},
                             std::move(commit));
}

}  // namespace glaive
