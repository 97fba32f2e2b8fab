#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace glaive::query {

enum class Distance : uint8_t { kL2, kCosine, kDot, kHamming };

// How far each vector of a column is from one. Null vectors are NaN. REQUIRES: `vector` has as many
// values as the column's, of ComputedType(its value type); the distance fits that type.
std::vector<float> Distances(Distance distance, const arrow::FixedSizeListArray& column,
                             const arrow::Array& vector);

// What distances of vectors of that type are computed in; null for types without any.
std::shared_ptr<arrow::DataType> ComputedType(const arrow::DataType& values);

}  // namespace glaive::query
