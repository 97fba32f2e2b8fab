#include "query/nodes/bound_nodes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <type_traits>

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "core/error.h"
#include "query/cast/cast.h"
#include "query/nodes/compare.h"
#include "query/values/select_rows.h"

namespace glaive::query {
namespace {

arrow::Result<std::shared_ptr<arrow::ArrayData>> AsArray(
    const arrow::Datum& value, const std::shared_ptr<arrow::DataType>& type, int64_t length) {
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum cast,
                        arrow::compute::Cast(value, arrow::compute::CastOptions::Unsafe(type)));
  if (!cast.is_scalar()) return cast.array();
  ARROW_ASSIGN_OR_RAISE(const auto array, arrow::MakeArrayFromScalar(*cast.scalar(), length));
  return array->data();
}

template <typename T>
arrow::Status FillRemainders(const arrow::ArrayData& dividend, const arrow::ArrayData& divisor,
                             const arrow::Array& nulls, T* out) {
  const T* a = dividend.GetValues<T>(1);
  const T* b = divisor.GetValues<T>(1);
  for (int64_t i = 0; i < dividend.length; ++i) {
    out[i] = T{};
    if (nulls.IsNull(i)) continue;
    if constexpr (std::is_floating_point_v<T>) {
      out[i] = std::fmod(a[i], b[i]);
    } else {
      if (b[i] == 0) return InvalidInput("Divide by zero error");
      // The one quotient that does not fit has no remainder.
      const bool overflows = std::is_signed_v<T> && b[i] == static_cast<T>(-1);
      out[i] = overflows ? T{0} : a[i] % b[i];
    }
  }
  return arrow::Status::OK();
}

// All integers of one signedness are computed as their widest, and floats as doubles.
std::shared_ptr<arrow::DataType> WidestLike(const arrow::DataType& type) {
  if (arrow::is_floating(type.id())) return arrow::float64();
  return arrow::is_signed_integer(type.id()) ? arrow::int64() : arrow::uint64();
}

}  // namespace

const LiteralNode* AsLiteral(const BoundPtr& node) {
  return dynamic_cast<const LiteralNode*>(node.get());
}

const ColumnNode* AsColumn(const BoundPtr& node) {
  return dynamic_cast<const ColumnNode*>(node.get());
}

bool IsNull(const BoundPtr& node) { return node->type()->id() == arrow::Type::NA; }

BoundPtr MakeLiteral(std::shared_ptr<arrow::Scalar> value) {
  return std::make_shared<LiteralNode>(std::move(value));
}

BoundPtr MakeKernel(Kernel kernel, std::vector<BoundPtr> arguments,
                    std::shared_ptr<arrow::DataType> type) {
  std::vector<arrow::Datum> literals;
  for (const BoundPtr& argument : arguments) {
    const LiteralNode* literal = AsLiteral(argument);
    if (literal == nullptr) break;
    literals.emplace_back(literal->value());
  }
  if (literals.size() == arguments.size()) {
    auto value = kernel(literals, 1);
    if (value.ok() && value->is_scalar()) return MakeLiteral(value->scalar());
    if (value.ok()) {
      auto scalar = value->make_array()->GetScalar(0);
      if (scalar.ok()) return MakeLiteral(*std::move(scalar));
    }
  }
  return std::make_shared<KernelNode>(std::move(kernel), std::move(arguments), std::move(type));
}

BoundPtr MakeCall(std::string function, std::vector<BoundPtr> arguments,
                  std::shared_ptr<arrow::DataType> type,
                  std::shared_ptr<const arrow::compute::FunctionOptions> options) {
  const Kernel kernel = [function = std::move(function), options = std::move(options)](
                            std::span<const arrow::Datum> values, int64_t) {
    return CallArrow(function, {values.begin(), values.end()}, options.get());
  };
  return MakeKernel(kernel, std::move(arguments), std::move(type));
}

BoundPtr MakeCast(BoundPtr node, const std::shared_ptr<arrow::DataType>& type, bool is_try) {
  if (node->type()->Equals(*type)) return node;
  const Kernel kernel = [type, is_try](std::span<const arrow::Datum> values, int64_t) {
    return CastValue(values[0], type, is_try);
  };
  return MakeKernel(kernel, {std::move(node)}, type);
}

arrow::Result<std::shared_ptr<arrow::Array>> ToArray(const arrow::Datum& value, int64_t num_rows) {
  if (!value.is_scalar()) return value.make_array();
  if (num_rows == 0) return arrow::MakeEmptyArray(value.type());  // Arrow repeats no list 0 times
  return arrow::MakeArrayFromScalar(*value.scalar(), num_rows);
}

arrow::Result<arrow::Datum> CallArrow(const std::string& function,
                                      const std::vector<arrow::Datum>& arguments,
                                      const arrow::compute::FunctionOptions* options) {
  arrow::compute::ExecContext context;
  context.set_use_threads(false);
  const auto is_half = [](const arrow::Datum& value) {
    return value.type()->id() == arrow::Type::HALF_FLOAT;
  };
  if (std::ranges::none_of(arguments, is_half)) {
    return arrow::compute::CallFunction(function, arguments, options, &context);
  }
  // Few kernels know halves. Each result is rounded to one again, as if they did.
  std::vector<arrow::Datum> wide = arguments;
  for (arrow::Datum& value : wide) {
    if (!is_half(value)) continue;
    ARROW_ASSIGN_OR_RAISE(value, CastValue(value, arrow::float32(), /*is_try=*/false));
  }
  ARROW_ASSIGN_OR_RAISE(arrow::Datum result,
                        arrow::compute::CallFunction(function, wide, options, &context));
  if (result.type()->id() != arrow::Type::FLOAT) return result;
  return CastValue(result, arrow::float16(), /*is_try=*/false);
}

arrow::Result<arrow::Datum> BoundExpression::Evaluate(const arrow::RecordBatch& batch) const {
  auto result = EvaluateOnce(batch, Rows::kAll);
  return result.ok() ? result : EvaluateOnce(batch, Rows::kOpen);
}

LiteralNode::LiteralNode(std::shared_ptr<arrow::Scalar> value)
    : BoundExpression(value->type), value_(std::move(value)) {}

arrow::Result<arrow::Datum> LiteralNode::EvaluateOnce(const arrow::RecordBatch&, Rows) const {
  return arrow::Datum(value_);
}

arrow::Result<arrow::Datum> ColumnNode::EvaluateOnce(const arrow::RecordBatch& batch, Rows) const {
  auto column = batch.GetColumnByName(name_);
  if (column == nullptr) return Internal("a filter got no column '{}'", name_);
  if (column->type_id() == arrow::Type::DICTIONARY) {
    return arrow::compute::Cast(arrow::Datum(std::move(column)), type());
  }
  return arrow::Datum(std::move(column));
}

arrow::Result<arrow::Datum> LocalNode::EvaluateOnce(const arrow::RecordBatch& batch, Rows) const {
  auto column = batch.GetColumnByName(name_);
  if (column == nullptr) return Internal("a part of an expression was not computed before its use");
  return arrow::Datum(std::move(column));
}

arrow::Result<arrow::Datum> LetNode::EvaluateOnce(const arrow::RecordBatch& batch,
                                                  Rows rows) const {
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum value, value_->EvaluateOnce(batch, rows));
  ARROW_ASSIGN_OR_RAISE(auto column, ToArray(value, batch.num_rows()));
  ARROW_ASSIGN_OR_RAISE(const auto with_value,
                        batch.AddColumn(batch.num_columns(), name_, std::move(column)));
  return body_->EvaluateOnce(*with_value, rows);
}

arrow::Result<arrow::Datum> KernelNode::EvaluateOnce(const arrow::RecordBatch& batch,
                                                     Rows rows) const {
  std::vector<arrow::Datum> arguments;
  for (const BoundPtr& argument : arguments_) {
    ARROW_ASSIGN_OR_RAISE(arrow::Datum value, argument->EvaluateOnce(batch, rows));
    arguments.push_back(std::move(value));
  }
  return kernel_(arguments, batch.num_rows());
}

CompareNode::CompareNode(sql::BinaryOperator op, BoundPtr left, BoundPtr right)
    : BoundExpression(arrow::boolean()),
      op_(op),
      left_(std::move(left)),
      right_(std::move(right)) {}

arrow::Result<arrow::Datum> CompareNode::EvaluateOnce(const arrow::RecordBatch& batch,
                                                      Rows rows) const {
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum left, left_->EvaluateOnce(batch, rows));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum right, right_->EvaluateOnce(batch, rows));
  return Compare(op_, left, right);
}

BetweenNode::BetweenNode(BoundPtr operand, BoundPtr low, BoundPtr high)
    : BoundExpression(arrow::boolean()),
      operand_(std::move(operand)),
      low_(std::move(low)),
      high_(std::move(high)) {}

arrow::Result<arrow::Datum> BetweenNode::EvaluateOnce(const arrow::RecordBatch& batch,
                                                      Rows rows) const {
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum operand, operand_->EvaluateOnce(batch, rows));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum low, low_->EvaluateOnce(batch, rows));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum high, high_->EvaluateOnce(batch, rows));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum above,
                        Compare(sql::BinaryOperator::kGreaterEqual, operand, low));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum below,
                        Compare(sql::BinaryOperator::kLessEqual, operand, high));
  return arrow::compute::KleeneAnd(above, below);
}

LogicalNode::LogicalNode(bool is_and, std::vector<BoundPtr> operands)
    : BoundExpression(arrow::boolean()), is_and_(is_and), operands_(std::move(operands)) {}

arrow::Result<arrow::Datum> LogicalNode::EvaluateOnce(const arrow::RecordBatch& batch,
                                                      Rows rows) const {
  return rows == Rows::kAll ? EvaluateAll(batch) : EvaluateOpen(batch);
}

arrow::Result<arrow::Datum> LogicalNode::EvaluateAll(const arrow::RecordBatch& batch) const {
  ARROW_ASSIGN_OR_RAISE(arrow::Datum result, operands_.front()->EvaluateOnce(batch, Rows::kAll));
  for (size_t i = 1; i < operands_.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum next, operands_[i]->EvaluateOnce(batch, Rows::kAll));
    ARROW_ASSIGN_OR_RAISE(result, is_and_ ? arrow::compute::KleeneAnd(result, next)
                                          : arrow::compute::KleeneOr(result, next));
  }
  return result;
}

arrow::Result<arrow::Datum> LogicalNode::EvaluateOpen(const arrow::RecordBatch& batch) const {
  const auto num_rows = static_cast<size_t>(batch.num_rows());
  std::vector<uint32_t> open(num_rows);
  std::iota(open.begin(), open.end(), 0);
  std::vector<bool> is_null(num_rows, false);
  std::vector<bool> values(num_rows, is_and_);
  std::shared_ptr<arrow::RecordBatch> selected = batch.Slice(0);
  for (const BoundPtr& operand : operands_) {
    if (open.empty()) break;
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum result, operand->EvaluateOnce(*selected, Rows::kOpen));
    ARROW_ASSIGN_OR_RAISE(const auto array, ToArray(result, selected->num_rows()));
    const auto& passes = static_cast<const arrow::BooleanArray&>(*array);
    std::vector<uint32_t> kept;  // positions in `selected`
    for (size_t i = 0; i < open.size(); ++i) {
      const auto position = static_cast<int64_t>(i);
      if (passes.IsNull(position)) {
        is_null[open[i]] = true;
      } else if (passes.Value(position) != is_and_) {
        is_null[open[i]] = false;
        values[open[i]] = !is_and_;
        continue;
      }
      kept.push_back(static_cast<uint32_t>(i));
    }
    if (kept.size() == open.size()) continue;
    ARROW_ASSIGN_OR_RAISE(selected, SelectRows(selected, kept));
    for (uint32_t& position : kept) position = open[position];
    open = std::move(kept);
  }
  arrow::BooleanBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(batch.num_rows()));
  for (size_t i = 0; i < num_rows; ++i) {
    if (is_null[i]) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(values[i]);
    }
  }
  ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
  return arrow::Datum(std::move(result));
}

arrow::Result<arrow::Datum> ModuloNode::EvaluateOnce(const arrow::RecordBatch& batch,
                                                     Rows rows) const {
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum left, dividend_->EvaluateOnce(batch, rows));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum right, divisor_->EvaluateOnce(batch, rows));
  const bool is_scalar = left.is_scalar() && right.is_scalar();
  const int64_t length = is_scalar ? 1 : batch.num_rows();
  const auto widest = WidestLike(*type());
  ARROW_ASSIGN_OR_RAISE(const auto dividend, AsArray(left, widest, length));
  ARROW_ASSIGN_OR_RAISE(const auto divisor, AsArray(right, widest, length));
  // Null where either is: a sum has that already.
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum sum,
                        arrow::compute::Add(arrow::Datum(dividend), arrow::Datum(divisor)));
  const std::shared_ptr<arrow::Array> nulls = sum.make_array();
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> values,
                        arrow::AllocateBuffer(length * static_cast<int64_t>(sizeof(uint64_t))));
  if (widest->id() == arrow::Type::DOUBLE) {
    ARROW_RETURN_NOT_OK(FillRemainders(*dividend, *divisor, *nulls,
                                       reinterpret_cast<double*>(values->mutable_data())));
  } else if (widest->id() == arrow::Type::INT64) {
    ARROW_RETURN_NOT_OK(FillRemainders(*dividend, *divisor, *nulls,
                                       reinterpret_cast<int64_t*>(values->mutable_data())));
  } else {
    ARROW_RETURN_NOT_OK(FillRemainders(*dividend, *divisor, *nulls,
                                       reinterpret_cast<uint64_t*>(values->mutable_data())));
  }
  // The sum is fresh: its validity starts at bit 0.
  const auto result = arrow::MakeArray(
      arrow::ArrayData::Make(widest, length, {nulls->null_bitmap(), values}, nulls->null_count()));
  if (is_scalar) {
    ARROW_ASSIGN_OR_RAISE(const auto scalar, result->GetScalar(0));
    return arrow::compute::Cast(arrow::Datum(scalar), arrow::compute::CastOptions::Unsafe(type()));
  }
  return arrow::compute::Cast(arrow::Datum(result), arrow::compute::CastOptions::Unsafe(type()));
}

}  // namespace glaive::query
