#pragma once

#include <memory>
#include <string>

#include <arrow/datum.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type_fwd.h>

namespace glaive::query {

// A value as another type, as pylance casts: floats lose their fraction, decimals are rounded half
// away from zero, times lose what is finer than their unit, and times without a zone that get one
// are taken as local to it. What the type cannot hold is an error, or null where `is_try`. Errors:
// InvalidInput also where the types are not CanCast().
arrow::Result<arrow::Datum> CastValue(const arrow::Datum& value,
                                      const std::shared_ptr<arrow::DataType>& type, bool is_try);

// Whether values of the one type are cast to the other at all.
bool CanCast(const arrow::DataType& from, const arrow::DataType& to);
// The error where they are not.
arrow::Status CannotCast(const arrow::DataType& from, const arrow::DataType& to);

// The shortest decimal that reads back as the same number: 1.0, 0.00001, 1e16, NaN, -inf.
std::string FloatText(double value);
std::string FloatText(float value);

}  // namespace glaive::query
