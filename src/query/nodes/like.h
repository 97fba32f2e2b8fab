#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "query/nodes/bound_expression.h"

namespace glaive::query {

// A pattern in which % stands for any characters and _ for one. An escape character takes their
// meaning from them, and from itself; the last character of a pattern is no escape.
class LikePattern {
 public:
  // REQUIRES: an escape of one character.
  LikePattern(std::string_view pattern, std::string_view escape, bool ignore_case);

  // Takes at most pattern times text steps.
  bool Matches(std::string_view text) const;

  bool ignores_case() const { return ignore_case_; }
  // The same for a text whose case was folded already, where case is ignored.
  bool MatchesFolded(std::string_view text) const;

 private:
  // So many characters, then these.
  struct Element {
    size_t skip = 0;
    std::string text;
  };
  // What stands between two %.
  using Segment = std::vector<Element>;

  void Append(std::string_view text);
  // Where a match that begins at the text's begin ends.
  static size_t MatchAt(std::string_view text, const Segment& segment);
  static bool MatchesEnd(std::string_view text, const Segment& segment);
  static size_t Find(std::string_view text, const Segment& segment, size_t* end);

  bool ignore_case_;
  std::vector<Segment> segments_;  // the first at the text's begin, the last at its end
};

// operand LIKE pattern, by LikePattern; the escape is the backslash where it is empty.
arrow::Result<BoundPtr> BindLike(BoundPtr operand, BoundPtr pattern, bool ignore_case,
                                 const std::string& escape);

}  // namespace glaive::query
