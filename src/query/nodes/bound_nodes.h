#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/compute/api.h>
#include <arrow/compute/expression.h>

#include "query/nodes/bound_expression.h"

// What bound expressions are made of. Each is evaluated once for a batch, on whole columns.
namespace glaive::query {

class LiteralNode final : public BoundExpression {
 public:
  explicit LiteralNode(std::shared_ptr<arrow::Scalar> value);
  arrow::Result<arrow::Datum> EvaluateOnce(const arrow::RecordBatch& batch,
                                           Rows rows) const override;
  const std::shared_ptr<arrow::Scalar>& value() const { return value_; }

 private:
  std::shared_ptr<arrow::Scalar> value_;
};

// A column, or a field below structs by its dotted path. Dictionaries are decoded.
class ColumnNode final : public BoundExpression {
 public:
  ColumnNode(std::string name, std::shared_ptr<arrow::DataType> type, bool is_nested)
      : BoundExpression(std::move(type)), name_(std::move(name)), is_nested_(is_nested) {}
  arrow::Result<arrow::Datum> EvaluateOnce(const arrow::RecordBatch& batch,
                                           Rows rows) const override;
  const std::string& name() const { return name_; }
  bool is_nested() const { return is_nested_; }

 private:
  std::string name_;
  bool is_nested_;
};

// The value that a LetNode around it computed.
class LocalNode final : public BoundExpression {
 public:
  LocalNode(std::string name, std::shared_ptr<arrow::DataType> type)
      : BoundExpression(std::move(type)), name_(std::move(name)) {}
  arrow::Result<arrow::Datum> EvaluateOnce(const arrow::RecordBatch& batch,
                                           Rows rows) const override;

 private:
  std::string name_;
};

// Computes a value that `body` needs more than once, as one more column of the batch.
class LetNode final : public BoundExpression {
 public:
  // REQUIRES: a name that no column and no LetNode around this one has.
  LetNode(std::string name, BoundPtr value, BoundPtr body)
      : BoundExpression(body->type()),
        name_(std::move(name)),
        value_(std::move(value)),
        body_(std::move(body)) {}
  arrow::Result<arrow::Datum> EvaluateOnce(const arrow::RecordBatch& batch,
                                           Rows rows) const override;

 private:
  std::string name_;
  BoundPtr value_;
  BoundPtr body_;
};

// A function of whole columns. Its arguments are arrays of `num_rows` values, or scalars; where all
// are scalars, so may its result be.
using Kernel = std::function<arrow::Result<arrow::Datum>(std::span<const arrow::Datum> arguments,
                                                         int64_t num_rows)>;

class KernelNode final : public BoundExpression {
 public:
  KernelNode(Kernel kernel, std::vector<BoundPtr> arguments, std::shared_ptr<arrow::DataType> type)
      : BoundExpression(std::move(type)),
        kernel_(std::move(kernel)),
        arguments_(std::move(arguments)) {}
  arrow::Result<arrow::Datum> EvaluateOnce(const arrow::RecordBatch& batch,
                                           Rows rows) const override;

 private:
  Kernel kernel_;
  std::vector<BoundPtr> arguments_;
};

class CompareNode final : public BoundExpression {
 public:
  CompareNode(sql::BinaryOperator op, BoundPtr left, BoundPtr right);
  arrow::Result<arrow::Datum> EvaluateOnce(const arrow::RecordBatch& batch,
                                           Rows rows) const override;

 private:
  sql::BinaryOperator op_;
  BoundPtr left_;
  BoundPtr right_;
};

class BetweenNode final : public BoundExpression {
 public:
  BetweenNode(BoundPtr operand, BoundPtr low, BoundPtr high);
  arrow::Result<arrow::Datum> EvaluateOnce(const arrow::RecordBatch& batch,
                                           Rows rows) const override;

 private:
  BoundPtr operand_;
  BoundPtr low_;
  BoundPtr high_;
};

// AND and OR of SQL, where null means unknown.
class LogicalNode final : public BoundExpression {
 public:
  LogicalNode(bool is_and, std::vector<BoundPtr> operands);
  arrow::Result<arrow::Datum> EvaluateOnce(const arrow::RecordBatch& batch,
                                           Rows rows) const override;

 private:
  arrow::Result<arrow::Datum> EvaluateAll(const arrow::RecordBatch& batch) const;
  arrow::Result<arrow::Datum> EvaluateOpen(const arrow::RecordBatch& batch) const;

  bool is_and_;
  std::vector<BoundPtr> operands_;
};

// Whether a value is one of a set, which is hashed once.
class InSetNode final : public BoundExpression {
 public:
  // REQUIRES: values of the operand's type. x IN (1, NULL) is true or unknown, never false.
  static arrow::Result<BoundPtr> Make(BoundPtr operand, std::shared_ptr<arrow::Array> values);
  arrow::Result<arrow::Datum> EvaluateOnce(const arrow::RecordBatch& batch,
                                           Rows rows) const override;

 private:
  InSetNode(BoundPtr operand, arrow::compute::Expression test)
      : BoundExpression(arrow::boolean()), operand_(std::move(operand)), test_(std::move(test)) {}

  BoundPtr operand_;
  arrow::compute::Expression test_;  // of the one field "value"
};

// CASE WHEN: the value of the first branch whose condition is true. A branch is evaluated on the
// rows that take it and on no others, so that it may guard against errors.
class CaseNode final : public BoundExpression {
 public:
  struct Branch {
    BoundPtr when;
    BoundPtr then;
  };
  // REQUIRES: values of one type.
  CaseNode(std::vector<Branch> branches, BoundPtr otherwise)
      : BoundExpression(otherwise->type()),
        branches_(std::move(branches)),
        otherwise_(std::move(otherwise)) {}
  arrow::Result<arrow::Datum> EvaluateOnce(const arrow::RecordBatch& batch,
                                           Rows rows) const override;

 private:
  std::vector<Branch> branches_;
  BoundPtr otherwise_;
};

// The first value that is not null; the others are not evaluated where it is not needed.
class CoalesceNode final : public BoundExpression {
 public:
  // REQUIRES: one or more, of one type.
  explicit CoalesceNode(std::vector<BoundPtr> values)
      : BoundExpression(values.front()->type()), values_(std::move(values)) {}
  arrow::Result<arrow::Datum> EvaluateOnce(const arrow::RecordBatch& batch,
                                           Rows rows) const override;

 private:
  std::vector<BoundPtr> values_;
};

// The remainder, with the sign of the dividend; of integers or floats of one type.
class ModuloNode final : public BoundExpression {
 public:
  ModuloNode(BoundPtr dividend, BoundPtr divisor)
      : BoundExpression(dividend->type()),
        dividend_(std::move(dividend)),
        divisor_(std::move(divisor)) {}
  arrow::Result<arrow::Datum> EvaluateOnce(const arrow::RecordBatch& batch,
                                           Rows rows) const override;

 private:
  BoundPtr dividend_;
  BoundPtr divisor_;
};

// The literal that `node` is, or null.
const LiteralNode* AsLiteral(const BoundPtr& node);
const ColumnNode* AsColumn(const BoundPtr& node);
bool IsNull(const BoundPtr& node);  // of the type of NULL itself

BoundPtr MakeLiteral(std::shared_ptr<arrow::Scalar> value);
// What can be computed now is. An expression that fails is left for the rows that need it.
BoundPtr MakeKernel(Kernel kernel, std::vector<BoundPtr> arguments,
                    std::shared_ptr<arrow::DataType> type);
BoundPtr MakeCall(std::string function, std::vector<BoundPtr> arguments,
                  std::shared_ptr<arrow::DataType> type,
                  std::shared_ptr<const arrow::compute::FunctionOptions> options = nullptr);
// As another type, see CastValue.
BoundPtr MakeCast(BoundPtr node, const std::shared_ptr<arrow::DataType>& type, bool is_try = false);

// An array of that many values.
arrow::Result<std::shared_ptr<arrow::Array>> ToArray(const arrow::Datum& value, int64_t num_rows);
// A kernel of Arrow's on this thread.
arrow::Result<arrow::Datum> CallArrow(const std::string& function,
                                      const std::vector<arrow::Datum>& arguments,
                                      const arrow::compute::FunctionOptions* options = nullptr);

}  // namespace glaive::query
