#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/result.h>

#include "core/ranges.h"
#include "glaive/verify.h"
#include "read/projection.h"
#include "read/snapshot.h"
#include "wire/fragment.h"

namespace glaive::inspect {

// What looking at one fragment gave.
struct FragmentCheck {
  std::vector<Finding> findings;
  uint64_t num_data_files = 0;
  uint64_t num_deletion_files = 0;
  uint64_t physical_rows = 0;
  uint64_t live_rows = 0;
  std::vector<RowRange> live_row_ids;  // on tables with stable row ids, in order of the rows
};

// An error of the engine as a finding. What says that a file is damaged or missing is an error;
// what this build cannot read, a warning.
Finding FindingOf(const arrow::Status& status, std::optional<uint64_t> fragment_id);

// Whether the check cannot go on: stopped, or out of memory.
bool EndsCheck(const arrow::Status& status);

// Sizes and ends of all files, deletions, row ids: all but the values. Any thread. Errors: only
// those of EndsCheck.
arrow::Result<FragmentCheck> CheckFragment(const read::Snapshot& snapshot,
                                           const wire::DataFragment& fragment,
                                           const std::shared_ptr<const read::Projection>& columns);

// Decodes some rows of a fragment, deleted ones too, and adds what is wrong with them. Any thread.
arrow::Status DecodeRows(const read::Snapshot& snapshot, const wire::DataFragment& fragment,
                         const std::shared_ptr<const read::Projection>& columns, RowRange rows,
                         std::vector<Finding>* findings);

}  // namespace glaive::inspect
