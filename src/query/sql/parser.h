#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "query/sql/expression.h"
#include "query/sql/token.h"

namespace glaive::query::sql {

// How tightly an operator binds what stands on its left; the operand on its right is read with the
// same, so that operators of one level group to the left.
enum Precedence : int {
  kLowest = 0,
  kOr = 5,
  kAnd = 10,
  kNot = 15,
  kIs = 17,
  kLike = 19,
  kCompare = 20,  // IN and BETWEEN too
  kBitOr = 21,
  kShift = 22,  // and ^
  kBitAnd = 23,
  kSum = 30,
  kProduct = 40,
  kSign = 49,
  kPostfix = 50,  // :: and []
};

// Reads one expression by recursive descent.
//
// SQL is read in two ways, as pylance does: an expression itself knows operators, casts, typed
// literals and functions; inside of a function's arguments CASE, intervals and SQL's own functions
// (EXTRACT, SUBSTRING, TRIM, ...) are known as well, types have more names, and the case of columns
// counts.
class Parser {
 public:
  Parser(std::string_view text, std::vector<Token> tokens)
      : text_(text), tokens_(std::move(tokens)) {}

  arrow::Result<ExpressionPtr> ParseAll();

 private:
  // sql_parser.cc: operators. Those that bind tighter than `precedence` are taken in.
  arrow::Result<ExpressionPtr> ParseExpression(Precedence precedence);
  Precedence NextPrecedence() const;
  arrow::Result<ExpressionPtr> ParseOperator(ExpressionPtr left);
  arrow::Result<ExpressionPtr> ParseChain(ExpressionPtr left, bool is_and);
  arrow::Result<ExpressionPtr> ParseIs(ExpressionPtr left);
  arrow::Result<ExpressionPtr> ParseIn(ExpressionPtr left);
  arrow::Result<ExpressionPtr> ParseBetween(ExpressionPtr left);
  arrow::Result<ExpressionPtr> ParseLike(ExpressionPtr left);
  arrow::Result<ExpressionPtr> ParseSubscript(ExpressionPtr left);

  // sql_operands.cc
  arrow::Result<ExpressionPtr> ParseOperand();
  arrow::Result<ExpressionPtr> ParseSymbol();
  arrow::Result<ExpressionPtr> ParseWord();
  arrow::Result<ExpressionPtr> ParseColumn();
  arrow::Result<ExpressionPtr> ParseTypedLiteral();  // null where there is none
  arrow::Result<ExpressionPtr> ParseArray();
  arrow::Result<ExpressionPtr> ParseCast(bool is_try);
  arrow::Result<ExpressionPtr> ParseFunction();
  arrow::Result<std::vector<ExpressionPtr>> ParseList(std::string_view end);

  // sql_forms.cc: what only arguments of functions may hold.
  arrow::Result<ExpressionPtr> ParseForm(bool* is_form);
  arrow::Result<ExpressionPtr> ParseNegativeCase(bool* is_form);
  arrow::Result<ExpressionPtr> ParseCase();
  arrow::Result<ExpressionPtr> ParseInterval();
  arrow::Result<ExpressionPtr> ParseExtract();
  arrow::Result<ExpressionPtr> ParseSubstring();
  arrow::Result<ExpressionPtr> ParseTrim();
  arrow::Result<ExpressionPtr> ParsePosition();

  // sql_types.cc
  arrow::Result<std::shared_ptr<arrow::DataType>> ParseType();
  arrow::Result<std::optional<int>> ParseLength();
  arrow::Result<std::shared_ptr<arrow::DataType>> ParseDecimalType();
  arrow::Result<std::shared_ptr<arrow::DataType>> ParseTimestampType();

  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool Accept(std::string_view keyword);
  bool AcceptSymbol(std::string_view symbol);
  arrow::Status Expect(std::string_view keyword);
  arrow::Status ExpectSymbol(std::string_view symbol);
  arrow::Status Unexpected(std::string_view expected) const;
  arrow::Status TooDeep() const;

  std::string_view text_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
  int functions_ = 0;  // that are around what is read
};

ExpressionPtr MakeUnary(UnaryOperator op, ExpressionPtr operand);
ExpressionPtr NegateIf(bool negated, ExpressionPtr expression);
ExpressionPtr MakeString(std::string text);

}  // namespace glaive::query::sql
