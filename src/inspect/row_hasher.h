#pragma once

#include <cstdint>
#include <vector>

#include <arrow/status.h>
#include <arrow/type_fwd.h>

#include "glaive/verify.h"

namespace glaive::inspect {

// The hash of each row of some columns, in order of the rows: two columns that are swapped make
// another row. Unsupported for types that have no values of their own to compare.
arrow::Result<std::vector<RowHash>> HashRows(const arrow::RecordBatch& batch, int num_columns);

// `hash` with the value behind it.
RowHash HashWith(RowHash hash, uint64_t value);

// A sum, so that order does not matter and a row that is there twice counts twice.
inline void AddTo(RowHash* sum, const RowHash& hash) {
  sum->low += hash.low;
  sum->high += hash.high;
}

}  // namespace glaive::inspect
