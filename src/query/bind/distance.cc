#include "query/bind/distance.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include <arrow/type.h>
#include <arrow/util/float16.h>

namespace glaive::query {
namespace {

constexpr int kLanes = 16;

float ToFloat(float value) { return value; }
double ToFloat(double value) { return value; }
float ToFloat(uint16_t bits) { return arrow::util::Float16::FromBits(bits).ToFloat(); }

// Sums in lanes of their own, which the compiler can keep in vector registers.
template <typename Sum, typename Term>
Sum SumOf(int32_t size, const Term& term) {
  std::array<Sum, kLanes> lanes = {};
  int32_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[static_cast<size_t>(lane)] += term(i + lane);
  }
  Sum sum = 0;
  for (const Sum lane : lanes) sum += lane;
  for (; i < size; ++i) sum += term(i);
  return sum;
}

template <typename Sum, typename T>
Sum Between(Distance distance, const T* row, const Sum* vector, int32_t size, Sum norm) {
  switch (distance) {
    case Distance::kL2:
      return SumOf<Sum>(size, [&](int32_t i) {
        const Sum difference = ToFloat(row[i]) - vector[i];
        return difference * difference;
      });
    case Distance::kDot:
      return Sum{1} - SumOf<Sum>(size, [&](int32_t i) { return ToFloat(row[i]) * vector[i]; });
    default: {
      const Sum dot = SumOf<Sum>(size, [&](int32_t i) { return ToFloat(row[i]) * vector[i]; });
      const Sum own =
          SumOf<Sum>(size, [&](int32_t i) { return ToFloat(row[i]) * ToFloat(row[i]); });
      return Sum{1} - dot / (std::sqrt(own) * norm);
    }
  }
}

template <typename Sum, typename T>
void FillFloats(Distance distance, const arrow::FixedSizeListArray& column,
                const arrow::Array& vector, std::vector<float>& out) {
  const int32_t size = column.value_length();
  const T* values = column.values()->data()->GetValues<T>(1);
  const Sum* wanted = vector.data()->GetValues<Sum>(1);
  const Sum norm = std::sqrt(SumOf<Sum>(size, [&](int32_t i) { return wanted[i] * wanted[i]; }));
  for (int64_t row = 0; row < column.length(); ++row) {
    if (column.IsNull(row)) continue;
    out[static_cast<size_t>(row)] = static_cast<float>(
        Between<Sum, T>(distance, values + column.value_offset(row), wanted, size, norm));
  }
}

void FillBits(const arrow::FixedSizeListArray& column, const arrow::Array& vector,
              std::vector<float>& out) {
  const uint8_t* values = column.values()->data()->GetValues<uint8_t>(1);
  const uint8_t* wanted = vector.data()->GetValues<uint8_t>(1);
  for (int64_t row = 0; row < column.length(); ++row) {
    if (column.IsNull(row)) continue;
    const uint8_t* bytes = values + column.value_offset(row);
    int bits = 0;
    for (int32_t i = 0; i < column.value_length(); ++i) {
      bits += std::popcount(static_cast<uint8_t>(bytes[i] ^ wanted[i]));
    }
    out[static_cast<size_t>(row)] = static_cast<float>(bits);
  }
}

}  // namespace

std::vector<float> Distances(Distance distance, const arrow::FixedSizeListArray& column,
                             const arrow::Array& vector) {
  std::vector<float> out(static_cast<size_t>(column.length()),
                         std::numeric_limits<float>::quiet_NaN());
  switch (column.value_type()->id()) {
    case arrow::Type::HALF_FLOAT: FillFloats<float, uint16_t>(distance, column, vector, out); break;
    case arrow::Type::FLOAT: FillFloats<float, float>(distance, column, vector, out); break;
    case arrow::Type::DOUBLE: FillFloats<double, double>(distance, column, vector, out); break;
    default: FillBits(column, vector, out);
  }
  return out;
}

std::shared_ptr<arrow::DataType> ComputedType(const arrow::DataType& values) {
  switch (values.id()) {
    case arrow::Type::HALF_FLOAT:
    case arrow::Type::FLOAT: return arrow::float32();
    case arrow::Type::DOUBLE: return arrow::float64();
    case arrow::Type::UINT8: return arrow::uint8();
    default: return nullptr;
  }
}

}  // namespace glaive::query
