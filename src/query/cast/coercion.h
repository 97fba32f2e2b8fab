#pragma once

#include <memory>
#include <string>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "query/sql/expression.h"

// Which types meet, as pylance (DataFusion) has it. Errors: InvalidInput naming types and values.
namespace glaive::query {

// "Int64", "Utf8", "Timestamp(ns)", "List(Int32)": the names in pylance's errors.
std::string TypeName(const arrow::DataType& type);
// The reverse. Errors: InvalidInput.
arrow::Result<std::shared_ptr<arrow::DataType>> TypeNamed(std::string_view name);

// A literal beside a column takes the column's type, if that can hold it as it is written: 7 fits a
// float column, 1.5 does not fit an int column, '7' is no number.
arrow::Result<std::shared_ptr<arrow::Scalar>> LiteralAs(
    const std::shared_ptr<arrow::Scalar>& literal, const std::shared_ptr<arrow::DataType>& type);

// A date, timestamp or text beside a column of timestamps as a value of the column's type, so that
// it is what both would be in their `common` type of timestamps; null if the column's unit does not
// have it exactly.
std::shared_ptr<arrow::Scalar> InstantAs(const std::shared_ptr<arrow::Scalar>& literal,
                                         const std::shared_ptr<arrow::DataType>& type,
                                         const arrow::DataType& common);

// What two values are cast to so that they can be compared, or null if they cannot. Numbers win
// over texts ('7' beside 1 is a number), and the coarser of two units of time.
std::shared_ptr<arrow::DataType> ComparisonType(const std::shared_ptr<arrow::DataType>& left,
                                                const std::shared_ptr<arrow::DataType>& right);
// The same for values of which one is the result, as in CASE: texts win over numbers.
std::shared_ptr<arrow::DataType> UnionType(const std::shared_ptr<arrow::DataType>& left,
                                           const std::shared_ptr<arrow::DataType>& right);
// For numbers alone: the narrowest type that holds both.
std::shared_ptr<arrow::DataType> NumberType(const std::shared_ptr<arrow::DataType>& left,
                                            const std::shared_ptr<arrow::DataType>& right);
// The decimal that holds all values of an integer type, or the type itself where it is a decimal.
std::shared_ptr<arrow::DataType> AsDecimal(const std::shared_ptr<arrow::DataType>& type);

bool IsNumber(const arrow::DataType& type);
bool IsText(const arrow::DataType& type);
bool IsList(const arrow::DataType& type);

}  // namespace glaive::query
