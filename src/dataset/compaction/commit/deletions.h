#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "table/rows/deletion_vector.h"

namespace glaive::dataset {

// A fragment that was rewritten without the rows deleted then, and what is deleted of it now.
struct OldRows {
  uint64_t physical_rows = 0;
  table::DeletionVectorPtr then;
  table::DeletionVectorPtr now;  // null: the fragment is gone, and all its rows with it
};

// Deletions that came too late to be left out, as those of the new fragments, which hold the rows
// live then one after the other, `new_rows` each:
//
//   old   a b c d | e f g    then: b     now: b d e     written: a c d | e f g
//   new   a c d e | f g      deleted: 2 3 |
//
// InvalidInput unless the new fragments hold as many rows as were live.
// REQUIRES: what was deleted then is deleted now
arrow::Result<std::vector<table::DeletionVector>> MapDeletions(std::span<const OldRows> old,
                                                               std::span<const uint64_t> new_rows);

}  // namespace glaive::dataset
