#pragma once

#include <cstdint>
#include <string>

#include <arrow/array/data.h>
#include <arrow/status.h>

#include "core/ranges.h"
#include "encoding/structural/leaf/values.h"

// Values of a sparse page put where their slots are.
namespace glaive::encoding {

// Appends runs of values that were decoded one after the other. Borrows both.
class ValueSpread {
 public:
  ValueSpread(const arrow::ArrayData& values, LeafValues& leaf) : values_(values), leaf_(leaf) {}

  // REQUIRES: values [begin, end) are there
  arrow::Status Append(RowRange range);

 private:
  const arrow::ArrayData& values_;
  LeafValues& leaf_;
};

// Placeholders for slots without a value.
arrow::Status AppendNothing(uint64_t num_slots, LeafValues& leaf);
// One value, over and over.
arrow::Status AppendScalar(const std::string& scalar, uint64_t num_slots, LeafValues& leaf);

}  // namespace glaive::encoding
