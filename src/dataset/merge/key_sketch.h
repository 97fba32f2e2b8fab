#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace glaive::dataset {

// Tells most values that are not among some known ones, by one bit each: a Bloom filter of one
// hash. Reading it is thread safe.
class KeySketch {
 public:
  // Nothing for types that are not 4 or 8 bytes wide.
  static std::optional<KeySketch> Make(const arrow::DataType& type, uint64_t num_values);

  // REQUIRES: values of the type
  void Add(const arrow::Array& values);

  // The rows whose value in `column` may be a known one. Nulls are none.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Candidates(
      const std::shared_ptr<arrow::RecordBatch>& rows, int column) const;

 private:
  KeySketch(int width, int log2_bits);
  uint64_t BitOf(uint64_t value) const { return (value * 0x9E3779B97F4A7C15ULL) >> shift_; }
  template <typename Visit>
  void VisitValues(const arrow::Array& values, Visit visit) const;

  int width_;
  int shift_;
  std::vector<uint64_t> bits_;
};

}  // namespace glaive::dataset
