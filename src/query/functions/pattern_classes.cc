#include "query/functions/pattern_classes.h"

#include "core/error.h"

namespace glaive::query {
namespace {

// What stands for a class within brackets. Letters are what is alphabetic: letters, numbers that
// are letters, marks, and letters in circles and squares; joiners belong to words.
constexpr std::string_view kWord = R"(\pL\pM\p{Nl}\p{Nd}\p{Pc}\x{200C}\x{200D}\x{24B6}-\x{24E9})"
                                   R"(\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189})";
constexpr std::string_view kBlank =
    R"(\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";
constexpr std::string_view kNoBlank =
    R"(\x{0}-\x{8}\x{E}-\x{1F}!-\x{84}\x{86}-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF})"
    R"(\x{200B}-\x{2027}\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{10FFFF})";

// Empty: none of the classes.
std::string_view InBrackets(char letter) {
  switch (letter) {
    case 'w': return kWord;
    case 'd': return R"(\p{Nd})";
    case 'D': return R"(\P{Nd})";
    case 's': return kBlank;
    case 'S': return kNoBlank;
    default: return {};
  }
}

class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {}

  arrow::Result<UnicodePattern> Translate() {
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_];
      if (c == '\\') {
        TakeEscape();
      } else if (c == '[') {
        ARROW_RETURN_NOT_OK(TakeSet());
      } else {
        result_.pattern += c;
        ++at_;
      }
    }
    return std::move(result_);
  }

 private:
  void TakeEscape() {
    const char letter = at_ + 1 < pattern_.size() ? pattern_[at_ + 1] : '\0';
    const std::string_view members = InBrackets(letter);
    if (!members.empty()) {
      result_.pattern.append("[").append(members).append("]");
    } else if (letter == 'W') {
      result_.pattern.append("[^").append(kWord).append("]");
    } else {
      if (letter == 'b' || letter == 'B') result_.has_word_boundary = true;
      result_.pattern.append(pattern_.substr(at_, 2));
    }
    at_ += 2;
  }

  // A set from its bracket on.
  arrow::Status TakeSet() {
    const size_t begin = at_++;
    const bool is_negated = Next("^");
    if (is_negated) ++at_;
    std::string members;
    bool has_other = false;
    bool has_no_word = false;
    for (bool is_first = true; at_ < pattern_.size(); is_first = false) {
      if (pattern_[at_] == ']' && !is_first) {
        ++at_;
        return Add(is_negated, members, has_no_word, has_other);
      }
      if (Next("[:")) {
        const size_t end = pattern_.find(":]", at_);
        if (end == std::string_view::npos) break;
        members.append(pattern_.substr(at_, end + 2 - at_));
        at_ = end + 2;
      } else if (pattern_[at_] == '[' || Next("&&") || Next("--") || Next("~~")) {
        return Unsupported("regular expressions with sets within sets are not built: '{}'",
                           pattern_);
      } else if (Next("\\W")) {
        has_no_word = true;
        at_ += 2;
        continue;
      } else if (pattern_[at_] == '\\' && at_ + 1 < pattern_.size()) {
        const std::string_view known = InBrackets(pattern_[at_ + 1]);
        members.append(known.empty() ? pattern_.substr(at_, 2) : known);
        at_ += 2;
      } else {
        members += pattern_[at_++];
      }
      has_other = true;
    }
    // Has no end: RE2 says so.
    result_.pattern.append(pattern_.substr(begin));
    at_ = pattern_.size();
    return arrow::Status::OK();
  }

  arrow::Status Add(bool is_negated, const std::string& members, bool has_no_word, bool has_other) {
    if (has_no_word && has_other) {
      return Unsupported("regular expressions with \\W beside others in a set are not built: '{}'",
                         pattern_);
    }
    if (has_no_word) {
      result_.pattern.append(is_negated ? "[" : "[^").append(kWord).append("]");
    } else {
      result_.pattern.append(is_negated ? "[^" : "[").append(members).append("]");
    }
    return arrow::Status::OK();
  }

  bool Next(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }

  std::string_view pattern_;
  size_t at_ = 0;
  UnicodePattern result_;
};

}  // namespace

arrow::Result<UnicodePattern> ToUnicodeClasses(std::string_view pattern) {
  return Translator(pattern).Translate();
}

}  // namespace glaive::query
