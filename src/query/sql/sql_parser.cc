#include "query/sql/sql_parser.h"

#include <algorithm>
#include <array>
#include <utility>

#include <arrow/scalar.h>

#include "core/error.h"
#include "query/sql/parser.h"

namespace glaive::query::sql {
namespace {

constexpr int kMaxDepth = 256;

struct SymbolOperator {
  std::string_view symbol;
  BinaryOperator op;
  Precedence precedence;
};
constexpr std::array<SymbolOperator, 19> kOperators = {{
    {"=", BinaryOperator::kEqual, kCompare},     {"==", BinaryOperator::kEqual, kCompare},
    {"!=", BinaryOperator::kNotEqual, kCompare}, {"<>", BinaryOperator::kNotEqual, kCompare},
    {"<", BinaryOperator::kLess, kCompare},      {"<=", BinaryOperator::kLessEqual, kCompare},
    {">", BinaryOperator::kGreater, kCompare},   {">=", BinaryOperator::kGreaterEqual, kCompare},
    {"<<", BinaryOperator::kShiftLeft, kShift},  {">>", BinaryOperator::kShiftRight, kShift},
    {"|", BinaryOperator::kBitOr, kBitOr},       {"^", BinaryOperator::kBitXor, kShift},
    {"&", BinaryOperator::kBitAnd, kBitAnd},     {"+", BinaryOperator::kAdd, kSum},
    {"-", BinaryOperator::kSubtract, kSum},      {"*", BinaryOperator::kMultiply, kProduct},
    {"/", BinaryOperator::kDivide, kProduct},    {"%", BinaryOperator::kModulo, kProduct},
    {"||", BinaryOperator::kConcat, kProduct},
}};

const SymbolOperator* OperatorOf(const Token& token) {
  if (token.kind != TokenKind::kSymbol) return nullptr;
  const auto* found = std::ranges::find(kOperators, token.text, &SymbolOperator::symbol);
  return found == kOperators.end() ? nullptr : found;
}

bool IsLikeWord(const Token& token) { return token.IsWord("LIKE") || token.IsWord("ILIKE"); }
bool IsSetWord(const Token& token) { return token.IsWord("IN") || token.IsWord("BETWEEN"); }

}  // namespace

ExpressionPtr MakeUnary(UnaryOperator op, ExpressionPtr operand) {
  return Make(Unary{op, std::move(operand)});
}

ExpressionPtr NegateIf(bool negated, ExpressionPtr expression) {
  return negated ? MakeUnary(UnaryOperator::kNot, std::move(expression)) : std::move(expression);
}

ExpressionPtr MakeString(std::string text) {
  return Make(Literal{std::make_shared<arrow::StringScalar>(std::move(text))});
}

arrow::Result<ExpressionPtr> Parser::ParseAll() {
  ARROW_ASSIGN_OR_RAISE(auto expression, ParseExpression(kLowest));
  if (Peek().kind != TokenKind::kEnd) return Unexpected("the end");
  return expression;
}

arrow::Result<ExpressionPtr> Parser::ParseExpression(Precedence precedence) {
  if (++nesting_ > kMaxDepth) return TooDeep();
  ARROW_ASSIGN_OR_RAISE(ExpressionPtr left, ParseOperand());
  if (left->depth > kMaxDepth) return TooDeep();
  while (NextPrecedence() > precedence) {
    ARROW_ASSIGN_OR_RAISE(left, ParseOperator(std::move(left)));
    if (left->depth > kMaxDepth) return TooDeep();
  }
  --nesting_;
  return left;
}

Precedence Parser::NextPrecedence() const {
  const Token& token = Peek();
  if (const SymbolOperator* op = OperatorOf(token)) return op->precedence;
  if (token.kind == TokenKind::kSymbol) {
    if (token.IsSymbol("~")) return kBitAnd;  // to say that it is not supported
    return token.IsSymbol("::") || token.IsSymbol("[") ? kPostfix : kLowest;
  }
  if (token.IsWord("OR")) return kOr;
  if (token.IsWord("AND")) return kAnd;
  if (token.IsWord("IS")) return kIs;
  if (IsLikeWord(token)) return kLike;
  if (IsSetWord(token)) return kCompare;
  if (token.IsWord("NOT")) {
    if (IsLikeWord(Peek(1))) return kLike;
    if (Peek(1).IsWord("NULL")) return kIs;
    if (IsSetWord(Peek(1))) return kCompare;
  }
  return kLowest;
}

arrow::Result<ExpressionPtr> Parser::ParseOperator(ExpressionPtr left) {
  if (const SymbolOperator* op = OperatorOf(Peek())) {
    if (op->op >= BinaryOperator::kBitAnd && functions_ == 0) {
      return InvalidInput(
          "Operator {} is not supported outside of a function's arguments; coalesce(a {} b) is: {}",
          op->symbol, op->symbol, text_);
    }
    ++at_;
    ARROW_ASSIGN_OR_RAISE(auto right, ParseExpression(op->precedence));
    return Make(Binary{op->op, std::move(left), std::move(right)});
  }
  if (AcceptSymbol("[")) return ParseSubscript(std::move(left));
  if (AcceptSymbol("::")) {
    ARROW_ASSIGN_OR_RAISE(auto type, ParseType());
    return Make(Cast{std::move(left), std::move(type), /*is_try=*/false});
  }
  if (Peek().kind == TokenKind::kSymbol) {
    return InvalidInput("Operator {} is not supported: {}", Peek().text, text_);
  }
  if (Peek().IsWord("OR")) return ParseChain(std::move(left), /*is_and=*/false);
  if (Peek().IsWord("AND")) return ParseChain(std::move(left), /*is_and=*/true);
  if (Accept("IS")) return ParseIs(std::move(left));
  const bool negated = Accept("NOT");
  if (Accept("NULL")) {
    return NegateIf(negated, MakeUnary(UnaryOperator::kIsNull, std::move(left)));
  }
  ExpressionPtr test;
  if (Accept("IN")) {
    ARROW_ASSIGN_OR_RAISE(test, ParseIn(std::move(left)));
  } else if (Accept("BETWEEN")) {
    ARROW_ASSIGN_OR_RAISE(test, ParseBetween(std::move(left)));
  } else {
    ARROW_ASSIGN_OR_RAISE(test, ParseLike(std::move(left)));
  }
  return NegateIf(negated, std::move(test));
}

arrow::Result<ExpressionPtr> Parser::ParseChain(ExpressionPtr left, bool is_and) {
  Logical chain{is_and, {std::move(left)}};
  while (Accept(is_and ? "AND" : "OR")) {
    ARROW_ASSIGN_OR_RAISE(auto operand, ParseExpression(is_and ? kAnd : kOr));
    chain.operands.push_back(std::move(operand));
  }
  return Make(std::move(chain));
}

arrow::Result<ExpressionPtr> Parser::ParseIs(ExpressionPtr left) {
  const bool negated = Accept("NOT");
  // What is neither true nor false is unknown: null.
  if (Accept("NULL") || (functions_ > 0 && Accept("UNKNOWN"))) {
    return NegateIf(negated, MakeUnary(UnaryOperator::kIsNull, std::move(left)));
  }
  if (Accept("TRUE")) {
    return NegateIf(negated, MakeUnary(UnaryOperator::kIsTrue, std::move(left)));
  }
  if (Accept("FALSE")) {
    return NegateIf(negated, MakeUnary(UnaryOperator::kIsFalse, std::move(left)));
  }
  if (Accept("DISTINCT")) {
    ARROW_RETURN_NOT_OK(Expect("FROM"));
    ARROW_ASSIGN_OR_RAISE(auto right, ParseExpression(kIs));
    return NegateIf(!negated,
                    Make(Binary{BinaryOperator::kNotDistinct, std::move(left), std::move(right)}));
  }
  return Unexpected("NULL, TRUE, FALSE or DISTINCT FROM");
}

arrow::Result<ExpressionPtr> Parser::ParseIn(ExpressionPtr left) {
  ARROW_RETURN_NOT_OK(ExpectSymbol("("));
  ARROW_ASSIGN_OR_RAISE(auto list, ParseList(")"));
  return Make(In{std::move(left), std::move(list)});
}

arrow::Result<ExpressionPtr> Parser::ParseBetween(ExpressionPtr left) {
  ARROW_ASSIGN_OR_RAISE(auto low, ParseExpression(kCompare));
  ARROW_RETURN_NOT_OK(Expect("AND"));
  ARROW_ASSIGN_OR_RAISE(auto high, ParseExpression(kCompare));
  return Make(Between{std::move(left), std::move(low), std::move(high)});
}

arrow::Result<ExpressionPtr> Parser::ParseLike(ExpressionPtr left) {
  Like like{std::move(left), nullptr, Accept("ILIKE"), ""};
  if (!like.ignore_case) ++at_;  // LIKE
  ARROW_ASSIGN_OR_RAISE(like.pattern, ParseExpression(kLike));
  if (Accept("ESCAPE")) {
    if (Peek().kind != TokenKind::kString) return Unexpected("an escape character in quotes");
    like.escape = tokens_[at_++].text;
    const auto starts_character = [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; };
    if (std::ranges::count_if(like.escape, starts_character) != 1) {
      return InvalidInput("LIKE takes one character as its escape, not '{}': {}", like.escape,
                          text_);
    }
  }
  return Make(std::move(like));
}

arrow::Result<ExpressionPtr> Parser::ParseSubscript(ExpressionPtr left) {
  ARROW_ASSIGN_OR_RAISE(auto key, ParseExpression(kLowest));
  if (Peek().IsSymbol(":")) return InvalidInput("Slice subscript is not supported: {}", text_);
  ARROW_RETURN_NOT_OK(ExpectSymbol("]"));
  left = Make(Element{std::move(left), std::move(key)});
  while (AcceptSymbol(".")) {
    const Token& name = Peek();
    if (name.kind != TokenKind::kWord && name.kind != TokenKind::kQuotedName) {
      return Unexpected("the name of a field");
    }
    ++at_;
    left = Make(Element{std::move(left), MakeString(name.text)});
    if (left->depth > kMaxDepth) return TooDeep();
  }
  return left;
}

bool Parser::Accept(std::string_view keyword) {
  if (!Peek().IsWord(keyword)) return false;
  ++at_;
  return true;
}

bool Parser::AcceptSymbol(std::string_view symbol) {
  if (!Peek().IsSymbol(symbol)) return false;
  ++at_;
  return true;
}

arrow::Status Parser::Expect(std::string_view keyword) {
  return Accept(keyword) ? arrow::Status::OK() : Unexpected(keyword);
}

arrow::Status Parser::ExpectSymbol(std::string_view symbol) {
  return AcceptSymbol(symbol) ? arrow::Status::OK() : Unexpected(symbol);
}

arrow::Status Parser::Unexpected(std::string_view expected) const {
  const Token& token = Peek();
  const std::string found = token.kind == TokenKind::kEnd ? "its end" : "'" + token.text + "'";
  return InvalidInput("cannot read the filter: {} (expected {}, found {} at byte {})", text_,
                      expected, found, token.position);
}

arrow::Status Parser::TooDeep() const {
  return InvalidInput("the filter is nested more than {} levels deep: {}...", kMaxDepth,
                      text_.substr(0, 100));
}

arrow::Result<ExpressionPtr> Parse(std::string_view text) {
  ARROW_ASSIGN_OR_RAISE(auto tokens, Tokenize(text));
  return Parser(text, std::move(tokens)).ParseAll();
}

}  // namespace glaive::query::sql
