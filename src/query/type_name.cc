#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "query/coercion.h"

namespace glaive::query {
namespace {

using TypePtr = std::shared_ptr<arrow::DataType>;
using Id = arrow::Type;

struct Named {
  Id::type id;
  std::string_view name;
  const TypePtr& (*make)();
};
constexpr std::array<Named, 19> kNames = {{
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
    {Id::DATE32, "Date32", &arrow::date32},
    {Id::DATE64, "Date64", &arrow::date64},
}};

struct Unit {
  arrow::TimeUnit::type unit;
  std::string_view name;
  std::string_view symbol;
};
constexpr std::array<Unit, 4> kUnits = {{
    {arrow::TimeUnit::SECOND, "Second", "s"},
    {arrow::TimeUnit::MILLI, "Millisecond", "ms"},
    {arrow::TimeUnit::MICRO, "Microsecond", "us"},
    {arrow::TimeUnit::NANO, "Nanosecond", "ns"},
}};

std::string_view NameOf(arrow::TimeUnit::type unit) {
  return std::ranges::find(kUnits, unit, &Unit::unit)->name;
}

std::optional<arrow::TimeUnit::type> UnitNamed(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (name == unit.name || name == unit.symbol) return unit.unit;
  }
  return std::nullopt;
}

std::string_view Trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::optional<int> NumberOf(std::string_view text) {
  int number = 0;
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data(), end, number).ptr != end || text.empty()) return std::nullopt;
  return number;
}

// None, Some("UTC"), "UTC"
std::optional<std::string> ZoneOf(std::string_view text) {
  if (text == "None") return "";
  if (text.starts_with("Some(") && text.ends_with(")")) text = text.substr(5, text.size() - 6);
  if (text.size() < 2 || !text.starts_with('"') || !text.ends_with('"')) return std::nullopt;
  return std::string(text.substr(1, text.size() - 2));
}

// Null where the parameters do not fit.
TypePtr MakeParametric(std::string_view name, std::string_view first, std::string_view second) {
  const auto unit = UnitNamed(first);
  if (name == "Timestamp" && unit) {
    const auto zone = second.empty() ? std::optional<std::string>("") : ZoneOf(second);
    return zone ? arrow::timestamp(*unit, *zone) : nullptr;
  }
  const bool fine = unit && *unit >= arrow::TimeUnit::MICRO;
  if (name == "Time32" && unit && !fine) return arrow::time32(*unit);
  if (name == "Time64" && unit && fine) return arrow::time64(*unit);
  if (name == "Duration" && unit) return arrow::duration(*unit);
  const auto number = NumberOf(first);
  if (name == "FixedSizeBinary" && number && *number >= 0) return arrow::fixed_size_binary(*number);
  const auto scale = NumberOf(second);
  const bool is_decimal = number && scale && *number >= 1 && *scale <= *number;
  if (name == "Decimal128" && is_decimal && *number <= 38)
    return arrow::decimal128(*number, *scale);
  if (name == "Decimal256" && is_decimal && *number <= 76)
    return arrow::decimal256(*number, *scale);
  return nullptr;
}

}  // namespace

std::string TypeName(const arrow::DataType& type) {
  const auto* found = std::ranges::find(kNames, type.id(), &Named::id);
  if (found != kNames.end()) return std::string(found->name);
  if (type.id() == Id::INTERVAL_MONTH_DAY_NANO) return "Interval(MonthDayNano)";
  if (type.id() == Id::TIMESTAMP) {
    const auto& stamp = static_cast<const arrow::TimestampType&>(type);
    const std::string zone =
        stamp.timezone().empty() ? "None" : "Some(\"" + stamp.timezone() + "\")";
    return fmt::format("Timestamp({}, {})", NameOf(stamp.unit()), zone);
  }
  if (arrow::is_time(type.id())) {
    return fmt::format("{}({})", type.id() == Id::TIME32 ? "Time32" : "Time64",
                       NameOf(static_cast<const arrow::TimeType&>(type).unit()));
  }
  if (type.id() == Id::DURATION) {
    return fmt::format("Duration({})",
                       NameOf(static_cast<const arrow::DurationType&>(type).unit()));
  }
  if (arrow::is_decimal(type.id())) {
    const auto& decimal = static_cast<const arrow::DecimalType&>(type);
    return fmt::format("Decimal{}({}, {})", decimal.bit_width(), decimal.precision(),
                       decimal.scale());
  }
  if (IsList(type)) {
    return fmt::format("{}({})", type.id() == Id::LARGE_LIST ? "LargeList" : "List",
                       TypeName(*type.field(0)->type()));
  }
  return type.ToString();
}

arrow::Result<TypePtr> TypeNamed(std::string_view name) {
  const std::string_view trimmed = Trim(name);
  for (const Named& named : kNames) {
    if (trimmed == named.name) return named.make();
  }
  if (trimmed == "Interval(MonthDayNano)") return arrow::month_day_nano_interval();
  const size_t open = trimmed.find('(');
  if (open != std::string_view::npos && trimmed.ends_with(')')) {
    const std::string_view inside = trimmed.substr(open + 1, trimmed.size() - open - 2);
    const size_t comma = std::min(inside.find(','), inside.size());
    const std::string_view second =
        comma == inside.size() ? std::string_view() : inside.substr(comma + 1);
    if (auto type = MakeParametric(Trim(trimmed.substr(0, open)), Trim(inside.substr(0, comma)),
                                   Trim(second))) {
      return type;
    }
  }
  return InvalidInput(
      "Unsupported type '{}'. Must be a supported arrow type name such as 'Int32' or "
      "'Timestamp(Nanosecond, None)'",
      name);
}

}  // namespace glaive::query
