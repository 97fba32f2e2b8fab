#include "query/like.h"

#include <utility>

#include <arrow/builder.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "query/bound_nodes.h"
#include "query/coercion.h"
#include "query/text_values.h"
#include "query/utf8.h"

namespace glaive::query {
namespace {

// The same pattern with the backslash as its escape, as Arrow's kernel has it.
std::string WithBackslash(std::string_view pattern, std::string_view escape) {
  std::string out;
  while (!pattern.empty()) {
    if (pattern.starts_with(escape) && pattern.size() > escape.size()) {
      pattern.remove_prefix(escape.size());
      const std::string_view next = pattern.substr(0, CharacterSize(pattern));
      if (next == "%" || next == "_" || next == "\\") out += '\\';
      out += next;
      pattern.remove_prefix(next.size());
      continue;
    }
    if (pattern.front() == '\\') out += '\\';
    out += pattern.front();
    pattern.remove_prefix(1);
  }
  return out;
}

// With patterns of their own for each row.
arrow::Result<arrow::Datum> MatchRows(std::span<const arrow::Datum> arguments, int64_t num_rows,
                                      bool ignore_case, const std::string& escape) {
  std::vector<arrow::Datum> sides(arguments.begin(), arguments.end());
  for (arrow::Datum& side : sides) {
    if (!ignore_case) continue;
    ARROW_ASSIGN_OR_RAISE(side, CallArrow("utf8_lower", {side}));
  }
  const TextValues texts(sides[0]);
  const TextValues patterns(sides[1]);
  arrow::BooleanBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(num_rows));
  for (int64_t i = 0; i < num_rows; ++i) {
    if (texts.IsNull(i) || patterns.IsNull(i)) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(MatchesLike(texts[i], patterns[i], escape));
    }
  }
  ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
  return arrow::Datum(std::move(result));
}

}  // namespace

bool MatchesLike(std::string_view text, std::string_view pattern, std::string_view escape) {
  // Where to go on when a character does not fit: behind the last %, one character further.
  std::string_view retry_pattern;
  std::string_view retry_text;
  bool may_retry = false;
  while (true) {
    if (!pattern.empty() && pattern.front() == '%' && !pattern.starts_with(escape)) {
      pattern.remove_prefix(1);
      retry_pattern = pattern;
      retry_text = text;
      may_retry = true;
      continue;
    }
    if (text.empty() && pattern.empty()) return true;
    if (!text.empty() && !pattern.empty()) {
      std::string_view rest = pattern;
      const bool escaped = rest.starts_with(escape) && rest.size() > escape.size();
      if (escaped) rest.remove_prefix(escape.size());
      const std::string_view expected = rest.substr(0, CharacterSize(rest));
      const std::string_view found = text.substr(0, CharacterSize(text));
      if ((expected == "_" && !escaped) || expected == found) {
        pattern = rest.substr(expected.size());
        text.remove_prefix(found.size());
        continue;
      }
    }
    if (!may_retry || retry_text.empty()) return false;
    retry_text.remove_prefix(CharacterSize(retry_text));
    text = retry_text;
    pattern = retry_pattern;
  }
}

arrow::Result<BoundPtr> BindLike(BoundPtr operand, BoundPtr pattern, bool ignore_case,
                                 const std::string& escape) {
  const bool is_text = arrow::is_base_binary_like(operand->type()->id()) || IsNull(operand);
  if (!is_text || (!IsText(*pattern->type()) && !IsNull(pattern))) {
    return InvalidInput("There isn't a common type to coerce {} and {} in {} expression",
                        TypeName(*operand->type()), TypeName(*pattern->type()),
                        ignore_case ? "ILIKE" : "LIKE");
  }
  if (IsNull(pattern) || IsNull(operand)) {
    return MakeLiteral(arrow::MakeNullScalar(arrow::boolean()));
  }
  const std::string sign = escape.empty() ? "\\" : escape;
  if (const LiteralNode* text = AsLiteral(pattern)) {
    if (!text->value()->is_valid) return MakeLiteral(arrow::MakeNullScalar(arrow::boolean()));
    const std::string written = text->value()->ToString();
    return MakeCall("match_like", {std::move(operand)}, arrow::boolean(),
                    std::make_shared<arrow::compute::MatchSubstringOptions>(
                        sign == "\\" ? written : WithBackslash(written, sign), ignore_case));
  }
  if (!IsText(*operand->type())) operand = MakeCast(std::move(operand), arrow::utf8());
  const Kernel kernel = [ignore_case, sign](std::span<const arrow::Datum> arguments,
                                            int64_t num_rows) {
    return MatchRows(arguments, num_rows, ignore_case, sign);
  };
  return MakeKernel(kernel, {std::move(operand), std::move(pattern)}, arrow::boolean());
}

}  // namespace glaive::query
