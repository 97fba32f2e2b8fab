#include "query/sql_parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "core/error.h"
#include "query/token.h"

namespace glaive::query::sql {
namespace {

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
  kSum = 30,
  kProduct = 40,
  kSign = 50,
};

constexpr int kMaxDepth = 256;

struct SymbolOperator {
  std::string_view symbol;
  BinaryOperator op;
  Precedence precedence;
};
constexpr std::array<SymbolOperator, 13> kOperators = {{
    {"=", BinaryOperator::kEqual, kCompare},
    {"==", BinaryOperator::kEqual, kCompare},
    {"!=", BinaryOperator::kNotEqual, kCompare},
    {"<>", BinaryOperator::kNotEqual, kCompare},
    {"<", BinaryOperator::kLess, kCompare},
    {"<=", BinaryOperator::kLessEqual, kCompare},
    {">", BinaryOperator::kGreater, kCompare},
    {">=", BinaryOperator::kGreaterEqual, kCompare},
    {"+", BinaryOperator::kAdd, kSum},
    {"-", BinaryOperator::kSubtract, kSum},
    {"*", BinaryOperator::kMultiply, kProduct},
    {"/", BinaryOperator::kDivide, kProduct},
    {"%", BinaryOperator::kModulo, kProduct},
}};

// Words that begin an expression and are no names.
constexpr std::array<std::string_view, 12> kNotBuilt = {
    "CASE", "CAST",   "TRY_CAST", "DATE",  "TIMESTAMP", "INTERVAL",
    "TIME", "EXISTS", "SELECT",   "ARRAY", "DECIMAL",   "EXTRACT"};

int DepthOf(const ExpressionPtr& expression) { return expression->depth; }

int DepthOf(const Literal&) { return 0; }
int DepthOf(const Column&) { return 0; }
int DepthOf(const Unary& node) { return DepthOf(node.operand); }
int DepthOf(const Binary& node) { return std::max(DepthOf(node.left), DepthOf(node.right)); }
int DepthOf(const Between& node) {
  return std::max({DepthOf(node.operand), DepthOf(node.low), DepthOf(node.high)});
}
int DepthOf(const Like& node) { return std::max(DepthOf(node.operand), DepthOf(node.pattern)); }
int DepthOf(const std::vector<ExpressionPtr>& list) {
  int depth = 0;
  for (const ExpressionPtr& item : list) depth = std::max(depth, item->depth);
  return depth;
}
int DepthOf(const Logical& node) { return DepthOf(node.operands); }
int DepthOf(const In& node) { return std::max(DepthOf(node.operand), DepthOf(node.list)); }

template <typename Node>
ExpressionPtr Make(Node node) {
  const int depth = DepthOf(node) + 1;
  return std::make_shared<const Expression>(Expression{std::move(node), depth});
}

ExpressionPtr MakeUnary(UnaryOperator op, ExpressionPtr operand) {
  return Make(Unary{op, std::move(operand)});
}

ExpressionPtr NegateIf(bool negated, ExpressionPtr expression) {
  return negated ? MakeUnary(UnaryOperator::kNot, std::move(expression)) : std::move(expression);
}

std::optional<std::string> FromHex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    unsigned byte = 0;
    const char* end = digits.data() + i + 2;
    const auto [at, error] = std::from_chars(digits.data() + i, end, byte, 16);
    if (error != std::errc() || at != end) return std::nullopt;
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

// -9223372036854775808 is an int64, though what follows its sign is not.
std::shared_ptr<arrow::Scalar> NumberOf(std::string_view digits, bool negative) {
  const std::string text = (negative ? "-" : "") + std::string(digits);
  const char* end = text.data() + text.size();
  int64_t integer = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, integer);
      error == std::errc() && at == end) {
    return arrow::MakeScalar(integer);
  }
  uint64_t positive = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, positive);
      error == std::errc() && at == end) {
    return arrow::MakeScalar(positive);
  }
  double real = 0;
  std::from_chars(text.data(), end, real);  // beyond the range of a double: 0 or the largest
  return arrow::MakeScalar(real);
}

class Parser {
 public:
  Parser(std::string_view text, std::vector<Token> tokens)
      : text_(text), tokens_(std::move(tokens)) {}

  arrow::Result<ExpressionPtr> ParseAll() {
    ARROW_ASSIGN_OR_RAISE(auto expression, ParseExpression(kLowest));
    if (Peek().kind != TokenKind::kEnd) return Unexpected("the end");
    return expression;
  }

 private:
  // Operators that bind tighter than `precedence` are taken in.
  arrow::Result<ExpressionPtr> ParseExpression(Precedence precedence) {
    if (++nesting_ > kMaxDepth) return TooDeep();
    ARROW_ASSIGN_OR_RAISE(ExpressionPtr left, ParseOperand());
    while (NextPrecedence() > precedence) {
      ARROW_ASSIGN_OR_RAISE(left, ParseOperator(std::move(left)));
      if (left->depth > kMaxDepth) return TooDeep();
    }
    --nesting_;
    return left;
  }

  Precedence NextPrecedence() const {
    const Token& token = Peek();
    for (const SymbolOperator& candidate : kOperators) {
      if (token.IsSymbol(candidate.symbol)) return candidate.precedence;
    }
    if (token.IsWord("OR")) return kOr;
    if (token.IsWord("AND")) return kAnd;
    if (token.IsWord("IS")) return kIs;
    if (token.IsWord("LIKE") || token.IsWord("ILIKE")) return kLike;
    if (token.IsWord("IN") || token.IsWord("BETWEEN")) return kCompare;
    if (token.IsWord("NOT")) {
      const Token& next = tokens_[at_ + 1];
      if (next.IsWord("LIKE") || next.IsWord("ILIKE")) return kLike;
      if (next.IsWord("NULL")) return kIs;
      if (next.IsWord("IN") || next.IsWord("BETWEEN")) return kCompare;
    }
    return kLowest;
  }

  arrow::Result<ExpressionPtr> ParseOperator(ExpressionPtr left) {
    for (const SymbolOperator& candidate : kOperators) {
      if (!Peek().IsSymbol(candidate.symbol)) continue;
      ++at_;
      ARROW_ASSIGN_OR_RAISE(auto right, ParseExpression(candidate.precedence));
      return Make(Binary{candidate.op, std::move(left), std::move(right)});
    }
    if (Peek().IsWord("OR")) return ParseChain(std::move(left), /*is_and=*/false);
    if (Peek().IsWord("AND")) return ParseChain(std::move(left), /*is_and=*/true);
    if (Accept("IS")) return ParseIs(std::move(left));
    const bool negated = Accept("NOT");
    if (Accept("NULL")) {
      return NegateIf(negated, MakeUnary(UnaryOperator::kIsNull, std::move(left)));
    }
    if (Accept("IN")) return ParseIn(std::move(left), negated);
    if (Accept("BETWEEN")) return ParseBetween(std::move(left), negated);
    const bool ignore_case = Accept("ILIKE");
    if (!ignore_case) ++at_;  // LIKE
    ARROW_ASSIGN_OR_RAISE(auto pattern, ParseExpression(kLike));
    if (Peek().IsWord("ESCAPE")) return Unsupported("ESCAPE is not built in filters: {}", text_);
    return NegateIf(negated, Make(Like{std::move(left), std::move(pattern), ignore_case}));
  }

  arrow::Result<ExpressionPtr> ParseChain(ExpressionPtr left, bool is_and) {
    Logical chain{is_and, {std::move(left)}};
    while (Accept(is_and ? "AND" : "OR")) {
      ARROW_ASSIGN_OR_RAISE(auto operand, ParseExpression(is_and ? kAnd : kOr));
      chain.operands.push_back(std::move(operand));
    }
    return Make(std::move(chain));
  }

  arrow::Result<ExpressionPtr> ParseIs(ExpressionPtr left) {
    const bool negated = Accept("NOT");
    if (Accept("NULL")) {
      return NegateIf(negated, MakeUnary(UnaryOperator::kIsNull, std::move(left)));
    }
    if (Accept("TRUE")) {
      return NegateIf(negated, MakeUnary(UnaryOperator::kIsTrue, std::move(left)));
    }
    if (Accept("FALSE")) {
      return NegateIf(negated, MakeUnary(UnaryOperator::kIsFalse, std::move(left)));
    }
    if (Accept("DISTINCT")) {
      if (!Accept("FROM")) return Unexpected("FROM");
      ARROW_ASSIGN_OR_RAISE(auto right, ParseExpression(kIs));
      return NegateIf(
          !negated, Make(Binary{BinaryOperator::kNotDistinct, std::move(left), std::move(right)}));
    }
    return Unexpected("NULL, TRUE, FALSE or DISTINCT FROM");
  }

  arrow::Result<ExpressionPtr> ParseIn(ExpressionPtr left, bool negated) {
    if (!AcceptSymbol("(")) return Unexpected("(");
    In in{std::move(left), {}};
    do {
      ARROW_ASSIGN_OR_RAISE(auto item, ParseExpression(kLowest));
      in.list.push_back(std::move(item));
    } while (AcceptSymbol(","));
    if (!AcceptSymbol(")")) return Unexpected(")");
    return NegateIf(negated, Make(std::move(in)));
  }

  arrow::Result<ExpressionPtr> ParseBetween(ExpressionPtr left, bool negated) {
    ARROW_ASSIGN_OR_RAISE(auto low, ParseExpression(kCompare));
    if (!Accept("AND")) return Unexpected("AND");
    ARROW_ASSIGN_OR_RAISE(auto high, ParseExpression(kCompare));
    return NegateIf(negated, Make(Between{std::move(left), std::move(low), std::move(high)}));
  }

  arrow::Result<ExpressionPtr> ParseOperand() {
    const Token& token = Peek();
    switch (token.kind) {
      case TokenKind::kEnd: break;
      case TokenKind::kNumber: ++at_; return Make(Literal{NumberOf(token.text, false)});
      case TokenKind::kString:
        ++at_;
        return Make(Literal{std::make_shared<arrow::StringScalar>(token.text)});
      case TokenKind::kHexString: {
        const auto bytes = FromHex(token.text);
        if (!bytes) return Unexpected("hex digits in pairs");
        ++at_;
        return Make(
            Literal{std::make_shared<arrow::BinaryScalar>(arrow::Buffer::FromString(*bytes))});
      }
      case TokenKind::kQuotedName: return ParseColumn();
      case TokenKind::kWord: return ParseWord();
      case TokenKind::kSymbol: return ParseSymbol();
    }
    return Unexpected("an expression");
  }

  arrow::Result<ExpressionPtr> ParseSymbol() {
    if (AcceptSymbol("(")) {
      ARROW_ASSIGN_OR_RAISE(auto inner, ParseExpression(kLowest));
      if (!AcceptSymbol(")")) return Unexpected(")");
      return inner;
    }
    if (AcceptSymbol("-")) {
      if (Peek().kind == TokenKind::kNumber) {
        return Make(Literal{NumberOf(tokens_[at_++].text, true)});
      }
      ARROW_ASSIGN_OR_RAISE(auto operand, ParseExpression(kSign));
      return MakeUnary(UnaryOperator::kNegate, std::move(operand));
    }
    return Unexpected("an expression");
  }

  arrow::Result<ExpressionPtr> ParseWord() {
    if (Accept("NOT")) {
      ARROW_ASSIGN_OR_RAISE(auto operand, ParseExpression(kNot));
      return MakeUnary(UnaryOperator::kNot, std::move(operand));
    }
    if (Accept("TRUE")) return Make(Literal{arrow::MakeScalar(true)});
    if (Accept("FALSE")) return Make(Literal{arrow::MakeScalar(false)});
    if (Accept("NULL")) return Make(Literal{std::make_shared<arrow::NullScalar>()});
    const Token& next = tokens_[at_ + 1];
    // "date '2024-01-01'" and "cast(...)", but a column may well be called date.
    const bool begins_more =
        next.IsSymbol("(") || next.kind == TokenKind::kString || Peek().IsWord("CASE");
    for (const std::string_view word : kNotBuilt) {
      if (Peek().IsWord(word) && begins_more) {
        return Unsupported("{} is not built in filters: {}", word, text_);
      }
    }
    if (next.IsSymbol("(")) {
      return Unsupported("the function '{}' is not built in filters: {}", Peek().text, text_);
    }
    for (const std::string_view word : {"AND", "OR", "IN", "IS", "LIKE", "ILIKE", "BETWEEN"}) {
      if (Peek().IsWord(word)) return Unexpected("an expression");
    }
    return ParseColumn();
  }

  arrow::Result<ExpressionPtr> ParseColumn() {
    Column column;
    do {
      const Token& token = Peek();
      if (token.kind != TokenKind::kWord && token.kind != TokenKind::kQuotedName) {
        return Unexpected("the name of a field");
      }
      column.path.push_back({token.text, token.kind == TokenKind::kQuotedName});
      ++at_;
    } while (AcceptSymbol("."));
    return Make(std::move(column));
  }

  const Token& Peek() const { return tokens_[at_]; }

  bool Accept(std::string_view keyword) {
    if (!Peek().IsWord(keyword)) return false;
    ++at_;
    return true;
  }

  bool AcceptSymbol(std::string_view symbol) {
    if (!Peek().IsSymbol(symbol)) return false;
    ++at_;
    return true;
  }

  arrow::Status Unexpected(std::string_view expected) const {
    const Token& token = Peek();
    const std::string found = token.kind == TokenKind::kEnd ? "its end" : "'" + token.text + "'";
    return InvalidInput("cannot read the filter: {} (expected {}, found {} at byte {})", text_,
                        expected, found, token.position);
  }

  arrow::Status TooDeep() const {
    return InvalidInput("the filter is nested more than {} levels deep: {}...", kMaxDepth,
                        text_.substr(0, 100));
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace

arrow::Result<ExpressionPtr> Parse(std::string_view text) {
  ARROW_ASSIGN_OR_RAISE(auto tokens, Tokenize(text));
  return Parser(text, std::move(tokens)).ParseAll();
}

}  // namespace glaive::query::sql
