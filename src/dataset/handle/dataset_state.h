#pragma once

#include <atomic>
#include <memory>

#include <arrow/type_fwd.h>

#include "core/access.h"
#include "dataset/handle/row_index.h"
#include "glaive/dataset.h"
#include "glaive/session.h"
#include "read/snapshot.h"
#include "table/manifest/location.h"
#include "table/manifest/manifest.h"

namespace glaive::dataset {

// What a handle holds: one version of one table. Immutable, but for the index of its rows, which is
// made when it is first asked for.
struct DatasetState {
  DatasetState() = default;
  ~DatasetState() { delete row_index.load(); }
  DatasetState(const DatasetState&) = delete;
  DatasetState& operator=(const DatasetState&) = delete;

  table::TableLocation location;
  table::ManifestPtr manifest;
  std::shared_ptr<arrow::Schema> schema;
  std::shared_ptr<Session> session;
  mutable std::atomic<const RowIndex*> row_index = nullptr;
};

// A handle on a version that is at hand: what verbs return after a commit.
arrow::Result<Dataset> MakeDataset(table::TableLocation location, table::ManifestPtr manifest,
                                   std::shared_ptr<Session> session);

DatasetSummary SummaryOf(const table::FragmentTotals& totals);

// Borrowed from the handle.
arrow::Result<const RowIndex*> RowIndexOf(const Dataset& dataset);

// What the handle sees, for what reads rows.
read::Snapshot SnapshotOf(const Dataset& dataset);

}  // namespace glaive::dataset
