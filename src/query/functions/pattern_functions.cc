#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "core/error.h"
#include "query/cast/coercion.h"
#include "query/functions/functions.h"
#include "query/functions/pattern_classes.h"
#include "query/values/checked_array.h"
#include "query/values/text_values.h"

// Regular expressions, in time linear in the text: Arrow has RE2.
namespace glaive::query {
namespace {

namespace cp = arrow::compute;
using Arguments = std::vector<BoundPtr>;

// Words end for RE2 where ASCII letters and digits do. REQUIRES: a text.
BoundPtr AsciiAlone(std::string_view name, BoundPtr text) {
  const Kernel kernel = [name = std::string(name)](
                            std::span<const arrow::Datum> values,
                            int64_t num_rows) -> arrow::Result<arrow::Datum> {
    ARROW_ASSIGN_OR_RAISE(const auto array, ToArray(values[0], num_rows));
    const TextValues texts(*array);
    for (int64_t i = 0; i < num_rows; ++i) {
      if (texts.IsNull(i)) continue;
      const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
      if (!std::ranges::all_of(texts[i], is_ascii)) {
        return Unsupported("{}() with \\b or \\B is built for ASCII, not for '{}'", name,
                           texts[i].substr(0, 100));
      }
    }
    return values[0];
  };
  const auto type = text->type();
  return MakeKernel(kernel, {std::move(text)}, type);
}

// With its flags in front. Errors: InvalidInput for what is no pattern.
arrow::Result<std::string> TakePattern(std::string_view name, Arguments& arguments,
                                       size_t pattern_at, size_t flags_at) {
  ARROW_ASSIGN_OR_RAISE(const std::string written, TakeLiteral(name, arguments[pattern_at]));
  ARROW_ASSIGN_OR_RAISE(UnicodePattern translated, ToUnicodeClasses(written));
  if (translated.has_word_boundary) arguments[0] = AsciiAlone(name, std::move(arguments[0]));
  std::string& pattern = translated.pattern;
  std::string flags;
  if (arguments.size() > flags_at) {
    ARROW_ASSIGN_OR_RAISE(flags, TakeLiteral(name, arguments[flags_at]));
  }
  std::string set;
  for (const char flag : flags) {
    if (flag == 'g' && name == "regexp_replace") continue;
    if (flag == 'g') return InvalidInput("{}() does not support the \"global\" option", name);
    if (flag != 'i' && flag != 'm' && flag != 's' && flag != 'U') {
      return InvalidInput("{}() does not know the flag '{}'", name, flag);
    }
    set += flag;
  }
  if (!set.empty()) pattern = "(?" + set + ")" + pattern;
  // An empty column tells whether the pattern can be compiled.
  const cp::MatchSubstringOptions options(pattern);
  ARROW_ASSIGN_OR_RAISE(const auto none, arrow::MakeArrayOfNull(arrow::utf8(), 0));
  const auto compiled = CallArrow("match_substring_regex", {arrow::Datum(none)}, &options);
  if (!compiled.ok()) {
    return InvalidInput("{}(): '{}' is no regular expression: {}", name, pattern,
                        compiled.status().message());
  }
  return pattern;
}

bool IsNullLiteral(const BoundPtr& node) {
  return AsLiteral(node) != nullptr && !AsLiteral(node)->value()->is_valid;
}

arrow::Result<BoundPtr> BindLike(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeText(name, &arguments[0]));
  if (IsNullLiteral(arguments[1])) return MakeLiteral(arrow::MakeNullScalar(arrow::boolean()));
  ARROW_ASSIGN_OR_RAISE(auto pattern, TakePattern(name, arguments, 1, 2));
  return MakeCall("match_substring_regex", {std::move(arguments[0])}, arrow::boolean(),
                  std::make_shared<cp::MatchSubstringOptions>(std::move(pattern)));
}

arrow::Result<BoundPtr> BindCount(std::string_view name, Arguments arguments) {
  if (arguments.size() > 2) return Unsupported("{}() of a part of a text is not built", name);
  ARROW_RETURN_NOT_OK(TakeText(name, &arguments[0]));
  ARROW_ASSIGN_OR_RAISE(auto pattern, TakePattern(name, arguments, 1, 3));
  // Arrow's own count steps by bytes where a match is empty. A letter more for each match tells how
  // many there are.
  const auto longer = std::make_shared<cp::ReplaceSubstringOptions>(std::move(pattern), "\\0#");
  const Kernel kernel = [longer](std::span<const arrow::Datum> values,
                                 int64_t num_rows) -> arrow::Result<arrow::Datum> {
    ARROW_ASSIGN_OR_RAISE(const auto texts, ToArray(values[0], num_rows));
    const arrow::Datum before(texts);
    ARROW_ASSIGN_OR_RAISE(const auto after,
                          CallArrow("replace_substring_regex", {before}, longer.get()));
    ARROW_ASSIGN_OR_RAISE(const auto length, CallArrow("binary_length", {before}));
    ARROW_ASSIGN_OR_RAISE(const auto length_after, CallArrow("binary_length", {after}));
    return CallArrow("subtract", {length_after, length});
  };
  const auto counted =
      arguments[0]->type()->id() == arrow::Type::STRING ? arrow::int32() : arrow::int64();
  BoundPtr count = MakeKernel(kernel, {std::move(arguments[0])}, counted);
  // In a null there is nothing to find.
  return MakeCall(
      "coalesce",
      {MakeCast(std::move(count), arrow::int64()), MakeLiteral(arrow::MakeScalar(int64_t{0}))},
      arrow::int64());
}

struct Groups {
  std::string pattern;             // with the names g0, g1, ..., by which Arrow hands groups out
  std::vector<std::string> names;  // that the groups had; empty where they had none
};

Groups NameGroups(std::string_view pattern) {
  Groups groups;
  std::string& out = groups.pattern;
  const auto name = [&](std::string_view given) {
    out += "?P<g" + std::to_string(groups.names.size()) + ">";
    groups.names.emplace_back(given);
  };
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    out += c;
    if (c == '\\' && i + 1 < pattern.size()) {
      out += pattern[++i];
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      // A bracket right behind the opening one is a member.
      if (i + 1 < pattern.size() && pattern[i + 1] == '^') out += pattern[++i];
      if (i + 1 < pattern.size() && pattern[i + 1] == ']') out += pattern[++i];
    } else if (c == '(') {
      const std::string_view rest = pattern.substr(i + 1);
      if (!rest.starts_with('?')) {
        name("");
      } else if (rest.starts_with("?P<") || rest.starts_with("?<")) {
        const size_t open = rest.find('<') + 1;
        const size_t close = std::min(rest.find('>'), rest.size() - 1);
        name(rest.substr(open, close - open));
        i += close + 1;
      }
    }
  }
  return groups;
}

bool IsNameLetter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

// The number of the group with that name or number, or nothing: what is asked for is empty then.
std::optional<size_t> GroupNamed(std::string_view name, const Groups& groups) {
  size_t number = 0;
  const auto [at, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc() && at == name.data() + name.size()) {
    return number <= groups.names.size() ? std::optional(number) : std::nullopt;
  }
  const auto found = std::ranges::find(groups.names, name);
  if (found == groups.names.end()) return std::nullopt;
  return static_cast<size_t>(found - groups.names.begin()) + 1;
}

// What a reference to a group at the front of `text` takes, and the group's name. \1 and \\1 are
// numbers, $name and $1 are as long as they can be, ${name} has any letters.
struct Reference {
  size_t length = 0;
  std::string_view name;

  static std::optional<Reference> At(std::string_view text) {
    const auto run = [&](size_t from, auto&& belongs) {
      size_t to = from;
      while (to < text.size() && belongs(text[to])) ++to;
      return text.substr(from, to - from);
    };
    if (text.starts_with('\\')) {
      const size_t begin = text.starts_with("\\\\") ? 2 : 1;
      const auto digits = run(begin, [](char c) { return c >= '0' && c <= '9'; });
      if (digits.empty()) return std::nullopt;
      return Reference{begin + digits.size(), digits};
    }
    if (text.starts_with("${")) {
      const auto name = run(2, [](char c) { return c != '}'; });
      if (name.size() + 2 == text.size()) return std::nullopt;
      return Reference{name.size() + 3, name};
    }
    const auto name = run(1, &IsNameLetter);
    if (!text.starts_with('$') || name.empty()) return std::nullopt;
    return Reference{name.size() + 1, name};
  }
};

// In RE2's way, which is \1. $$ is a dollar sign.
arrow::Result<std::string> Replacement(std::string_view text, const Groups& groups) {
  std::string out;
  while (!text.empty()) {
    size_t length = 1;
    if (text.starts_with("$$")) {
      out += '$';
      length = 2;
    } else if (const auto reference = Reference::At(text)) {
      const auto group = GroupNamed(reference->name, groups);
      if (group > 9) return Unsupported("regexp_replace() with more than nine groups is not built");
      if (group) out += "\\" + std::to_string(*group);
      length = reference->length;
    } else {
      out += text.starts_with('\\') ? "\\\\" : std::string(1, text.front());
    }
    text.remove_prefix(length);
  }
  return out;
}

arrow::Result<BoundPtr> BindReplace(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeText(name, &arguments[0]));
  ARROW_ASSIGN_OR_RAISE(auto pattern, TakePattern(name, arguments, 1, 3));
  ARROW_ASSIGN_OR_RAISE(const auto text, TakeLiteral(name, arguments[2]));
  ARROW_ASSIGN_OR_RAISE(auto replacement, Replacement(text, NameGroups(pattern)));
  int64_t most = 1;
  if (arguments.size() > 3) {
    ARROW_ASSIGN_OR_RAISE(const auto flags, TakeLiteral(name, arguments[3]));
    if (flags.find('g') != std::string::npos) most = -1;
  }
  auto type = arguments[0]->type();
  return MakeCall("replace_substring_regex", {std::move(arguments[0])}, std::move(type),
                  std::make_shared<cp::ReplaceSubstringOptions>(std::move(pattern),
                                                                std::move(replacement), most));
}

// All of the pattern is the one group where it has none.
std::string WithNamedGroups(std::string_view pattern) {
  Groups groups = NameGroups(pattern);
  return groups.names.empty() ? "(?P<g0>" + groups.pattern + ")" : std::move(groups.pattern);
}

// Each row's groups as a list.
arrow::Result<arrow::Datum> GroupsOf(const arrow::Datum& text, const std::string& pattern,
                                     int64_t num_rows) {
  const cp::ExtractRegexOptions options(pattern);
  ARROW_ASSIGN_OR_RAISE(const auto array, ToArray(text, num_rows));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum matched,
                        CallArrow("extract_regex", {arrow::Datum(array)}, &options));
  const auto result = matched.make_array();
  const auto& groups = ArrayAs<arrow::StructArray>(*result);
  auto values = std::shared_ptr<arrow::ArrayBuilder>();
  ARROW_ASSIGN_OR_RAISE(values, arrow::MakeBuilder(array->type()));
  arrow::ListBuilder builder(arrow::default_memory_pool(), values, arrow::list(array->type()));
  for (int64_t i = 0; i < num_rows; ++i) {
    if (groups.IsNull(i)) {
      ARROW_RETURN_NOT_OK(builder.AppendNull());
      continue;
    }
    ARROW_RETURN_NOT_OK(builder.Append());
    for (int group = 0; group < groups.num_fields(); ++group) {
      ARROW_RETURN_NOT_OK(values->AppendArraySlice(*groups.field(group)->data(), i, 1));
    }
  }
  ARROW_ASSIGN_OR_RAISE(auto lists, builder.Finish());
  return arrow::Datum(std::move(lists));
}

arrow::Result<BoundPtr> BindMatch(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeText(name, &arguments[0]));
  const auto type = arrow::list(arguments[0]->type());
  if (IsNullLiteral(arguments[1])) return MakeLiteral(arrow::MakeNullScalar(type));
  ARROW_ASSIGN_OR_RAISE(const auto pattern, TakePattern(name, arguments, 1, 2));
  const Kernel kernel = [named = WithNamedGroups(pattern)](std::span<const arrow::Datum> values,
                                                           int64_t num_rows) {
    return GroupsOf(values[0], named, num_rows);
  };
  return MakeKernel(kernel, {std::move(arguments[0])}, type);
}

constexpr std::array<Function, 4> kFunctions = {{
    {"regexp_like", 2, 3, &BindLike},
    {"regexp_count", 2, 4, &BindCount},
    {"regexp_replace", 3, 4, &BindReplace},
    {"regexp_match", 2, 3, &BindMatch},
}};

}  // namespace

std::span<const Function> PatternFunctions() { return kFunctions; }

}  // namespace glaive::query
