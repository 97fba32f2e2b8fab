#pragma once

#include <cstdint>
#include <vector>

#include <arrow/result.h>

#include "glaive/dataset.h"
#include "glaive/scan.h"

namespace glaive {

/// The versions after `begin` up to and including `end`.
struct VersionSpan {
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// From the older to the newer of the handle's version and `version`.
VersionSpan SpanBetween(const Dataset& dataset, uint64_t version);

/// The span's numbers, ascending. NotFound for one that is not there.
arrow::Result<std::vector<uint64_t>> VersionsIn(const Dataset& dataset, const VersionSpan& span);

/// What to scan the handle's version with for the rows that came in the span: all columns, then
/// _rowid, _row_created_at_version and _row_last_updated_at_version. Tables without stable row ids
/// do not record when: all their rows count as of version 1.
ScanOptions InsertedRows(const Dataset& dataset, const VersionSpan& span);

/// The same for rows that were there before the span, and were changed in it.
ScanOptions UpdatedRows(const Dataset& dataset, const VersionSpan& span);

/// Ids of rows that are in the span's first version and not in its last, ascending.
///
/// Errors: InvalidInput for tables without stable row ids, and for spans that run backwards.
arrow::Result<std::vector<uint64_t>> DeletedRowIds(const Dataset& dataset, const VersionSpan& span);

}  // namespace glaive
