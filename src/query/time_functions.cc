#include <array>
#include <optional>
#include <utility>

#include <arrow/array.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/clock.h"
#include "core/error.h"
#include "query/coercion.h"
#include "query/functions.h"

namespace glaive::query {
namespace {

namespace cp = arrow::compute;
using Arguments = std::vector<BoundPtr>;
using TypePtr = std::shared_ptr<arrow::DataType>;

std::string ToLower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// A date or a time; texts are read as one.
arrow::Status TakeTime(std::string_view function, BoundPtr* argument) {
  const arrow::DataType& type = *(*argument)->type();
  if (arrow::is_date(type.id()) || type.id() == arrow::Type::TIMESTAMP) return arrow::Status::OK();
  if (IsText(type) || IsNull(*argument)) {
    *argument = MakeCast(std::move(*argument), arrow::timestamp(arrow::TimeUnit::NANO));
    return arrow::Status::OK();
  }
  return InvalidInput("Function '{}' requires a date or a timestamp, but received {}", function,
                      TypeName(type));
}

// Seconds and what is finer count from the minute.
BoundPtr OfMinute(BoundPtr time, int64_t per_second) {
  const Kernel kernel = [per_second](std::span<const arrow::Datum> values,
                                     int64_t) -> arrow::Result<arrow::Datum> {
    const auto count = [&](const char* part, int64_t factor) -> arrow::Result<arrow::Datum> {
      ARROW_ASSIGN_OR_RAISE(const arrow::Datum counted, CallArrow(part, {values[0]}));
      return CallArrow("multiply", {counted, arrow::Datum(factor)});
    };
    ARROW_ASSIGN_OR_RAISE(arrow::Datum sum, count("second", per_second));
    int64_t unit = 1'000;
    for (const char* part : {"millisecond", "microsecond", "nanosecond"}) {
      if (per_second < unit) break;
      ARROW_ASSIGN_OR_RAISE(const arrow::Datum more, count(part, per_second / unit));
      ARROW_ASSIGN_OR_RAISE(sum, CallArrow("add", {sum, more}));
      unit *= 1'000;
    }
    return sum;
  };
  return MakeKernel(kernel, {std::move(time)}, arrow::int64());
}

BoundPtr Epoch(const BoundPtr& time) {
  TypePtr type = time->type();
  BoundPtr stamp = time;
  if (arrow::is_date(type->id())) {
    type = arrow::timestamp(arrow::TimeUnit::SECOND);
    stamp = MakeCast(time, type);
  }
  static constexpr std::array kTicks = {1.0, 1e3, 1e6, 1e9};
  const auto unit = static_cast<size_t>(static_cast<const arrow::TimestampType&>(*type).unit());
  return MakeCall("divide",
                  {MakeCast(MakeCast(std::move(stamp), arrow::int64()), arrow::float64()),
                   MakeLiteral(arrow::MakeScalar(kTicks[unit]))},
                  arrow::float64());
}

struct Part {
  std::string_view name;  // singular
  const char* kernel;
};
constexpr std::array<Part, 11> kParts = {{{"year", "year"},
                                          {"isoyear", "iso_year"},
                                          {"quarter", "quarter"},
                                          {"month", "month"},
                                          {"week", "iso_week"},
                                          {"day", "day"},
                                          {"doy", "day_of_year"},
                                          {"hour", "hour"},
                                          {"minute", "minute"},
                                          {"dow", "day_of_week"},
                                          {"isodow", "day_of_week"}}};

arrow::Result<BoundPtr> BindPart(std::string_view name, Arguments arguments) {
  ARROW_ASSIGN_OR_RAISE(std::string part, TakeLiteral(name, arguments[0]));
  part = ToLower(std::move(part));
  BoundPtr time = std::move(arguments[1]);
  ARROW_RETURN_NOT_OK(TakeTime(name, &time));
  if (part == "epoch") return Epoch(time);
  if (part.size() > 3 && part.ends_with('s')) part.pop_back();
  const bool of_day = arrow::is_date(time->type()->id());
  // Days have no hours.
  if (of_day) time = MakeCast(std::move(time), arrow::timestamp(arrow::TimeUnit::SECOND));
  if (part == "second") return MakeCast(MakeCall("second", {time}, arrow::int64()), arrow::int32());
  if (part == "millisecond") return MakeCast(OfMinute(time, 1'000), arrow::int32());
  if (part == "microsecond") return MakeCast(OfMinute(time, 1'000'000), arrow::int32());
  if (part == "nanosecond") return OfMinute(time, 1'000'000'000);
  for (const Part& known : kParts) {
    if (part != known.name) continue;
    std::shared_ptr<cp::FunctionOptions> options;
    // From Sunday, which is 0; for the ISO from Monday, which is 1.
    if (part == "dow") options = std::make_shared<cp::DayOfWeekOptions>(true, 7);
    if (part == "isodow") options = std::make_shared<cp::DayOfWeekOptions>(false, 1);
    return MakeCast(MakeCall(known.kernel, {std::move(time)}, arrow::int64(), options),
                    arrow::int32());
  }
  return InvalidInput("Date part '{}' not supported", part);
}

struct Grain {
  std::string_view name;
  cp::CalendarUnit unit;
};
constexpr std::array<Grain, 10> kGrains = {{
    {"microsecond", cp::CalendarUnit::MICROSECOND},
    {"millisecond", cp::CalendarUnit::MILLISECOND},
    {"second", cp::CalendarUnit::SECOND},
    {"minute", cp::CalendarUnit::MINUTE},
    {"hour", cp::CalendarUnit::HOUR},
    {"day", cp::CalendarUnit::DAY},
    {"week", cp::CalendarUnit::WEEK},
    {"month", cp::CalendarUnit::MONTH},
    {"quarter", cp::CalendarUnit::QUARTER},
    {"year", cp::CalendarUnit::YEAR},
}};

arrow::Result<BoundPtr> BindTrunc(std::string_view name, Arguments arguments) {
  ARROW_ASSIGN_OR_RAISE(const std::string grain, TakeLiteral(name, arguments[0]));
  BoundPtr time = std::move(arguments[1]);
  ARROW_RETURN_NOT_OK(TakeTime(name, &time));
  if (arrow::is_date(time->type()->id())) {
    time = MakeCast(std::move(time), arrow::timestamp(arrow::TimeUnit::NANO));
  }
  for (const Grain& known : kGrains) {
    if (ToLower(grain) != known.name) continue;
    TypePtr type = time->type();
    return MakeCall("floor_temporal", {std::move(time)}, std::move(type),
                    std::make_shared<cp::RoundTemporalOptions>(1, known.unit));
  }
  return InvalidInput("Unsupported date_trunc granularity: '{}'", grain);
}

std::optional<arrow::TimeUnit::type> UnitOf(std::string_view function) {
  if (function.ends_with("_seconds")) return arrow::TimeUnit::SECOND;
  if (function.ends_with("_millis")) return arrow::TimeUnit::MILLI;
  if (function.ends_with("_micros")) return arrow::TimeUnit::MICRO;
  if (function.ends_with("_nanos")) return arrow::TimeUnit::NANO;
  return std::nullopt;
}

// A number counts in the unit of the function's name; in to_timestamp() it counts seconds.
arrow::Result<BoundPtr> BindStamp(std::string_view name, Arguments arguments) {
  const auto unit = UnitOf(name);
  const TypePtr type = arrow::timestamp(unit.value_or(arrow::TimeUnit::NANO));
  BoundPtr value = std::move(arguments[0]);
  if (IsNumber(*value->type())) {
    if (!unit && arrow::is_floating(value->type()->id())) {
      value = MakeCall(
          "multiply",
          {MakeCast(std::move(value), arrow::float64()), MakeLiteral(arrow::MakeScalar(1e9))},
          arrow::float64());
    } else if (!unit) {
      value = MakeCast(std::move(value), arrow::timestamp(arrow::TimeUnit::SECOND));
      return MakeCast(std::move(value), type);
    }
    return MakeCast(MakeCast(std::move(value), arrow::int64()), type);
  }
  ARROW_RETURN_NOT_OK(TakeTime(name, &value));
  return MakeCast(std::move(value), type);
}

arrow::Result<BoundPtr> BindFromUnix(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeInteger(name, &arguments[0]));
  return MakeCast(std::move(arguments[0]), arrow::timestamp(arrow::TimeUnit::SECOND));
}

arrow::Result<BoundPtr> BindToUnix(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeTime(name, &arguments[0]));
  const TypePtr seconds = arrow::timestamp(arrow::TimeUnit::SECOND);
  return MakeCast(MakeCast(std::move(arguments[0]), seconds), arrow::int64());
}

arrow::Result<BoundPtr> BindToDate(std::string_view name, Arguments arguments) {
  BoundPtr value = std::move(arguments[0]);
  if (arrow::is_integer(value->type()->id())) value = MakeCast(std::move(value), arrow::int32());
  if (arrow::is_floating(value->type()->id())) {
    return InvalidInput("Function '{}' does not take {}", name, TypeName(*value->type()));
  }
  return MakeCast(std::move(value), arrow::date32());
}

// The same for all rows: when the expression was bound.
arrow::Result<BoundPtr> BindNow(std::string_view name, Arguments) {
  BoundPtr stamp = MakeCast(MakeLiteral(arrow::MakeScalar(UnixNanoseconds())),
                            arrow::timestamp(arrow::TimeUnit::NANO));
  if (name == "now" || name == "current_timestamp") return stamp;
  return MakeCast(std::move(stamp), arrow::date32());
}

constexpr std::array<Function, 16> kFunctions = {{
    {"date_part", 2, 2, &BindPart},
    {"datepart", 2, 2, &BindPart},
    {"date_trunc", 2, 2, &BindTrunc},
    {"datetrunc", 2, 2, &BindTrunc},
    {"to_timestamp", 1, 1, &BindStamp},
    {"to_timestamp_seconds", 1, 1, &BindStamp},
    {"to_timestamp_millis", 1, 1, &BindStamp},
    {"to_timestamp_micros", 1, 1, &BindStamp},
    {"to_timestamp_nanos", 1, 1, &BindStamp},
    {"from_unixtime", 1, 1, &BindFromUnix},
    {"to_unixtime", 1, 1, &BindToUnix},
    {"to_date", 1, 1, &BindToDate},
    {"now", 0, 0, &BindNow},
    {"current_timestamp", 0, 0, &BindNow},
    {"current_date", 0, 0, &BindNow},
    {"today", 0, 0, &BindNow},
}};

}  // namespace

std::span<const Function> TimeFunctions() { return kFunctions; }

}  // namespace glaive::query
