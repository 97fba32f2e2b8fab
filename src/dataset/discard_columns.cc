#include <algorithm>
#include <string>

#include "core/error.h"
#include "dataset/dataset_state.h"
#include "dataset/staged_state.h"
#include "glaive/staged_columns.h"
#include "table/manifest_file.h"

namespace glaive {
namespace {

bool Has(const wire::DataFragment& fragment, const std::string& path) {
  return std::ranges::any_of(fragment.files, [&](const wire::DataFile& file) {
    return !file.base_id && file.path == path;
  });
}

arrow::Result<bool> RefersTo(const table::Manifest& manifest, const StagedColumns::State& staged) {
  const auto view = manifest.fragments.Find(staged.fragment_id);
  if (!view) return false;
  ARROW_ASSIGN_OR_RAISE(const auto fragment, view->Parse());
  return Has(fragment, staged.file.path);
}

}  // namespace

// Only versions that followed the one that was read can have it. Each is looked at as it is: what
// brought the file there may be gone.
arrow::Status Discard(const Dataset& dataset, const StagedColumns& staged) {
  const StagedColumns::State& state = *staged.state();
  const table::TableLocation& location = dataset.state()->location;
  ARROW_ASSIGN_OR_RAISE(const auto entries, table::ListManifests(location));
  for (const table::VersionEntry& entry : entries) {
    if (entry.version <= state.read_version) continue;
    ARROW_ASSIGN_OR_RAISE(const auto manifest, table::ReadManifest(location, entry));
    ARROW_ASSIGN_OR_RAISE(const bool refers, RefersTo(*manifest, state));
    if (!refers) continue;
    return InvalidInput("what was staged for fragment {} is committed: version {} refers to {}",
                        state.fragment_id, entry.version, state.file.path);
  }
  return location.store->Delete(location.Path("data/" + state.file.path));
}

arrow::Status Discard(const StagedColumns& staged) {
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, Dataset::Open(staged.state()->uri));
  return Discard(dataset, staged);
}

}  // namespace glaive
