#pragma once

#include <vector>

#include <arrow/status.h>

#include "core/ranges.h"
#include "read/snapshot.h"
#include "table/rows/row_ids.h"
#include "wire/fragment.h"

namespace glaive::dataset {

// Row ids and versions of rows that are rewritten as they are, in order and without the deleted
// ones. Of a table without stable row ids it holds nothing and gives nothing.
class CarriedLineage {
 public:
  // The live rows of a fragment come next.
  arrow::Status Add(const read::Snapshot& snapshot, const wire::DataFragment& fragment);

  // Hands what was added to the fragments that hold the rows now, in their order.
  // Internal unless these are as many rows.
  arrow::Status GiveTo(std::vector<wire::DataFragment>& fragments) const;

 private:
  bool stable_ = false;
  std::vector<RowRange> ids_;
  std::vector<table::VersionRun> created_;
  std::vector<table::VersionRun> updated_;
};

}  // namespace glaive::dataset
