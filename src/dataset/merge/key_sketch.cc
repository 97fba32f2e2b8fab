#include "dataset/merge/key_sketch.h"

#include <algorithm>
#include <bit>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>

#include "query/values/select_rows.h"

namespace glaive::dataset {
namespace {

constexpr uint64_t kBitsPerValue = 16;

// Zero for types without one.
int WidthOf(const arrow::DataType& type) {
  const bool is_number = arrow::is_integer(type.id()) || arrow::is_temporal(type.id()) ||
                         type.id() == arrow::Type::FLOAT || type.id() == arrow::Type::DOUBLE;
  const int width = is_number ? type.byte_width() : 0;
  return width == 4 || width == 8 ? width : 0;
}

template <typename T, typename Visit>
void VisitAll(const arrow::ArrayData& data, Visit visit) {
  const T* values = data.GetValues<T>(1);
  const uint8_t* validity = data.GetValues<uint8_t>(0, 0);
  for (int64_t row = 0; row < data.length; ++row) {
    if (validity != nullptr && !arrow::bit_util::GetBit(validity, data.offset + row)) continue;
    visit(row, uint64_t{values[row]});
  }
}

}  // namespace

std::optional<KeySketch> KeySketch::Make(const arrow::DataType& type, uint64_t num_values) {
  constexpr uint64_t kMostValues = uint64_t{1} << 32;
  const int width = WidthOf(type);
  if (width == 0) return std::nullopt;
  const uint64_t bits = kBitsPerValue * std::clamp<uint64_t>(num_values, 64, kMostValues);
  return KeySketch(width, static_cast<int>(std::bit_width(bits - 1)));
}

KeySketch::KeySketch(int width, int log2_bits)
    : width_(width), shift_(64 - log2_bits), bits_(size_t{1} << (log2_bits - 6)) {}

template <typename Visit>
void KeySketch::VisitValues(const arrow::Array& values, Visit visit) const {
  if (width_ == 8) return VisitAll<uint64_t>(*values.data(), visit);
  VisitAll<uint32_t>(*values.data(), visit);
}

void KeySketch::Add(const arrow::Array& values) {
  VisitValues(values, [this](int64_t, uint64_t value) {
    const uint64_t bit = BitOf(value);
    bits_[bit / 64] |= uint64_t{1} << (bit % 64);
  });
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> KeySketch::Candidates(
    const std::shared_ptr<arrow::RecordBatch>& rows, int column) const {
  std::vector<uint32_t> positions(static_cast<size_t>(rows->num_rows()));
  size_t count = 0;
  VisitValues(*rows->column(column), [&](int64_t row, uint64_t value) {
    const uint64_t bit = BitOf(value);
    positions[count] = static_cast<uint32_t>(row);
    count += bits_[bit / 64] >> (bit % 64) & 1;
  });
  positions.resize(count);
  return query::SelectRows(rows, positions);
}

}  // namespace glaive::dataset
