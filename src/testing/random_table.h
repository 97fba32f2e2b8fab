#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include <arrow/type_fwd.h>

namespace glaive::testing {

struct RandomRows {
  int64_t num_rows = 100;
  double nulls = 0.1;          // at every nullable level
  int64_t max_length = 6;      // of lists and strings
  bool hidden_values = false;  // null lists and strings own items and bytes
};

// Rows of every kind that is written: numbers, booleans, strings, lists, fixed-size lists and
// structs, nullable and not, some nested.
std::shared_ptr<arrow::Schema> RandomSchema();
std::shared_ptr<arrow::RecordBatch> RandomBatch(const RandomRows& rows, std::mt19937_64& random);

// The batch in slices of random lengths, empty ones included.
std::vector<std::shared_ptr<arrow::RecordBatch>> CutAtRandom(
    const std::shared_ptr<arrow::RecordBatch>& batch, std::mt19937_64& random);

}  // namespace glaive::testing
