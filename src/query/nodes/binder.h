#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "query/nodes/bound_nodes.h"
#include "query/sql/expression.h"

namespace glaive::query {

// Gives an expression's names their columns and its parts their types.
//
// Literals are fitted to columns in two ways, as in pylance. Where a comparison, arithmetic, IN or
// BETWEEN of a column stands at the top, or below nothing but AND and OR, a literal takes the
// column's type or is refused ("strict"). Everywhere else both sides meet in a common type.
class Binder {
 public:
  explicit Binder(const arrow::Schema& schema) : schema_(schema) {}

  arrow::Result<BoundPtr> Bind(const sql::Expression& expression, bool strict);
  std::vector<std::string> columns() && { return std::move(columns_); }

 private:
  // bind.cc
  arrow::Result<BoundPtr> BindNode(const sql::Literal& literal, bool strict);
  arrow::Result<BoundPtr> BindNode(const sql::Column& column, bool strict);
  arrow::Result<BoundPtr> BindNode(const sql::Unary& unary, bool strict);
  arrow::Result<BoundPtr> BindNode(const sql::Binary& binary, bool strict);
  arrow::Result<BoundPtr> BindNode(const sql::Logical& logical, bool strict);
  arrow::Result<BoundPtr> BindNode(const sql::In& in, bool strict);
  arrow::Result<BoundPtr> BindNode(const sql::Between& between, bool strict);
  arrow::Result<BoundPtr> BindNode(const sql::Like& like, bool strict);

  arrow::Result<std::shared_ptr<arrow::Field>> FindTop(const sql::Column::Part& part,
                                                       bool exactly) const;
  // A column, or a field below one, which is then read instead.
  BoundPtr ColumnOf(std::string name, const std::shared_ptr<arrow::DataType>& type, bool is_nested);
  // Literals in `node`, which stands beside `column`, take its type.
  arrow::Result<BoundPtr> BindBeside(const sql::Expression& node, const BoundPtr& column);
  arrow::Status Align(BoundPtr& left, BoundPtr& right) const;
  arrow::Result<BoundPtr> Comparison(sql::BinaryOperator op, BoundPtr left, BoundPtr right) const;
  arrow::Result<BoundPtr> NotDistinct(BoundPtr left, BoundPtr right);
  arrow::Result<BoundPtr> InList(BoundPtr operand, std::vector<BoundPtr> list);
  // What `build` makes of a value that it uses more than once, and that is computed once.
  template <typename Build>
  arrow::Result<BoundPtr> Let(BoundPtr value, const Build& build);

  // bind_values.cc
  arrow::Result<BoundPtr> BindNode(const sql::Cast& cast, bool strict);
  arrow::Result<BoundPtr> BindNode(const sql::Call& call, bool strict);
  arrow::Result<BoundPtr> BindNode(const sql::Element& element, bool strict);
  arrow::Result<BoundPtr> BindNode(const sql::Case& node, bool strict);
  // `operand`: what the conditions are compared to, or null.
  arrow::Result<BoundPtr> BindCase(const sql::Case& node, const BoundPtr& operand);
  arrow::Result<BoundPtr> Field(BoundPtr operand, const std::string& name);
  arrow::Result<std::vector<BoundPtr>> BindAll(const std::vector<sql::ExpressionPtr>& list);

  const arrow::Schema& schema_;
  std::vector<std::string> columns_;
  int num_locals_ = 0;
};

template <typename Build>
arrow::Result<BoundPtr> Binder::Let(BoundPtr value, const Build& build) {
  if (AsLiteral(value) != nullptr || AsColumn(value) != nullptr) return build(std::move(value));
  // No column has a name like that.
  std::string name = std::string("\0let", 4) + std::to_string(num_locals_++);
  ARROW_ASSIGN_OR_RAISE(BoundPtr body, build(std::make_shared<LocalNode>(name, value->type())));
  return std::make_shared<LetNode>(std::move(name), std::move(value), std::move(body));
}

// As a condition: a null is unknown. Errors: InvalidInput naming the operator that takes it.
arrow::Result<BoundPtr> AsBoolean(BoundPtr node, std::string_view op);

// + - * / % || << >> & | ^
arrow::Result<BoundPtr> BindArithmetic(sql::BinaryOperator op, BoundPtr left, BoundPtr right);
// << >> & | ^
arrow::Result<BoundPtr> BindBits(sql::BinaryOperator op, BoundPtr left, BoundPtr right);
arrow::Result<BoundPtr> BindNegation(BoundPtr operand);
// Of decimals, or of integers beside them.
arrow::Result<BoundPtr> BindDecimalArithmetic(sql::BinaryOperator op, BoundPtr left,
                                              BoundPtr right);
// Of dates, times and intervals; null where none of them is involved.
arrow::Result<BoundPtr> BindTimeArithmetic(sql::BinaryOperator op, const BoundPtr& left,
                                           const BoundPtr& right);

// By name, see functions.h.
arrow::Result<BoundPtr> BindFunction(const std::string& name, std::vector<BoundPtr> arguments);

}  // namespace glaive::query
