#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include <arrow/scalar.h>
#include <arrow/type.h>

#include "core/error.h"
#include "query/sql/parser.h"

namespace glaive::query::sql {
namespace {

constexpr int64_t kNanosOfSecond = 1'000'000'000;

struct IntervalUnit {
  std::string_view name;  // singular
  int64_t months;
  int64_t days;
  int64_t nanoseconds;
};
constexpr std::array<IntervalUnit, 18> kIntervalUnits = {{
    {"CENTURY", 1200, 0, 0},
    {"DECADE", 120, 0, 0},
    {"YEAR", 12, 0, 0},
    {"MONTH", 1, 0, 0},
    {"MON", 1, 0, 0},
    {"WEEK", 0, 7, 0},
    {"DAY", 0, 1, 0},
    {"HOUR", 0, 0, 3600 * kNanosOfSecond},
    {"HR", 0, 0, 3600 * kNanosOfSecond},
    {"MINUTE", 0, 0, 60 * kNanosOfSecond},
    {"MIN", 0, 0, 60 * kNanosOfSecond},
    {"SECOND", 0, 0, kNanosOfSecond},
    {"SEC", 0, 0, kNanosOfSecond},
    {"MILLISECOND", 0, 0, 1'000'000},
    {"MICROSECOND", 0, 0, 1'000},
    {"NANOSECOND", 0, 0, 1},
    {"QUARTER", 3, 0, 0},
    {"MS", 0, 0, 1'000'000},
}};

const IntervalUnit* UnitOf(std::string_view word) {
  std::string upper;
  for (const char c : word) upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  for (const IntervalUnit& unit : kIntervalUnits) {
    if (upper == unit.name || upper == std::string(unit.name) + "S") return &unit;
  }
  return nullptr;
}

struct Interval {
  double months = 0;
  double days = 0;
  double nanoseconds = 0;

  // What is less than a month is days of thirty, as in PostgreSQL.
  void Add(double count, const IntervalUnit& unit) {
    const double of_months = count * static_cast<double>(unit.months);
    months += std::trunc(of_months);
    const double of_days =
        count * static_cast<double>(unit.days) + (of_months - std::trunc(of_months)) * 30;
    days += std::trunc(of_days);
    nanoseconds += count * static_cast<double>(unit.nanoseconds) +
                   (of_days - std::trunc(of_days)) * 86400 * static_cast<double>(kNanosOfSecond);
  }
};

// "1 day 2 hours", "1.5 months"; a number alone counts in `unit`.
std::optional<Interval> ParseIntervalText(std::string_view text, const IntervalUnit* unit) {
  Interval interval;
  bool any = false;
  const auto skip_blanks = [&] {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  };
  for (skip_blanks(); !text.empty(); skip_blanks()) {
    double count = 0;
    if (text.front() == '+') text.remove_prefix(1);
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || std::abs(count) > 1e9) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(at - text.data()));
    skip_blanks();
    const std::string_view word = text.substr(0, text.find_first_of(" 0123456789+-"));
    text.remove_prefix(word.size());
    const IntervalUnit* named = word.empty() ? unit : UnitOf(word);
    if (named == nullptr) return std::nullopt;
    interval.Add(count, *named);
    any = true;
  }
  return any ? std::optional(interval) : std::nullopt;
}

}  // namespace

arrow::Result<ExpressionPtr> Parser::ParseForm(bool* is_form) {
  using ParseOne = arrow::Result<ExpressionPtr> (Parser::*)();
  struct Form {
    std::string_view word;
    bool is_call;
    ParseOne parse;  // null: a function like others, by name
  };
  static constexpr std::array<Form, 10> kForms = {{
      {"CASE", false, &Parser::ParseCase},
      {"INTERVAL", false, &Parser::ParseInterval},
      {"EXTRACT", true, &Parser::ParseExtract},
      {"SUBSTRING", true, &Parser::ParseSubstring},
      {"SUBSTR", true, &Parser::ParseSubstring},
      {"TRIM", true, &Parser::ParseTrim},
      {"POSITION", true, &Parser::ParsePosition},
      {"FLOOR", true, nullptr},
      {"CEIL", true, nullptr},
      {"OVERLAY", true, nullptr},
  }};
  for (const Form& form : kForms) {
    if (!Peek().IsWord(form.word)) continue;
    const Token& next = Peek(1);
    // A column may well have such a name.
    const bool begins = form.is_call
                            ? next.IsSymbol("(")
                            : next.kind == TokenKind::kWord || next.kind == TokenKind::kString ||
                                  next.kind == TokenKind::kQuotedName ||
                                  next.kind == TokenKind::kNumber || next.IsSymbol("(");
    if (!begins || next.IsWord("IS") || next.IsWord("IN") || next.IsWord("BETWEEN")) break;
    *is_form = true;
    if (functions_ == 0) {
      return InvalidInput(
          "Expression '{} ...' is not supported SQL outside of a function's arguments; "
          "coalesce({} ..., NULL) is: {}",
          form.word, form.word, text_);
    }
    if (form.parse == nullptr) return ParseFunction();
    ++at_;
    return (this->*form.parse)();
  }
  return Peek().IsWord("CASE") && Peek(1).IsSymbol("-") ? ParseNegativeCase(is_form) : nullptr;
}

// CASE -1 WHEN, where a column named case may be what something is taken from.
arrow::Result<ExpressionPtr> Parser::ParseNegativeCase(bool* is_form) {
  const size_t begin = at_++;
  const int nesting = nesting_;
  if (functions_ > 0) {
    if (auto parsed = ParseCase(); parsed.ok()) {
      *is_form = true;
      return parsed;
    }
  }
  at_ = begin;
  nesting_ = nesting;
  return nullptr;
}

arrow::Result<ExpressionPtr> Parser::ParseCase() {
  Case result;
  if (!Peek().IsWord("WHEN")) {
    ARROW_ASSIGN_OR_RAISE(result.operand, ParseExpression(kLowest));
  }
  do {
    Case::Branch branch;
    ARROW_RETURN_NOT_OK(Expect("WHEN"));
    ARROW_ASSIGN_OR_RAISE(branch.when, ParseExpression(kLowest));
    ARROW_RETURN_NOT_OK(Expect("THEN"));
    ARROW_ASSIGN_OR_RAISE(branch.then, ParseExpression(kLowest));
    result.branches.push_back(std::move(branch));
  } while (Peek().IsWord("WHEN"));
  if (Accept("ELSE")) {
    ARROW_ASSIGN_OR_RAISE(result.otherwise, ParseExpression(kLowest));
  }
  ARROW_RETURN_NOT_OK(Expect("END"));
  return Make(std::move(result));
}

arrow::Result<ExpressionPtr> Parser::ParseInterval() {
  const bool negative = AcceptSymbol("-");
  const Token& value = Peek();
  if (value.kind != TokenKind::kString && value.kind != TokenKind::kNumber) {
    return Unexpected("an interval in quotes");
  }
  ++at_;
  const IntervalUnit* unit = Peek().kind == TokenKind::kWord ? UnitOf(Peek().text) : nullptr;
  if (unit != nullptr) ++at_;
  const auto interval = ParseIntervalText(value.text, unit);
  if (!interval) return InvalidInput("'{}' is not an interval: {}", value.text, text_);
  const double sign = negative ? -1 : 1;
  if (std::abs(interval->months) > INT32_MAX || std::abs(interval->days) > INT32_MAX ||
      std::abs(interval->nanoseconds) > 9e18) {
    return InvalidInput("the interval '{}' is too long: {}", value.text, text_);
  }
  const arrow::MonthDayNanoIntervalType::MonthDayNanos nanos{
      static_cast<int32_t>(sign * interval->months), static_cast<int32_t>(sign * interval->days),
      static_cast<int64_t>(sign * std::round(interval->nanoseconds))};
  return Make(Literal{std::make_shared<arrow::MonthDayNanoIntervalScalar>(nanos)});
}

arrow::Result<ExpressionPtr> Parser::ParseExtract() {
  ARROW_RETURN_NOT_OK(ExpectSymbol("("));
  const Token& part = Peek();
  if (part.kind != TokenKind::kWord && part.kind != TokenKind::kString) {
    return Unexpected("a part of a date");
  }
  ++at_;
  if (!AcceptSymbol(",")) ARROW_RETURN_NOT_OK(Expect("FROM"));
  ARROW_ASSIGN_OR_RAISE(auto operand, ParseExpression(kLowest));
  ARROW_RETURN_NOT_OK(ExpectSymbol(")"));
  return Make(Call{"date_part", {MakeString(part.text), std::move(operand)}});
}

// SUBSTRING(s, from, length), SUBSTRING(s FROM from FOR length)
arrow::Result<ExpressionPtr> Parser::ParseSubstring() {
  ARROW_RETURN_NOT_OK(ExpectSymbol("("));
  Call call{"substr", {}};
  ARROW_ASSIGN_OR_RAISE(call.arguments.emplace_back(), ParseExpression(kLowest));
  if (Accept("FROM") || AcceptSymbol(",")) {
    ARROW_ASSIGN_OR_RAISE(call.arguments.emplace_back(), ParseExpression(kLowest));
  }
  if (Accept("FOR") || AcceptSymbol(",")) {
    if (call.arguments.size() == 1) {
      call.arguments.push_back(Make(Literal{arrow::MakeScalar(int64_t{1})}));
    }
    ARROW_ASSIGN_OR_RAISE(call.arguments.emplace_back(), ParseExpression(kLowest));
  }
  ARROW_RETURN_NOT_OK(ExpectSymbol(")"));
  return Make(std::move(call));
}

// TRIM([BOTH | LEADING | TRAILING] [characters FROM] s), TRIM(s, characters)
arrow::Result<ExpressionPtr> Parser::ParseTrim() {
  ARROW_RETURN_NOT_OK(ExpectSymbol("("));
  Call call{"btrim", {}};
  if (Accept("LEADING")) call.function = "ltrim";
  if (Accept("TRAILING")) call.function = "rtrim";
  Accept("BOTH");
  if (!Peek().IsWord("FROM")) {
    ARROW_ASSIGN_OR_RAISE(call.arguments.emplace_back(), ParseExpression(kLowest));
  }
  const bool is_from = Accept("FROM");
  if (is_from || AcceptSymbol(",")) {
    ARROW_ASSIGN_OR_RAISE(auto operand, ParseExpression(kLowest));
    call.arguments.insert(is_from ? call.arguments.begin() : call.arguments.end(),
                          std::move(operand));
  }
  ARROW_RETURN_NOT_OK(ExpectSymbol(")"));
  return Make(std::move(call));
}

arrow::Result<ExpressionPtr> Parser::ParsePosition() {
  ARROW_RETURN_NOT_OK(ExpectSymbol("("));
  // IN binds as tightly as comparisons do: what is looked for ends before it.
  ARROW_ASSIGN_OR_RAISE(auto looked_for, ParseExpression(kCompare));
  if (AcceptSymbol(",")) {
    ARROW_ASSIGN_OR_RAISE(auto second, ParseExpression(kLowest));
    ARROW_RETURN_NOT_OK(ExpectSymbol(")"));
    return Make(Call{"strpos", {std::move(looked_for), std::move(second)}});
  }
  ARROW_RETURN_NOT_OK(Expect("IN"));
  ARROW_ASSIGN_OR_RAISE(auto text, ParseExpression(kLowest));
  ARROW_RETURN_NOT_OK(ExpectSymbol(")"));
  return Make(Call{"strpos", {std::move(text), std::move(looked_for)}});
}

}  // namespace glaive::query::sql
