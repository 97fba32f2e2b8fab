#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <arrow/result.h>

#include "glaive/scan.h"
#include "glaive/version_options.h"

namespace glaive::inspect {

// The first row in which two streams are not the same, bit by bit.
struct RowDifference {
  uint64_t row = 0;                   // of the streams
  std::optional<uint64_t> address_a;  // the last column's value; nothing where `a` has ended
  std::optional<uint64_t> address_b;
  std::string what;  // "column x: 1 | 2"
};

// Compares all columns but the last, which is _rowaddr in both and only tells where a row lies.
arrow::Result<std::optional<RowDifference>> FirstDifference(ScanStream& a, ScanStream& b,
                                                            const ProgressCallback& progress);

}  // namespace glaive::inspect
