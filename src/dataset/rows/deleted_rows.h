#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "dataset/handle/new_files.h"
#include "read/snapshot.h"
#include "wire/fragment.h"

namespace glaive::dataset {

// What becomes of the fragments of rows that are hidden.
struct HiddenRows {
  std::vector<wire::DataFragment> updated_fragments;  // each with a new deletion file
  std::vector<uint64_t> removed_fragment_ids;         // of those with no row left
  NewFiles files;
};

// Writes deletion files that hide these rows beside those that are hidden already. Addresses
// (fragment id << 32 | physical row) ascend. A fragment that loses its last row gets no file.
arrow::Result<HiddenRows> HideRows(const read::Snapshot& snapshot,
                                   std::span<const uint64_t> addresses);

}  // namespace glaive::dataset
