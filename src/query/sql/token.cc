#include "query/sql/token.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"

namespace glaive::query {
namespace {

constexpr std::array<std::string_view, 9> kLongSymbols = {
    "==", "!=", "<>", "<=", ">=", "||", "<<", ">>", "::"};
constexpr std::string_view kShortSymbols = "(),.+-*/%=<>[]:&|^~";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
char ToUpper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// Bytes of other scripts' letters count as letters.
bool StartsWord(char c) {
  const char upper = ToUpper(c);
  return (upper >= 'A' && upper <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool ContinuesWord(char c) { return StartsWord(c) || IsDigit(c) || c == '$'; }

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view sql) : sql_(sql) {}

  arrow::Result<std::vector<Token>> Run() {
    std::vector<Token> tokens;
    do {
      ARROW_RETURN_NOT_OK(SkipBlanks());
      ARROW_ASSIGN_OR_RAISE(Token token, Next());
      tokens.push_back(std::move(token));
    } while (tokens.back().kind != TokenKind::kEnd);
    return tokens;
  }

 private:
  arrow::Result<Token> Next() {
    const size_t begin = at_;
    if (at_ == sql_.size()) return Token{TokenKind::kEnd, "", begin};
    const char c = sql_[at_];
    if (c == '\'' || c == '"') return Quoted(TokenKind::kString, c, "string");
    if (c == '`') return Quoted(TokenKind::kQuotedName, c, "quoted name");
    if ((c == 'X' || c == 'x') && Peek(1) == '\'') {
      ++at_;
      return Quoted(TokenKind::kHexString, '\'', "hex string");
    }
    if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) return Number();
    if (StartsWord(c)) {
      while (at_ < sql_.size() && ContinuesWord(sql_[at_])) ++at_;
      return Token{TokenKind::kWord, std::string(sql_.substr(begin, at_ - begin)), begin};
    }
    return Symbol();
  }

  arrow::Status SkipBlanks() {
    while (at_ < sql_.size()) {
      if (IsSpace(sql_[at_])) {
        ++at_;
      } else if (sql_[at_] == '-' && Peek(1) == '-') {
        at_ = std::min(sql_.find('\n', at_), sql_.size());
      } else if (sql_[at_] == '/' && Peek(1) == '*') {
        const size_t end = sql_.find("*/", at_ + 2);
        if (end == std::string_view::npos) {
          return InvalidInput("a comment is not closed in the filter: {}", sql_);
        }
        at_ = end + 2;
      } else {
        break;
      }
    }
    return arrow::Status::OK();
  }

  // A quote inside is written twice.
  arrow::Result<Token> Quoted(TokenKind kind, char quote, std::string_view what) {
    Token token{kind, "", at_++};
    while (at_ < sql_.size()) {
      const char c = sql_[at_++];
      if (c != quote) {
        token.text.push_back(c);
      } else if (at_ < sql_.size() && sql_[at_] == quote) {
        token.text.push_back(quote);
        ++at_;
      } else {
        return token;
      }
    }
    return InvalidInput("a {} is not closed in the filter: {}", what, sql_);
  }

  arrow::Result<Token> Number() {
    const size_t begin = at_;
    Token token{TokenKind::kNumber, "", begin};
    const auto digits = [&] {
      while (IsDigit(Peek(0))) token.text.push_back(sql_[at_++]);
    };
    digits();
    if (Peek(0) == '.') {
      token.text.push_back(sql_[at_++]);
      digits();
    }
    const bool is_signed = Peek(1) == '+' || Peek(1) == '-';
    if (ToUpper(Peek(0)) == 'E' && IsDigit(Peek(is_signed ? 2 : 1))) {
      token.text.push_back(sql_[at_++]);
      if (is_signed) token.text.push_back(sql_[at_++]);
      digits();
    }
    if (ContinuesWord(Peek(0))) {
      while (ContinuesWord(Peek(0))) ++at_;
      return InvalidInput("'{}' is not a number in the filter: {}", sql_.substr(begin, at_ - begin),
                          sql_);
    }
    return token;
  }

  arrow::Result<Token> Symbol() {
    const std::string_view two = sql_.substr(at_, 2);
    const bool is_long = std::ranges::find(kLongSymbols, two) != kLongSymbols.end();
    if (!is_long && kShortSymbols.find(sql_[at_]) == std::string_view::npos) {
      return InvalidInput("unexpected '{}' in the filter: {}", sql_[at_], sql_);
    }
    Token token{TokenKind::kSymbol, std::string(sql_.substr(at_, is_long ? 2 : 1)), at_};
    at_ += token.text.size();
    return token;
  }

  char Peek(size_t ahead) const { return at_ + ahead < sql_.size() ? sql_[at_ + ahead] : '\0'; }

  std::string_view sql_;
  size_t at_ = 0;
};

}  // namespace

bool Token::IsWord(std::string_view upper_case) const {
  return kind == TokenKind::kWord &&
         std::ranges::equal(text, upper_case, [](char a, char b) { return ToUpper(a) == b; });
}

arrow::Result<std::vector<Token>> Tokenize(std::string_view sql) { return Tokenizer(sql).Run(); }

}  // namespace glaive::query
