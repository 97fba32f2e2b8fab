#include <optional>

#include <arrow/datum.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "query/cast/calendar.h"
#include "query/cast/cast.h"
#include "query/cast/coercion.h"

namespace glaive::query {
namespace {

using Id = arrow::Type;
using TypePtr = std::shared_ptr<arrow::DataType>;

// Ticks of so many nanoseconds each.
struct Instant {
  int64_t ticks;
  int64_t nanos;
};

const std::string& ZoneOf(const arrow::DataType& type) {
  return static_cast<const arrow::TimestampType&>(type).timezone();
}

int64_t NanosOf(const arrow::DataType& type) { return kNanosOfSecond / PerSecond(UnitOf(type)); }

// By the clock of the zone, or the instant that its clock shows so.
std::optional<Instant> Moved(Instant instant, const std::string& zone, bool to_local) {
  const int64_t per_second = kNanosOfSecond / instant.nanos;
  const int64_t seconds = FloorDivide(instant.ticks, per_second);
  const auto ahead = to_local ? OffsetAt(seconds, zone) : OffsetOfLocal(seconds, zone);
  if (!ahead || __builtin_add_overflow(instant.ticks, (to_local ? *ahead : -*ahead) * per_second,
                                       &instant.ticks)) {
    return std::nullopt;
  }
  return instant;
}

// As the common type has it, but for that type's unit, which may be too fine.
std::optional<Instant> InCommon(const std::shared_ptr<arrow::Scalar>& literal,
                                const arrow::DataType& common) {
  const arrow::DataType& type = *literal->type;
  const auto local = [&](const Instant& instant) -> std::optional<Instant> {
    return ZoneOf(common).empty() ? std::optional(instant)
                                  : Moved(instant, ZoneOf(common), /*to_local=*/false);
  };
  if (type.id() == Id::DATE32) {
    const int64_t days = static_cast<const arrow::Date32Scalar&>(*literal).value;
    return local(Instant{days * kSecondsOfDay, kNanosOfSecond});
  }
  if (type.id() == Id::DATE64) {
    return local(Instant{static_cast<const arrow::Date64Scalar&>(*literal).value, NanosOf(type)});
  }
  if (type.id() == Id::TIMESTAMP) {
    const Instant instant{static_cast<const arrow::TimestampScalar&>(*literal).value,
                          NanosOf(type)};
    return ZoneOf(type).empty() ? local(instant) : instant;
  }
  if (!IsText(type)) return std::nullopt;
  const auto cast = CastValue(arrow::Datum(literal), common.GetSharedPtr(), /*is_try=*/true);
  if (!cast.ok() || !cast->scalar()->is_valid) return std::nullopt;
  return Instant{cast->scalar_as<arrow::TimestampScalar>().value, NanosOf(common)};
}

}  // namespace

std::shared_ptr<arrow::Scalar> InstantAs(const std::shared_ptr<arrow::Scalar>& literal,
                                         const TypePtr& type, const arrow::DataType& common) {
  if (!literal->is_valid || common.id() != Id::TIMESTAMP) return nullptr;
  auto instant = InCommon(literal, common);
  // The column would get the zone, too: the literal loses it instead.
  if (instant && ZoneOf(*type).empty() && !ZoneOf(common).empty()) {
    instant = Moved(*instant, ZoneOf(common), /*to_local=*/true);
  }
  if (!instant) return nullptr;
  const int64_t nanos = NanosOf(*type);
  int64_t ticks = 0;
  if (nanos > instant->nanos) {
    if (instant->ticks % (nanos / instant->nanos) != 0) return nullptr;
    ticks = instant->ticks / (nanos / instant->nanos);
  } else if (__builtin_mul_overflow(instant->ticks, instant->nanos / nanos, &ticks)) {
    return nullptr;
  }
  return std::make_shared<arrow::TimestampScalar>(ticks, type);
}

}  // namespace glaive::query
