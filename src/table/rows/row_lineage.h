#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "core/ranges.h"
#include "table/rows/row_ids.h"
#include "wire/fragment.h"

// The row lineage that a fragment carries. Unsupported for what lies in its files and not in the
// manifest.
namespace glaive::table {

// Corrupt where a fragment has none.
arrow::Result<RowIdSequence> RowIdsOf(const wire::DataFragment& fragment, Location where);
// Rows that do not say were made by version 1.
arrow::Result<std::vector<VersionRun>> CreatedVersionsOf(const wire::DataFragment& fragment,
                                                         Location where);
// Rows that do not say were not changed since they were made.
arrow::Result<std::vector<VersionRun>> UpdatedVersionsOf(const wire::DataFragment& fragment,
                                                         Location where);

// `versions` with another one for some rows, or of some rows only. REQUIRES: rows that there are
std::vector<VersionRun> WithVersion(std::span<const VersionRun> versions,
                                    std::span<const RowRange> rows, uint64_t version);
std::vector<VersionRun> SelectRows(std::span<const VersionRun> versions,
                                   std::span<const RowRange> rows);

}  // namespace glaive::table
