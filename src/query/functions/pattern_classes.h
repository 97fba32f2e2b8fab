#pragma once

#include <string>
#include <string_view>

#include <arrow/result.h>

namespace glaive::query {

struct UnicodePattern {
  std::string pattern;
  bool has_word_boundary = false;  // \b or \B, which are not translated
};

// A regular expression in which \w, \d and \s, outside and inside of brackets, are the letters,
// digits and blanks of Unicode, as pylance has them; RE2 knows those of ASCII only.
//
// Errors: Unsupported for classes that RE2 has no form of: sets within sets ([a[bc]], [a&&b]), and
// \W in a set that is negated or holds more.
arrow::Result<UnicodePattern> ToUnicodeClasses(std::string_view pattern);

}  // namespace glaive::query
