#include "dataset/staging/state.h"

#include <utility>

#include "dataset/handle/table_identity.h"

namespace glaive::dataset {

arrow::Result<dataset::StagedColumnsState> Watch(const read::Snapshot& snapshot,
                                                 const wire::DataFragment& fragment,
                                                 wire::Schema fields,
                                                 const std::set<int32_t>& read_fields) {
  const table::Manifest& manifest = *snapshot.manifest;
  dataset::StagedColumnsState state;
  state.uri = AbsolutePath(snapshot.location);
  ARROW_ASSIGN_OR_RAISE(TableIdentity identity, IdentityOf(snapshot.location, manifest));
  state.snapshot = std::move(identity.transaction);
  state.read_version = identity.version;
  state.fragment_id = fragment.id;
  ARROW_ASSIGN_OR_RAISE(state.physical_rows, read::PhysicalRows(snapshot, fragment));
  if (!fragment.files.empty()) {
    state.anchor = fragment.files.front().path;
    state.anchor_base_id = fragment.files.front().base_id;
  }
  state.deletion_file = fragment.deletion_file;
  state.max_field_id = manifest.MaxFieldId();
  std::set<int32_t> written;
  wire::CollectFieldIds(fields.fields, &written);
  ARROW_ASSIGN_OR_RAISE(state.replaced, WitnessesOf(fragment, written, {manifest.path}));
  ARROW_ASSIGN_OR_RAISE(state.read, WitnessesOf(fragment, read_fields, {manifest.path}));
  state.read_fields = read_fields;
  state.schema = std::move(fields);
  return state;
}

}  // namespace glaive::dataset
