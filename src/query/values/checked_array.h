#pragma once

#include <cassert>

#include <arrow/array/array_base.h>

namespace glaive::query {

// An array as the class of its type. The one place under src/query where arrays are cast down: an
// array that is of another type ends a debug build, instead of being read as what it is not.
template <typename ArrayType>
const ArrayType& ArrayAs(const arrow::Array& array) {
  assert(dynamic_cast<const ArrayType*>(&array) != nullptr);
  return static_cast<const ArrayType&>(array);
}

}  // namespace glaive::query
