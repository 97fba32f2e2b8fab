#pragma once

#include <map>
#include <memory>
#include <string>

#include <arrow/type_fwd.h>

#include "glaive/dataset.h"
#include "glaive/session.h"
#include "read/snapshot.h"
#include "table/commit.h"

namespace glaive {

// What a handle holds: one version of one table. Immutable.
struct Dataset::State {
  table::TableLocation location;
  table::ManifestPtr manifest;
  std::shared_ptr<arrow::Schema> schema;
  std::shared_ptr<Session> session;
};

namespace dataset {

// A handle on a version that is at hand: what verbs return after a commit.
arrow::Result<Dataset> MakeDataset(table::TableLocation location, table::ManifestPtr manifest,
                                   std::shared_ptr<Session> session);

// What the handle sees, for what reads rows.
read::Snapshot SnapshotOf(const Dataset& dataset);

}  // namespace dataset
}  // namespace glaive
