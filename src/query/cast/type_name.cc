#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "query/cast/coercion.h"

namespace glaive::query {
namespace {

using TypePtr = std::shared_ptr<arrow::DataType>;
using Id = arrow::Type;

struct Named {
  Id::type id;
  std::string_view name;
  const TypePtr& (*make)();
};
constexpr std::array<Named, 21> kNames = {{
    {Id::NA, "Null", &arrow::null},
    {Id::BOOL, "Boolean", &arrow::boolean},
    {Id::INT8, "Int8", &arrow::int8},
    {Id::INT16, "Int16", &arrow::int16},
    {Id::INT32, "Int32", &arrow::int32},
    {Id::INT64, "Int64", &arrow::int64},
    {Id::UINT8, "UInt8", &arrow::uint8},
    {Id::UINT16, "UInt16", &arrow::uint16},
    {Id::UINT32, "UInt32", &arrow::uint32},
    {Id::UINT64, "UInt64", &arrow::uint64},
    {Id::HALF_FLOAT, "Float16", &arrow::float16},
    {Id::FLOAT, "Float32", &arrow::float32},
    {Id::DOUBLE, "Float64", &arrow::float64},
    {Id::STRING, "Utf8", &arrow::utf8},
    {Id::LARGE_STRING, "LargeUtf8", &arrow::large_utf8},
    {Id::BINARY, "Binary", &arrow::binary},
    {Id::LARGE_BINARY, "LargeBinary", &arrow::large_binary},
    {Id::STRING, "Utf8View", &arrow::utf8},  // texts are plain ones here
    {Id::BINARY, "BinaryView", &arrow::binary},
    {Id::DATE32, "Date32", &arrow::date32},
    {Id::DATE64, "Date64", &arrow::date64},
}};

struct Unit {
  arrow::TimeUnit::type unit;
  std::string_view name;
  std::string_view symbol;
  std::string_view printed;
};
constexpr std::array<Unit, 4> kUnits = {{
    {arrow::TimeUnit::SECOND, "Second", "s", "s"},
    {arrow::TimeUnit::MILLI, "Millisecond", "ms", "ms"},
    {arrow::TimeUnit::MICRO, "Microsecond", "us", "\u00b5s"},
    {arrow::TimeUnit::NANO, "Nanosecond", "ns", "ns"},
}};

std::string_view NameOf(arrow::TimeUnit::type unit) {
  return std::ranges::find(kUnits, unit, &Unit::unit)->printed;
}

std::string FieldName(const arrow::Field& field) {
  return (field.nullable() ? "" : "non-null ") + TypeName(*field.type());
}

// The names of Arrow's Rust implementation, as arrow_cast() takes and arrow_typeof() gives them.
// Each step says whether what it reads was there.
class TypeReader {
 public:
  explicit TypeReader(std::string_view text) : text_(text) {}

  // Null where the text is no type, or one that is not known here.
  TypePtr ReadAll() {
    TypePtr type = ReadType(0);
    return AtEnd() ? type : nullptr;
  }

 private:
  void SkipBlanks() {
    while (text_.starts_with(' ')) text_.remove_prefix(1);
  }
  bool AtEnd() {
    SkipBlanks();
    return text_.empty();
  }
  bool Symbol(char c) {
    SkipBlanks();
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  // Letters, digits, hyphens and what is beyond ASCII (a micro sign).
  std::string_view Word() {
    SkipBlanks();
    const auto is_part = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '-' || static_cast<unsigned char>(c) >= 0x80;
    };
    const auto end = std::ranges::find_if_not(text_, is_part);
    const std::string_view word(text_.data(), static_cast<size_t>(end - text_.begin()));
    text_.remove_prefix(word.size());
    return word;
  }
  bool Word(std::string_view expected) {
    const std::string_view before = text_;
    if (Word() == expected) return true;
    text_ = before;
    return false;
  }
  std::optional<int> Number() {
    const std::string_view word = Word();
    int number = 0;
    const char* end = word.data() + word.size();
    const auto [at, error] = std::from_chars(word.data(), end, number);
    if (at != end || error != std::errc()) return std::nullopt;
    return number;
  }
  std::optional<std::string> Quoted(char quote) {
    if (!Symbol(quote)) return std::nullopt;
    const size_t end = text_.find(quote);
    if (end == text_.npos) return std::nullopt;
    std::string inside(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return inside;
  }
  std::optional<arrow::TimeUnit::type> TimeUnit() {
    const std::string_view word = Word();
    for (const Unit& unit : kUnits) {
      if (word == unit.name || word == unit.symbol || word == unit.printed) return unit.unit;
    }
    return std::nullopt;
  }
  // Nothing, None, "UTC" or Some("UTC").
  std::optional<std::string> Zone() {
    if (!Symbol(',') || Word("None")) return "";
    if (!Word("Some")) return Quoted('"');
    if (!Symbol('(')) return std::nullopt;
    auto zone = Quoted('"');
    return Symbol(')') ? zone : std::nullopt;
  }
  std::shared_ptr<arrow::Field> ReadField(std::string name, int depth) {
    const bool is_nullable = !Word("non-null");
    if (is_nullable) Word("nullable");
    TypePtr type = ReadType(depth);
    return type == nullptr ? nullptr : arrow::field(std::move(name), type, is_nullable);
  }
  std::shared_ptr<arrow::Field> ReadItem(int depth) {
    auto field = ReadField("item", depth);
    if (field == nullptr || !Symbol(',')) return field;
    if (!Word("field") || !Symbol(':')) return nullptr;
    auto name = Quoted('\'');
    return name ? field->WithName(*name) : nullptr;
  }

  TypePtr ReadType(int depth) {
    constexpr int kMaxDepth = 64;
    const std::string_view name = Word();
    for (const Named& named : kNames) {
      if (name == named.name) return named.make();
    }
    if (depth > kMaxDepth || !Symbol('(')) return nullptr;
    TypePtr type = ReadParameters(name, depth + 1);
    return Symbol(')') ? type : nullptr;
  }

  TypePtr ReadParameters(std::string_view name, int depth) {
    if (name == "Timestamp") {
      const auto unit = TimeUnit();
      const auto zone = Zone();
      return unit && zone ? arrow::timestamp(*unit, *zone) : nullptr;
    }
    if (name == "Time32" || name == "Time64") {
      const auto unit = TimeUnit();
      if (!unit || (*unit >= arrow::TimeUnit::MICRO) != (name == "Time64")) return nullptr;
      return name == "Time64" ? arrow::time64(*unit) : arrow::time32(*unit);
    }
    if (name == "Duration") {
      const auto unit = TimeUnit();
      return unit ? arrow::duration(*unit) : nullptr;
    }
    if (name == "Interval")
      return Word("MonthDayNano") ? arrow::month_day_nano_interval() : nullptr;
    if (name == "FixedSizeBinary") {
      const auto size = Number();
      return size && *size >= 0 ? arrow::fixed_size_binary(*size) : nullptr;
    }
    if (name == "Decimal128" || name == "Decimal256") return ReadDecimal(name == "Decimal256");
    if (name == "List" || name == "LargeList") {
      auto item = ReadItem(depth);
      if (item == nullptr) return nullptr;
      return name == "List" ? arrow::list(std::move(item)) : arrow::large_list(std::move(item));
    }
    if (name == "FixedSizeList") {
      const auto size = Number();
      if (!size || *size < 0 || (!Word("x") && !Symbol(','))) return nullptr;
      auto item = ReadItem(depth);
      return item == nullptr ? nullptr : arrow::fixed_size_list(std::move(item), *size);
    }
    if (name == "Dictionary") {
      const TypePtr index = ReadType(depth);
      if (index == nullptr || !arrow::is_integer(index->id()) || !Symbol(',')) return nullptr;
      const TypePtr values = ReadType(depth);
      return values == nullptr ? nullptr : arrow::dictionary(index, values);
    }
    return name == "Struct" ? ReadStruct(depth) : nullptr;
  }

  TypePtr ReadDecimal(bool is_wide) {
    constexpr int kNone = 1'000;
    const int precision = Number().value_or(kNone);
    const int scale = Symbol(',') ? Number().value_or(kNone) : kNone;
    const int most =
        is_wide ? arrow::Decimal256Type::kMaxPrecision : arrow::Decimal128Type::kMaxPrecision;
    if (precision < 1 || precision > most || scale > precision || scale < -most) return nullptr;
    return is_wide ? arrow::decimal256(precision, scale) : arrow::decimal128(precision, scale);
  }

  TypePtr ReadStruct(int depth) {
    arrow::FieldVector fields;
    do {
      auto name = Quoted('"');
      if (!name || !Symbol(':')) return nullptr;
      auto field = ReadField(std::move(*name), depth);
      if (field == nullptr) return nullptr;
      fields.push_back(std::move(field));
    } while (Symbol(','));
    return arrow::struct_(std::move(fields));
  }

  std::string_view text_;
};

}  // namespace

std::string TypeName(const arrow::DataType& type) {
  const auto* found = std::ranges::find(kNames, type.id(), &Named::id);
  if (found != kNames.end()) return std::string(found->name);
  switch (type.id()) {
    case Id::INTERVAL_MONTH_DAY_NANO: return "Interval(MonthDayNano)";
    case Id::TIMESTAMP: {
      const auto& stamp = static_cast<const arrow::TimestampType&>(type);
      if (stamp.timezone().empty()) return fmt::format("Timestamp({})", NameOf(stamp.unit()));
      return fmt::format("Timestamp({}, \"{}\")", NameOf(stamp.unit()), stamp.timezone());
    }
    case Id::TIME32:
    case Id::TIME64:
      return fmt::format("{}({})", type.id() == Id::TIME32 ? "Time32" : "Time64",
                         NameOf(static_cast<const arrow::TimeType&>(type).unit()));
    case Id::DURATION:
      return fmt::format("Duration({})",
                         NameOf(static_cast<const arrow::DurationType&>(type).unit()));
    case Id::DECIMAL128:
    case Id::DECIMAL256: {
      const auto& decimal = static_cast<const arrow::DecimalType&>(type);
      return fmt::format("Decimal{}({}, {})", decimal.bit_width(), decimal.precision(),
                         decimal.scale());
    }
    case Id::FIXED_SIZE_BINARY: return fmt::format("FixedSizeBinary({})", type.byte_width());
    case Id::LIST: return fmt::format("List({})", FieldName(*type.field(0)));
    case Id::LARGE_LIST: return fmt::format("LargeList({})", FieldName(*type.field(0)));
    case Id::FIXED_SIZE_LIST:
      return fmt::format("FixedSizeList({} x {})",
                         static_cast<const arrow::FixedSizeListType&>(type).list_size(),
                         FieldName(*type.field(0)));
    case Id::DICTIONARY: {
      const auto& dictionary = static_cast<const arrow::DictionaryType&>(type);
      return fmt::format("Dictionary({}, {})", TypeName(*dictionary.index_type()),
                         TypeName(*dictionary.value_type()));
    }
    case Id::STRUCT: {
      std::string fields;
      for (const auto& field : type.fields()) {
        if (!fields.empty()) fields += ", ";
        fields += fmt::format("\"{}\": {}", field->name(), FieldName(*field));
      }
      return "Struct(" + fields + ")";
    }
    default: return type.ToString();
  }
}

arrow::Result<TypePtr> TypeNamed(std::string_view name) {
  if (auto type = TypeReader(name).ReadAll()) return type;
  return InvalidInput(
      "Unsupported type '{}'. Must be a supported arrow type name such as 'Int32' or "
      "'Timestamp(ns)'",
      name);
}

}  // namespace glaive::query
