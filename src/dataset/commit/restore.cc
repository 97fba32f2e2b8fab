#include <utility>

#include "core/error.h"
#include "dataset/commit/verb.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/session_state.h"
#include "dataset/refs/restoration.h"
#include "glaive/refs.h"
#include "table/commit/same_table.h"

namespace glaive {
namespace {

// Its number may be another table's by now, or a later version's that a clean-up freed it for.
arrow::Status CheckHandle(const Dataset& dataset) {
  const dataset::DatasetState& state = *StateOf(dataset);
  ARROW_ASSIGN_OR_RAISE(const bool is_there, table::IsStillThere(state.location, *state.manifest));
  if (is_there) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(table::FindVersion(state.location, dataset.version()).status());
  return CommitConflict(Retry::kYes, dataset.version(),
                        "the handle's version is gone, and another one has its number: open the "
                        "table anew");
}

}  // namespace

arrow::Result<Dataset> Restore(const Dataset& dataset, const VersionOptions& options) {
  const dataset::DatasetState& state = *StateOf(dataset);
  // What was committed since the version was made is what is to be undone, not a conflict.
  ARROW_ASSIGN_OR_RAISE(auto latest, StateOf(*state.session)->LatestManifest(state.location));
  ARROW_RETURN_NOT_OK(CheckHandle(dataset));
  return dataset::CommitVerb(
      {state.location, std::move(latest), state.session},
      table::Change(table::Restore{dataset.version()}, {.content = state.manifest}), options);
}

}  // namespace glaive
