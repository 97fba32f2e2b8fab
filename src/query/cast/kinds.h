#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/result.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

// Casts by what they make; CastArray() in cast.cc is the way in. All take arrays of the types that
// CanCast() names, but no halves, dictionaries or lists. What the type cannot hold is an error, or
// null where `is_try`.
namespace glaive::query {

using ArrayPtr = std::shared_ptr<arrow::Array>;
using TypePtr = std::shared_ptr<arrow::DataType>;

// Any two types that CanCast() names.
arrow::Result<ArrayPtr> CastArray(const ArrayPtr& array, const TypePtr& type, bool is_try);

arrow::Result<ArrayPtr> CastToBool(const ArrayPtr& array, bool is_try);
arrow::Result<ArrayPtr> CastToInteger(const ArrayPtr& array, const TypePtr& type, bool is_try);
arrow::Result<ArrayPtr> CastToFloat(const ArrayPtr& array, const TypePtr& type, bool is_try);
arrow::Result<ArrayPtr> CastToDecimal(const ArrayPtr& array, const TypePtr& type, bool is_try);
arrow::Result<ArrayPtr> CastDecimalToInteger(const arrow::Array& array, const TypePtr& type,
                                             bool is_try);
arrow::Result<ArrayPtr> CastDecimalToDouble(const arrow::Array& array);
arrow::Result<ArrayPtr> CastToText(const ArrayPtr& array, const TypePtr& type, bool is_try);
arrow::Result<ArrayPtr> CastToBytes(const ArrayPtr& array, const TypePtr& type, bool is_try);
// Dates, times of day, timestamps, durations and intervals.
arrow::Result<ArrayPtr> CastToTime(const ArrayPtr& array, const TypePtr& type, bool is_try);
arrow::Result<ArrayPtr> CastTextToTime(const arrow::Array& array, const TypePtr& type, bool is_try);
// Lists and structs of either side.
arrow::Result<ArrayPtr> CastNested(const ArrayPtr& array, const TypePtr& type, bool is_try);

// Dates, times of day, timestamps and durations as the int64 that they count.
arrow::Result<ArrayPtr> TicksOf(const ArrayPtr& array);
// Whether TicksOf() has them, or it is an interval.
inline bool IsTime(const arrow::DataType& type) {
  return arrow::is_temporal(type.id()) || type.id() == arrow::Type::DURATION ||
         type.id() == arrow::Type::INTERVAL_MONTH_DAY_NANO;
}
arrow::Result<ArrayPtr> WidenHalves(const arrow::Array& array);
// By `convert`: what it has no value for is an error or, with `is_try`, null.
arrow::Status CannotCast(const arrow::Array& array, int64_t row, const arrow::DataType& type);

template <typename Builder, typename Convert>
arrow::Result<ArrayPtr> CastRows(const arrow::Array& array, const TypePtr& type, bool is_try,
                                 const Convert& convert) {
  Builder builder(type, arrow::default_memory_pool());
  ARROW_RETURN_NOT_OK(builder.Reserve(array.length()));
  for (int64_t i = 0; i < array.length(); ++i) {
    if (array.IsNull(i)) {
      ARROW_RETURN_NOT_OK(builder.AppendNull());
      continue;
    }
    const auto value = convert(i);
    if (value) {
      ARROW_RETURN_NOT_OK(builder.Append(*value));
    } else if (is_try) {
      ARROW_RETURN_NOT_OK(builder.AppendNull());
    } else {
      return CannotCast(array, i, *type);
    }
  }
  return builder.Finish();
}

}  // namespace glaive::query
