#pragma once

#include <memory>

#include <arrow/array/data.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

// Callers' arrays in the form that the format keeps, however deep their parts lie: views as plain
// strings, extension types as their storage, dictionaries as the values they stand for where the
// table's column is none.
namespace glaive::dataset {

// The type that arrays of type `input` are brought to for a column of type `kept`. A part that is
// no other form of what is kept stays as it is, for the writer to refuse. Fields of structs meet by
// name.
std::shared_ptr<arrow::DataType> StoredType(const std::shared_ptr<arrow::DataType>& input,
                                            const arrow::DataType& kept);

// REQUIRES: `type` is StoredType of the array's type, and query::InitCompute(). Errors: an index
// error for dictionaries that lack a value; for strings that 32-bit offsets do not reach.
arrow::Result<std::shared_ptr<arrow::ArrayData>> ToStored(
    const std::shared_ptr<arrow::ArrayData>& data, const std::shared_ptr<arrow::DataType>& type);

}  // namespace glaive::dataset
