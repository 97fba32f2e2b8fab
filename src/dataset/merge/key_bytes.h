#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <arrow/type_fwd.h>

// Values of keys as bytes.
namespace glaive::dataset {

// Appends what pylance's key filters hash of a value: integers as 8 bytes, strings and binaries as
// they are, the values of lists and structs each with a zero byte behind it. Values that pylance
// leaves out of its filters are appended as Arrow keeps them.
void AppendFilterBytes(const arrow::Array& values, int64_t row, std::string* out);

// Whether pylance puts values of this type into its filters.
bool IsInFilters(const arrow::DataType& type);

// Appends bytes that two values share only if they are equal.
void AppendUniqueBytes(const arrow::Array& values, int64_t row, std::string* out);

}  // namespace glaive::dataset
