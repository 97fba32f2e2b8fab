#include "query/nodes/like.h"

#include <memory>
#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bitmap_generate.h>
#include <arrow/util/bitmap_ops.h>

#include "core/error.h"
#include "query/cast/coercion.h"
#include "query/nodes/bound_nodes.h"
#include "query/values/letter_case.h"
#include "query/values/text_values.h"
#include "query/values/utf8.h"

namespace glaive::query {
namespace {

// A boolean of each row, by `test(row)`; `is_null(row)` where `may_be_null`.
template <typename Test, typename IsNull>
arrow::Result<arrow::Datum> TestRows(int64_t num_rows, bool may_be_null, const Test& test,
                                     const IsNull& is_null) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> validity,
                        may_be_null ? arrow::AllocateBitmap(num_rows)
                                    : arrow::Result<std::shared_ptr<arrow::Buffer>>(nullptr));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> bits, arrow::AllocateBitmap(num_rows));
  int64_t row = 0;
  if (may_be_null) {
    arrow::internal::GenerateBitsUnrolled(validity->mutable_data(), 0, num_rows,
                                          [&] { return !is_null(row++); });
    row = 0;
  }
  arrow::internal::GenerateBitsUnrolled(bits->mutable_data(), 0, num_rows, [&] {
    const int64_t at = row++;
    return (!may_be_null || !is_null(at)) && test(at);
  });
  return arrow::Datum(
      arrow::ArrayData::Make(arrow::boolean(), num_rows, {std::move(validity), std::move(bits)}));
}

arrow::Result<arrow::Datum> MatchOne(const arrow::Datum& values, const LikePattern& pattern,
                                     int64_t num_rows) {
  ARROW_ASSIGN_OR_RAISE(const auto array, ToArray(values, num_rows));
  const TextValues texts(*array);
  std::string folded;
  return TestRows(
      num_rows, array->null_count() > 0,
      [&](int64_t row) {
        if (!pattern.ignores_case()) return pattern.MatchesFolded(texts[row]);
        folded.clear();
        AppendFolded(texts[row], &folded);
        return pattern.MatchesFolded(folded);
      },
      [&](int64_t row) { return texts.IsNull(row); });
}

// With patterns of their own for each row.
arrow::Result<arrow::Datum> MatchRows(std::span<const arrow::Datum> sides, bool ignore_case,
                                      const std::string& escape, int64_t num_rows) {
  const TextValues texts(sides[0]);
  const TextValues patterns(sides[1]);
  return TestRows(
      num_rows, true,
      [&](int64_t row) {
        return LikePattern(patterns[row], escape, ignore_case).Matches(texts[row]);
      },
      [&](int64_t row) { return texts.IsNull(row) || patterns.IsNull(row); });
}

}  // namespace

LikePattern::LikePattern(std::string_view pattern, std::string_view escape, bool ignore_case)
    : ignore_case_(ignore_case), segments_(1) {
  while (!pattern.empty()) {
    const bool escaped = pattern.starts_with(escape) && pattern.size() > escape.size();
    if (escaped) pattern.remove_prefix(escape.size());
    const std::string_view character = pattern.substr(0, CharacterSize(pattern));
    pattern.remove_prefix(character.size());
    if (character == "%" && !escaped) {
      // Two in a row are no more than one.
      if (segments_.size() == 1 || !segments_.back().empty()) segments_.emplace_back();
    } else if (character == "_" && !escaped) {
      Segment& segment = segments_.back();
      if (segment.empty() || !segment.back().text.empty()) segment.emplace_back();
      ++segment.back().skip;
    } else {
      Append(character);
    }
  }
}

void LikePattern::Append(std::string_view text) {
  Segment& segment = segments_.back();
  if (segment.empty()) segment.emplace_back();
  if (ignore_case_) {
    AppendFolded(text, &segment.back().text);
  } else {
    segment.back().text.append(text);
  }
}

size_t LikePattern::MatchAt(std::string_view text, const Segment& segment) {
  size_t at = 0;
  for (const Element& element : segment) {
    for (size_t i = 0; i < element.skip; ++i) {
      if (at == text.size()) return std::string_view::npos;
      at += CharacterSize(text.substr(at));
    }
    if (!text.substr(at).starts_with(element.text)) return std::string_view::npos;
    at += element.text.size();
  }
  return at;
}

bool LikePattern::MatchesEnd(std::string_view text, const Segment& segment) {
  if (segment.empty()) return true;
  if (segment.size() == 1 && segment[0].skip == 0) return text.ends_with(segment[0].text);
  size_t characters = 0;
  for (const Element& element : segment) {
    characters += element.skip + CountCharacters(element.text);
  }
  size_t begin = text.size();
  for (; characters > 0 && begin > 0; --characters) {
    --begin;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  }
  return characters == 0 && MatchAt(text.substr(begin), segment) == text.size() - begin;
}

size_t LikePattern::Find(std::string_view text, const Segment& segment, size_t* end) {
  if (segment.size() == 1 && segment[0].skip == 0) {
    const size_t found = text.find(segment[0].text);
    if (found != std::string_view::npos) *end = found + segment[0].text.size();
    return found;
  }
  for (size_t begin = 0;; begin += CharacterSize(text.substr(begin))) {
    const size_t size = MatchAt(text.substr(begin), segment);
    if (size != std::string_view::npos) {
      *end = begin + size;
      return begin;
    }
    if (begin == text.size()) return std::string_view::npos;
  }
}

bool LikePattern::MatchesFolded(std::string_view text) const {
  const size_t begin = MatchAt(text, segments_.front());
  if (begin == std::string_view::npos) return false;
  text.remove_prefix(begin);
  if (segments_.size() == 1) return text.empty();
  for (size_t i = 1; i + 1 < segments_.size(); ++i) {
    // The first place that fits is the best: it leaves the most for those behind.
    size_t end = 0;
    if (Find(text, segments_[i], &end) == std::string_view::npos) return false;
    text.remove_prefix(end);
  }
  return MatchesEnd(text, segments_.back());
}

bool LikePattern::Matches(std::string_view text) const {
  if (!ignore_case_) return MatchesFolded(text);
  std::string folded;
  AppendFolded(text, &folded);
  return MatchesFolded(folded);
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
  if (const LiteralNode* literal = AsLiteral(pattern)) {
    if (!literal->value()->is_valid) return MakeLiteral(arrow::MakeNullScalar(arrow::boolean()));
    const auto& text = static_cast<const arrow::BaseBinaryScalar&>(*literal->value());
    const Kernel kernel = [compiled = LikePattern(text.view(), sign, ignore_case)](
                              std::span<const arrow::Datum> arguments, int64_t num_rows) {
      return MatchOne(arguments[0], compiled, num_rows);
    };
    return MakeKernel(kernel, {std::move(operand)}, arrow::boolean());
  }
  const Kernel kernel = [ignore_case, sign](std::span<const arrow::Datum> arguments,
                                            int64_t num_rows) {
    return MatchRows(arguments, ignore_case, sign, num_rows);
  };
  return MakeKernel(kernel, {std::move(operand), std::move(pattern)}, arrow::boolean());
}

}  // namespace glaive::query
