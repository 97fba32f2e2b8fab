#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "core/error.h"
#include "query/sql/parser.h"

namespace glaive::query::sql {
namespace {

// Words that are no names of columns where an operand may stand.
constexpr std::array<std::string_view, 9> kReserved = {"AND",   "OR",      "IN",     "IS",   "LIKE",
                                                       "ILIKE", "BETWEEN", "SELECT", "WHERE"};

std::string ToLower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// Two digits a byte; an odd number of them has a zero before it.
std::optional<std::string> FromHex(std::string_view digits) {
  const std::string even = (digits.size() % 2 != 0 ? "0" : "") + std::string(digits);
  std::string bytes;
  for (size_t i = 0; i < even.size(); i += 2) {
    unsigned byte = 0;
    const char* end = even.data() + i + 2;
    const auto [at, error] = std::from_chars(even.data() + i, end, byte, 16);
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
  if (std::from_chars(text.data(), end, real).ec == std::errc::result_out_of_range) {
    real = std::strtod(text.c_str(), nullptr);  // 0 or infinite
  }
  return arrow::MakeScalar(real);
}

}  // namespace

arrow::Result<ExpressionPtr> Parser::ParseOperand() {
  const Token& token = Peek();
  switch (token.kind) {
    case TokenKind::kEnd: break;
    case TokenKind::kNumber: ++at_; return Make(Literal{NumberOf(token.text, false)});
    case TokenKind::kString: ++at_; return MakeString(token.text);
    case TokenKind::kHexString: {
      const auto bytes = FromHex(token.text);
      if (!bytes) return Unexpected("hex digits");
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

arrow::Result<ExpressionPtr> Parser::ParseSymbol() {
  if (AcceptSymbol("(")) {
    if (Peek().IsWord("SELECT")) return InvalidInput("subqueries are not supported: {}", text_);
    ARROW_ASSIGN_OR_RAISE(auto inner, ParseExpression(kLowest));
    ARROW_RETURN_NOT_OK(ExpectSymbol(")"));
    return inner;
  }
  if (AcceptSymbol("[")) return ParseArray();
  if (AcceptSymbol("-")) {
    if (Peek().kind == TokenKind::kNumber && !Peek(1).IsSymbol("::")) {
      return Make(Literal{NumberOf(tokens_[at_++].text, true)});
    }
    ARROW_ASSIGN_OR_RAISE(auto operand, ParseExpression(kSign));
    return MakeUnary(UnaryOperator::kNegate, std::move(operand));
  }
  return Unexpected("an expression");
}

arrow::Result<ExpressionPtr> Parser::ParseWord() {
  if (Accept("NOT")) {
    ARROW_ASSIGN_OR_RAISE(auto operand, ParseExpression(kNot));
    return MakeUnary(UnaryOperator::kNot, std::move(operand));
  }
  if (Accept("TRUE")) return Make(Literal{arrow::MakeScalar(true)});
  if (Accept("FALSE")) return Make(Literal{arrow::MakeScalar(false)});
  if (Accept("NULL")) return Make(Literal{std::make_shared<arrow::NullScalar>()});
  bool is_form = false;
  ARROW_ASSIGN_OR_RAISE(auto form, ParseForm(&is_form));
  if (is_form) return form;
  ARROW_ASSIGN_OR_RAISE(auto typed, ParseTypedLiteral());
  if (typed != nullptr) return typed;
  const bool is_call = Peek(1).IsSymbol("(");
  if (is_call && Accept("CAST")) return ParseCast(/*is_try=*/false);
  if (is_call && (Accept("TRY_CAST") || Accept("SAFE_CAST"))) return ParseCast(/*is_try=*/true);
  if (is_call && Peek().IsWord("EXISTS")) {
    return InvalidInput("subqueries are not supported: {}", text_);
  }
  if (Peek().IsWord("ARRAY") && Peek(1).IsSymbol("[")) {
    at_ += 2;
    return ParseArray();
  }
  for (const std::string_view word : kReserved) {
    if (Peek().IsWord(word)) return Unexpected("an expression");
  }
  return is_call ? ParseFunction() : ParseColumn();
}

arrow::Result<ExpressionPtr> Parser::ParseColumn() {
  Column column{{}, functions_ > 0};
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

// DATE '2024-01-01', DECIMAL(10, 2) '1.5': a type right before a string.
arrow::Result<ExpressionPtr> Parser::ParseTypedLiteral() {
  const bool takes_length = Peek(1).IsSymbol("(") && Peek(2).kind == TokenKind::kNumber;
  if (Peek(1).kind != TokenKind::kString && !takes_length) return nullptr;
  const size_t begin = at_;
  auto type = ParseType();
  if (!type.ok() || Peek().kind != TokenKind::kString) {
    at_ = begin;
    if (!takes_length) return type.status();
    return nullptr;
  }
  return Make(Cast{MakeString(tokens_[at_++].text), *std::move(type), /*is_try=*/false});
}

arrow::Result<ExpressionPtr> Parser::ParseArray() {
  Call call{"make_array", {}};
  if (!AcceptSymbol("]")) {
    ARROW_ASSIGN_OR_RAISE(call.arguments, ParseList("]"));
  }
  for (const ExpressionPtr& argument : call.arguments) {
    if (functions_ == 0 && !std::holds_alternative<Literal>(argument->node)) {
      return InvalidInput("Expected a literal value in array: {}", text_);
    }
  }
  return Make(std::move(call));
}

arrow::Result<ExpressionPtr> Parser::ParseCast(bool is_try) {
  ARROW_RETURN_NOT_OK(ExpectSymbol("("));
  ARROW_ASSIGN_OR_RAISE(auto operand, ParseExpression(kLowest));
  ARROW_RETURN_NOT_OK(Expect("AS"));
  ARROW_ASSIGN_OR_RAISE(auto type, ParseType());
  ARROW_RETURN_NOT_OK(ExpectSymbol(")"));
  return Make(Cast{std::move(operand), std::move(type), is_try});
}

arrow::Result<ExpressionPtr> Parser::ParseFunction() {
  Call call{ToLower(tokens_[at_].text), {}};
  at_ += 2;
  ++functions_;
  if (!AcceptSymbol(")")) {
    ARROW_ASSIGN_OR_RAISE(call.arguments, ParseList(")"));
  }
  --functions_;
  return Make(std::move(call));
}

arrow::Result<std::vector<ExpressionPtr>> Parser::ParseList(std::string_view end) {
  std::vector<ExpressionPtr> list;
  do {
    ARROW_ASSIGN_OR_RAISE(auto item, ParseExpression(kLowest));
    list.push_back(std::move(item));
  } while (AcceptSymbol(","));
  ARROW_RETURN_NOT_OK(ExpectSymbol(end));
  return list;
}

}  // namespace glaive::query::sql
