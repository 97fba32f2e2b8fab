#pragma once

#include <memory>
#include <string>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "query/sql_expression.h"

// Which types meet, as pylance (DataFusion) has it. Errors: InvalidInput naming types and values.
namespace glaive::query {

// "Int64", "Utf8": the names in pylance's errors.
std::string TypeName(const arrow::DataType& type);

// A literal beside a column takes the column's type, if that can hold it as it is written: 7 fits a
// float column, 1.5 does not fit an int column, '7' is no number.
arrow::Result<std::shared_ptr<arrow::Scalar>> LiteralAs(
    const std::shared_ptr<arrow::Scalar>& literal, const std::shared_ptr<arrow::DataType>& type);

// What both sides of a comparison are cast to. Null for decimals beside other exact numbers, which
// the kernels bring together themselves.
arrow::Result<std::shared_ptr<arrow::DataType>> ComparisonType(
    const std::shared_ptr<arrow::DataType>& left, const std::shared_ptr<arrow::DataType>& right);

// What both sides of an arithmetic operator are cast to; overflow wraps in it.
arrow::Result<std::shared_ptr<arrow::DataType>> ArithmeticType(
    sql::BinaryOperator op, const std::shared_ptr<arrow::DataType>& left,
    const std::shared_ptr<arrow::DataType>& right);

}  // namespace glaive::query
