#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/result.h>

#include "dataset/scan/units.h"
#include "glaive/scan.h"
#include "query/bind/filter.h"

namespace glaive::dataset {

// A predicate bound to the columns of a version, those that no file holds included: _rowid,
// ..., but not _rowoffset, which only scans have.
arrow::Result<std::shared_ptr<const query::Filter>> BindFilter(const Dataset& dataset,
                                                               const Predicate& predicate);

// What expressions may name: the table's columns, _rowid and _rowaddr.
std::shared_ptr<arrow::Schema> ExpressionSchema(const Dataset& dataset);

// What a scan with these options reads; order_by and nearest are others' business. Errors:
// InvalidInput for options that cannot be.
arrow::Result<ScanPlan> PlanScan(const Dataset& dataset, const ScanOptions& options);

}  // namespace glaive::dataset
