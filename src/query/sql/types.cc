#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <arrow/type.h>

#include "core/error.h"
#include "query/sql/parser.h"

namespace glaive::query::sql {
namespace {

struct TypeName {
  std::string_view name;
  bool only_in_functions;
  bool takes_length;
  const std::shared_ptr<arrow::DataType>& (*make)();
};
constexpr std::array<TypeName, 25> kTypes = {{
    {"STRING", false, true, &arrow::utf8},     {"BINARY", false, true, &arrow::binary},
    {"FLOAT", false, true, &arrow::float32},   {"BOOLEAN", false, false, &arrow::boolean},
    {"TINYINT", false, true, &arrow::int8},    {"SMALLINT", false, true, &arrow::int16},
    {"INT", false, true, &arrow::int32},       {"INTEGER", false, true, &arrow::int32},
    {"BIGINT", false, true, &arrow::int64},    {"DATE", false, false, &arrow::date32},
    {"BOOL", true, false, &arrow::boolean},    {"INT2", true, true, &arrow::int16},
    {"INT4", true, true, &arrow::int32},       {"INT8", true, true, &arrow::int64},
    {"REAL", true, false, &arrow::float32},    {"FLOAT4", true, false, &arrow::float32},
    {"FLOAT8", true, false, &arrow::float64},  {"CHAR", true, true, &arrow::utf8},
    {"VARCHAR", true, true, &arrow::utf8},     {"TEXT", true, false, &arrow::utf8},
    {"BYTEA", true, false, &arrow::binary},    {"FLOAT32", true, false, &arrow::float32},
    {"FLOAT64", true, false, &arrow::float64}, {"INT64", true, false, &arrow::int64},
    {"INT32", true, false, &arrow::int32},
}};

std::shared_ptr<arrow::DataType> Unsigned(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::INT8: return arrow::uint8();
    case arrow::Type::INT16: return arrow::uint16();
    case arrow::Type::INT32: return arrow::uint32();
    case arrow::Type::INT64: return arrow::uint64();
    default: return nullptr;
  }
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::DataType>> Parser::ParseType() {
  if (Accept("DOUBLE")) {
    if (functions_ > 0) Accept("PRECISION");
    return arrow::float64();
  }
  if (Accept("DECIMAL") || Accept("DEC") || (functions_ > 0 && Accept("NUMERIC"))) {
    return ParseDecimalType();
  }
  if (Peek().IsWord("TIMESTAMP") || Peek().IsWord("DATETIME")) return ParseTimestampType();
  if (functions_ > 0 && Accept("TIME")) return arrow::time64(arrow::TimeUnit::NANO);
  for (const TypeName& type : kTypes) {
    if (!Peek().IsWord(type.name) || (type.only_in_functions && functions_ == 0)) continue;
    ++at_;
    auto made = type.make();
    if (type.takes_length) ARROW_RETURN_NOT_OK(ParseLength().status());
    if (!Accept("UNSIGNED")) return made;
    made = Unsigned(*made);
    if (made == nullptr) return InvalidInput("'{}' has no unsigned form: {}", type.name, text_);
    return made;
  }
  return InvalidInput(
      "Unsupported data type '{}'. Supported types: int [unsigned], tinyint [unsigned], smallint "
      "[unsigned], bigint [unsigned], float, double, string, binary, date, timestamp(precision), "
      "datetime(precision), decimal(precision,scale), boolean: {}",
      Peek().text, text_);
}

// A number in parentheses, if there is one.
arrow::Result<std::optional<int>> Parser::ParseLength() {
  if (!AcceptSymbol("(")) return std::nullopt;
  const std::string& digits = Peek().text;
  int length = 0;
  const auto [at, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (Peek().kind != TokenKind::kNumber || error != std::errc() ||
      at != digits.data() + digits.size()) {
    return Unexpected("a whole number");
  }
  ++at_;
  ARROW_RETURN_NOT_OK(ExpectSymbol(")"));
  return length;
}

arrow::Result<std::shared_ptr<arrow::DataType>> Parser::ParseDecimalType() {
  constexpr int kMaxPrecision = arrow::Decimal128Type::kMaxPrecision;
  int numbers[2] = {kMaxPrecision, 10};
  int given = 0;
  if (AcceptSymbol("(")) {
    if (functions_ > 0) numbers[1] = 0;
    do {
      const std::string& digits = Peek().text;
      const char* end = digits.data() + digits.size();
      if (given == 2 || Peek().kind != TokenKind::kNumber ||
          std::from_chars(digits.data(), end, numbers[given]).ptr != end) {
        return Unexpected("a precision and a scale");
      }
      ++given;
      ++at_;
    } while (AcceptSymbol(","));
    ARROW_RETURN_NOT_OK(ExpectSymbol(")"));
  }
  if (given < 2 && functions_ == 0) {
    return InvalidInput("Must provide precision and scale for decimal: {}", text_);
  }
  if (numbers[0] < 1 || numbers[0] > kMaxPrecision || numbers[1] > numbers[0]) {
    return InvalidInput("decimal({}, {}) is not a type of at most {} digits: {}", numbers[0],
                        numbers[1], kMaxPrecision, text_);
  }
  return arrow::decimal128(numbers[0], numbers[1]);
}

arrow::Result<std::shared_ptr<arrow::DataType>> Parser::ParseTimestampType() {
  ++at_;
  ARROW_ASSIGN_OR_RAISE(const auto precision, ParseLength());
  if (Peek().IsWord("WITH") || Peek().IsWord("WITHOUT")) {
    return InvalidInput("Timezone not supported in timestamp: {}", text_);
  }
  // Like Arrow's for Python; inside of functions as DataFusion has it.
  switch (precision.value_or(functions_ > 0 ? 9 : 6)) {
    case 0: return arrow::timestamp(arrow::TimeUnit::SECOND);
    case 3: return arrow::timestamp(arrow::TimeUnit::MILLI);
    case 6: return arrow::timestamp(arrow::TimeUnit::MICRO);
    case 9: return arrow::timestamp(arrow::TimeUnit::NANO);
    default: return InvalidInput("Unsupported datetime resolution {}: {}", *precision, text_);
  }
}

}  // namespace glaive::query::sql
