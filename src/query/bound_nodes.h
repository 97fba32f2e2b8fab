#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/compute/api.h>

#include "query/bound_expression.h"

// What bound expressions are made of. Each is evaluated once for a batch, on whole columns.
namespace glaive::query {

class LiteralNode final : public BoundExpression {
 public:
  explicit LiteralNode(std::shared_ptr<arrow::Scalar> value);
  arrow::Result<arrow::Datum> Evaluate(const arrow::RecordBatch& batch) const override;
  const std::shared_ptr<arrow::Scalar>& value() const { return value_; }

 private:
  std::shared_ptr<arrow::Scalar> value_;
};

class ColumnNode final : public BoundExpression {
 public:
  ColumnNode(std::string name, std::shared_ptr<arrow::DataType> type)
      : BoundExpression(std::move(type)), name_(std::move(name)) {}
  arrow::Result<arrow::Datum> Evaluate(const arrow::RecordBatch& batch) const override;

 private:
  std::string name_;
};

// A kernel of Arrow's.
class CallNode final : public BoundExpression {
 public:
  CallNode(std::string function, std::vector<BoundPtr> arguments,
           std::shared_ptr<arrow::DataType> type,
           std::shared_ptr<const arrow::compute::FunctionOptions> options = nullptr)
      : BoundExpression(std::move(type)),
        function_(std::move(function)),
        arguments_(std::move(arguments)),
        options_(std::move(options)) {}
  arrow::Result<arrow::Datum> Evaluate(const arrow::RecordBatch& batch) const override;

 private:
  std::string function_;
  std::vector<BoundPtr> arguments_;
  std::shared_ptr<const arrow::compute::FunctionOptions> options_;
};

class CompareNode final : public BoundExpression {
 public:
  CompareNode(sql::BinaryOperator op, BoundPtr left, BoundPtr right);
  arrow::Result<arrow::Datum> Evaluate(const arrow::RecordBatch& batch) const override;

 private:
  sql::BinaryOperator op_;
  BoundPtr left_;
  BoundPtr right_;
};

class BetweenNode final : public BoundExpression {
 public:
  BetweenNode(BoundPtr operand, BoundPtr low, BoundPtr high);
  arrow::Result<arrow::Datum> Evaluate(const arrow::RecordBatch& batch) const override;

 private:
  BoundPtr operand_;
  BoundPtr low_;
  BoundPtr high_;
};

// AND and OR of SQL, where null means unknown.
class LogicalNode final : public BoundExpression {
 public:
  LogicalNode(bool is_and, std::vector<BoundPtr> operands);
  arrow::Result<arrow::Datum> Evaluate(const arrow::RecordBatch& batch) const override;

 private:
  bool is_and_;
  std::vector<BoundPtr> operands_;
};

// The remainder, with the sign of the dividend; of integers or floats of one type.
class ModuloNode final : public BoundExpression {
 public:
  ModuloNode(BoundPtr dividend, BoundPtr divisor)
      : BoundExpression(dividend->type()),
        dividend_(std::move(dividend)),
        divisor_(std::move(divisor)) {}
  arrow::Result<arrow::Datum> Evaluate(const arrow::RecordBatch& batch) const override;

 private:
  BoundPtr dividend_;
  BoundPtr divisor_;
};

}  // namespace glaive::query
