#pragma once

#include <cstdint>
#include <memory>

#include <arrow/type_fwd.h>

namespace glaive::cli {

// The table of the demo: an int64 `id` that counts from 0 and a list of int16 values `feat`.
struct DemoTable {
  uint64_t num_fragments = 20;
  uint64_t rows_per_fragment = 300;
  uint64_t values_per_row = 20'000;
};

// Its rows, a batch for each fragment. The same values on every run.
std::shared_ptr<arrow::RecordBatchReader> DemoRows(const DemoTable& table);

}  // namespace glaive::cli
