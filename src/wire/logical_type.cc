#include "wire/logical_type.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include "wire/schema.h"

namespace glaive::wire {
namespace {

constexpr char kExtensionName[] = "ARROW:extension:name";
constexpr char kBfloat16[] = "lance.bfloat16";
constexpr uint32_t kMaxDepth = 200;

using TypePtr = std::shared_ptr<arrow::DataType>;

struct NamedType {
  std::string_view name;
  const TypePtr& (*type)();
};

// Types that are a word of their own. Views are read back as the types they stand for.
constexpr std::array kNamedTypes = {
    NamedType{"null", arrow::null},
    NamedType{"bool", arrow::boolean},
    NamedType{"int8", arrow::int8},
    NamedType{"uint8", arrow::uint8},
    NamedType{"int16", arrow::int16},
    NamedType{"uint16", arrow::uint16},
    NamedType{"int32", arrow::int32},
    NamedType{"uint32", arrow::uint32},
    NamedType{"int64", arrow::int64},
    NamedType{"uint64", arrow::uint64},
    NamedType{"halffloat", arrow::float16},
    NamedType{"float", arrow::float32},
    NamedType{"double", arrow::float64},
    NamedType{"string", arrow::utf8},
    NamedType{"binary", arrow::binary},
    NamedType{"large_string", arrow::large_utf8},
    NamedType{"large_binary", arrow::large_binary},
    NamedType{"json", arrow::large_binary},
    NamedType{"blob", arrow::large_binary},
    NamedType{"date32:day", arrow::date32},
    NamedType{"date64:ms", arrow::date64},
};

constexpr std::array<std::string_view, 4> kTimeUnits = {"s", "ms", "us", "ns"};

std::string_view NameOf(arrow::TimeUnit::type unit) {
  return kTimeUnits[static_cast<size_t>(unit)];
}

std::optional<arrow::TimeUnit::type> TimeUnitOf(std::string_view name) {
  const auto found = std::ranges::find(kTimeUnits, name);
  if (found == kTimeUnits.end()) return std::nullopt;
  return static_cast<arrow::TimeUnit::type>(found - kTimeUnits.begin());
}

// "a:b:c" -> "a", leaving "b:c".
std::string_view TakeWord(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find(':'));
  rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  return word;
}

// "a:b:c" -> "c", leaving "a:b".
std::string_view TakeLastWord(std::string_view& rest) {
  const size_t colon = rest.rfind(':');
  const std::string_view word = colon == rest.npos ? rest : rest.substr(colon + 1);
  rest.remove_suffix(std::min(rest.size(), word.size() + 1));
  return word;
}

arrow::Status NotAType(std::string_view text) {
  return Corrupt(kSchema, "'{}' is not a logical type", text);
}

arrow::Result<TypePtr> TemporalType(std::string_view word, std::string_view rest) {
  const std::string_view unit_name = TakeWord(rest);
  const auto unit = TimeUnitOf(unit_name);
  if (!unit) return NotAType(unit_name);
  const bool fine = *unit >= arrow::TimeUnit::MICRO;
  if (word == "duration") return arrow::duration(*unit);
  if (word == "time32" && !fine) return arrow::time32(*unit);
  if (word == "time64" && fine) return arrow::time64(*unit);
  if (word != "timestamp") return NotAType(word);
  // What is left is the zone, colons and all: "+08:00".
  return rest == "-" ? arrow::timestamp(*unit) : arrow::timestamp(*unit, std::string(rest));
}

arrow::Result<TypePtr> DecimalType(std::string_view rest) {
  const std::string_view width = TakeWord(rest);
  const auto precision = NumberOf(TakeWord(rest));
  const auto scale = NumberOf(rest);
  if (!precision || !scale) return NotAType("decimal");
  if (width == "128") return arrow::Decimal128Type::Make(*precision, *scale);
  if (width == "256") return arrow::Decimal256Type::Make(*precision, *scale);
  return NotAType(width);
}

arrow::Result<TypePtr> TypeOf(std::string_view text, uint32_t depth);

// "dict:<values>:<indices>:<ordered>"
arrow::Result<TypePtr> DictionaryTypeOf(std::string_view rest, uint32_t depth) {
  ARROW_ASSIGN_OR_RAISE(const TypePtr values, TypeOf(TakeWord(rest), depth + 1));
  ARROW_ASSIGN_OR_RAISE(const TypePtr indices, TypeOf(TakeWord(rest), depth + 1));
  return arrow::DictionaryType::Make(indices, values, rest == "true");
}

std::shared_ptr<arrow::Field> Bfloat16Item() {
  return arrow::field("item", arrow::fixed_size_binary(2), true,
                      arrow::key_value_metadata({{kExtensionName, kBfloat16}}));
}

int64_t ValuesPerRow(const arrow::DataType& type) {
  if (type.id() != arrow::Type::FIXED_SIZE_LIST) return 1;
  const auto& list = static_cast<const arrow::FixedSizeListType&>(type);
  return list.list_size() * ValuesPerRow(*list.value_type());
}

// "fixed_size_list:<item>:<n>", the item any type without Field messages of its own.
arrow::Result<TypePtr> FixedSizeListTypeOf(std::string_view rest, uint32_t depth) {
  ARROW_ASSIGN_OR_RAISE(const int32_t size, ListSizeOf(rest));
  TakeLastWord(rest);
  if (rest == kBfloat16) return arrow::fixed_size_list(Bfloat16Item(), size);
  ARROW_ASSIGN_OR_RAISE(TypePtr item, TypeOf(rest, depth + 1));
  if (ValuesPerRow(*item) * size > std::numeric_limits<int32_t>::max()) {
    return Corrupt(kSchema, "'{}' has more than 2^31 values a row", rest);
  }
  return arrow::fixed_size_list(arrow::field("item", std::move(item)), size);
}

// Types without children of their own on the wire.
arrow::Result<TypePtr> TypeOf(std::string_view text, uint32_t depth) {
  if (depth > kMaxDepth) return Corrupt(kSchema, "a type nested more than {} deep", kMaxDepth);
  const auto named = std::ranges::find(kNamedTypes, text, &NamedType::name);
  if (named != kNamedTypes.end()) return named->type();
  std::string_view rest = text;
  const std::string_view word = TakeWord(rest);
  arrow::Result<TypePtr> type = NotAType(text);
  if (word == "decimal") {
    type = DecimalType(rest);
  } else if (word == "dict") {
    type = DictionaryTypeOf(rest, depth);
  } else if (word == "fixed_size_list") {
    type = FixedSizeListTypeOf(rest, depth);
  } else if (word == "fixed_size_binary") {
    const auto width = NumberOf(rest);
    if (width && *width >= 0) type = arrow::fixed_size_binary(*width);
  } else if (word == "timestamp" || word == "time32" || word == "time64" || word == "duration") {
    type = TemporalType(word, rest);
  }
  if (!type.ok() && KindOf(type.status()) != ErrorKind::kCorrupt) {
    return Corrupt(kSchema, "'{}' is not a type: {}", text, type.status().message());
  }
  return type;
}

arrow::Status Refuse(const arrow::DataType& type) {
  return Unsupported("Unsupported data type: {}", type.ToString());
}

arrow::Result<std::string> DictionaryName(const arrow::DictionaryType& type) {
  ARROW_ASSIGN_OR_RAISE(const std::string values, LogicalTypeOf(*type.value_type()));
  ARROW_ASSIGN_OR_RAISE(const std::string indices, LogicalTypeOf(*type.index_type()));
  // The name is taken apart at its colons, and nested values would need Field messages.
  if (values.find(':') != values.npos || IsNested(values)) return Refuse(type);
  return "dict:" + values + ":" + indices + ":false";
}

bool IsBfloat16(const arrow::Field& item) {
  if (item.type()->id() == arrow::Type::EXTENSION) {
    return static_cast<const arrow::ExtensionType&>(*item.type()).extension_name() == kBfloat16;
  }
  return item.metadata() != nullptr &&
         item.metadata()->Get(kExtensionName).ValueOr("") == kBfloat16;
}

arrow::Result<std::string> FixedSizeListName(const arrow::FixedSizeListType& type) {
  if (type.list_size() <= 0) {
    return InvalidInput("a fixed-size list of dimension {}, which must be positive",
                        type.list_size());
  }
  std::string item = kBfloat16;
  if (!IsBfloat16(*type.value_field())) {
    ARROW_ASSIGN_OR_RAISE(item, LogicalTypeOf(*type.value_type()));
    const bool nested = item.starts_with("fixed_size_list:struct:");
    if (nested || (IsNested(item) && item != "struct")) return Refuse(type);
  }
  return "fixed_size_list:" + item + ":" + std::to_string(type.list_size());
}

std::string DecimalName(const arrow::DecimalType& type, std::string_view width) {
  return "decimal:" + std::string(width) + ":" + std::to_string(type.precision()) + ":" +
         std::to_string(type.scale());
}

std::string TemporalName(std::string_view word, arrow::TimeUnit::type unit) {
  return std::string(word) + ":" + std::string(NameOf(unit));
}

std::string ListName(std::string_view word, const arrow::Field& item) {
  const bool of_structs = item.type()->id() == arrow::Type::STRUCT;
  return std::string(word) + (of_structs ? ".struct" : "");
}

}  // namespace

bool IsNested(std::string_view type) {
  return type == "struct" || type == "map" || type == "list" || type == "list.struct" ||
         type == "large_list" || type == "large_list.struct" ||
         type.starts_with("fixed_size_list:struct:");
}

std::optional<int32_t> NumberOf(std::string_view text) {
  int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

arrow::Result<int32_t> ListSizeOf(std::string_view logical_type) {
  const std::string_view text = TakeLastWord(logical_type);
  const auto size = NumberOf(text);
  if (!size || *size <= 0) {
    return Corrupt(kSchema, "a fixed-size list of dimension '{}', which must be positive", text);
  }
  return *size;
}

arrow::Result<TypePtr> UnnestedTypeOf(std::string_view logical_type) {
  return TypeOf(logical_type, 0);
}

arrow::Result<std::string> LogicalTypeOf(const arrow::DataType& type) {
  using arrow::Type;
  const auto named = std::ranges::find_if(
      kNamedTypes, [&](const NamedType& each) { return each.type()->id() == type.id(); });
  if (named != kNamedTypes.end()) return std::string(named->name);
  switch (type.id()) {
    case Type::STRING_VIEW: return "string";
    case Type::BINARY_VIEW: return "binary";
    case Type::FIXED_SIZE_BINARY:
      return "fixed_size_binary:" +
             std::to_string(static_cast<const arrow::FixedSizeBinaryType&>(type).byte_width());
    case Type::DECIMAL128: return DecimalName(static_cast<const arrow::DecimalType&>(type), "128");
    case Type::DECIMAL256: return DecimalName(static_cast<const arrow::DecimalType&>(type), "256");
    case Type::TIME32:
      return TemporalName("time32", static_cast<const arrow::TimeType&>(type).unit());
    case Type::TIME64:
      return TemporalName("time64", static_cast<const arrow::TimeType&>(type).unit());
    case Type::DURATION:
      return TemporalName("duration", static_cast<const arrow::DurationType&>(type).unit());
    case Type::TIMESTAMP: {
      const auto& timestamp = static_cast<const arrow::TimestampType&>(type);
      const std::string& zone = timestamp.timezone();
      return TemporalName("timestamp", timestamp.unit()) + ":" + (zone.empty() ? "-" : zone);
    }
    case Type::STRUCT: return "struct";
    case Type::LIST: return ListName("list", *type.field(0));
    case Type::LARGE_LIST: return ListName("large_list", *type.field(0));
    case Type::FIXED_SIZE_LIST:
      return FixedSizeListName(static_cast<const arrow::FixedSizeListType&>(type));
    case Type::MAP:
      if (static_cast<const arrow::MapType&>(type).keys_sorted()) return Refuse(type);
      return "map";
    case Type::DICTIONARY: return DictionaryName(static_cast<const arrow::DictionaryType&>(type));
    case Type::EXTENSION:
      return LogicalTypeOf(*static_cast<const arrow::ExtensionType&>(type).storage_type());
    default: return Refuse(type);
  }
}

}  // namespace glaive::wire
