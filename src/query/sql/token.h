#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

namespace glaive::query {

enum class TokenKind : uint8_t {
  kEnd,
  kWord,        // a keyword or a bare identifier
  kQuotedName,  // `name`
  kString,      // 'text' and, as pylance has it, "text"
  kHexString,   // X'6162'
  kNumber,
  kSymbol,  // one operator or punctuation mark: ( ) , . + - * / % = == != <> < <= > >= || << >> ::
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;     // without quotes, escapes resolved
  size_t position = 0;  // of its first byte in the SQL text

  // Keywords are told from names by where they stand, whatever their case.
  bool IsWord(std::string_view upper_case) const;
  bool IsSymbol(std::string_view symbol) const {
    return kind == TokenKind::kSymbol && text == symbol;
  }
};

// The tokens of an expression, the last one kEnd. Comments are passed over. Errors: InvalidInput
// that quotes the text.
arrow::Result<std::vector<Token>> Tokenize(std::string_view sql);

}  // namespace glaive::query
