#include "query/cast/cast.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/compute/api.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "query/cast/coercion.h"
#include "query/cast/kinds.h"

namespace glaive::query {
namespace {

namespace cp = arrow::compute;
using Id = arrow::Type;

// What the table below tells apart. kOther is never cast.
enum Kind {
  kBool,
  kInt,    // of 8 or 16 bits, or unsigned
  kInt32,  // the number of a date or a short time, too
  kInt64,
  kHalf,
  kFloat,
  kDecimal,
  kText,
  kBytes,
  kFixedBytes,
  kDate32,
  kDate64,
  kTime32,
  kTime64,
  kStamp,
  kDuration,
  kInterval,
  kOther,
};

// Which kinds become which: rows are what a value is, columns what it is to be. pylance's; each
// pair's rule and outcome are in tests/casts, value by value.
constexpr std::array<std::string_view, kOther> kCasts = {
    // to: b i I L h f d t B F D E T U S R V
    /* Bool       */ "xxxxxx.x.........",
    /* Int        */ "xxxxxxxxx.....xx.",
    /* Int32      */ "xxxxxxxxx.xxx.xx.",
    /* Int64      */ "xxxxxxxxx.xx.xxx.",
    /* Half       */ "xxxxxx.x......xx.",
    /* Float      */ "xxxxxxxx......xx.",
    /* Decimal    */ ".xxx.xxx......xx.",
    /* Text       */ "xxxxxxxxx.xxxxx.x",
    /* Bytes      */ ".......xxx.......",
    /* FixedBytes */ "........x........",
    /* Date32     */ "..xx...x..xx..x..",
    /* Date64     */ "..xx...x..xx..x..",
    /* Time32     */ "..xx...x....xx...",
    /* Time64     */ "...x...x....xx...",
    /* Stamp      */ ".xxxxxxx..xxxxx..",
    /* Duration   */ ".xxxxxxx.......xx",
    /* Interval   */ ".......x.......x.",
};

Kind KindOf(const arrow::DataType& type) {
  switch (type.id()) {
    case Id::BOOL: return kBool;
    case Id::INT8:
    case Id::INT16:
    case Id::UINT8:
    case Id::UINT16:
    case Id::UINT32:
    case Id::UINT64: return kInt;
    case Id::INT32: return kInt32;
    case Id::INT64: return kInt64;
    case Id::HALF_FLOAT: return kHalf;
    case Id::FLOAT:
    case Id::DOUBLE: return kFloat;
    case Id::DECIMAL128:
    case Id::DECIMAL256: return kDecimal;
    case Id::STRING:
    case Id::LARGE_STRING: return kText;
    case Id::BINARY:
    case Id::LARGE_BINARY: return kBytes;
    case Id::FIXED_SIZE_BINARY: return kFixedBytes;
    case Id::DATE32: return kDate32;
    case Id::DATE64: return kDate64;
    case Id::TIME32: return kTime32;
    case Id::TIME64: return kTime64;
    case Id::TIMESTAMP: return kStamp;
    case Id::DURATION: return kDuration;
    case Id::INTERVAL_MONTH_DAY_NANO: return kInterval;
    default: return kOther;
  }
}

const arrow::DataType& ValueType(const arrow::DataType& dictionary) {
  return *static_cast<const arrow::DictionaryType&>(dictionary).value_type();
}

int32_t SizeOf(const arrow::DataType& type) {
  return type.id() == Id::FIXED_SIZE_LIST
             ? static_cast<const arrow::FixedSizeListType&>(type).list_size()
             : -1;
}

bool CanCastLists(const arrow::DataType& from, const arrow::DataType& to) {
  const auto item = [](const arrow::DataType& list) -> const arrow::DataType& {
    return *list.field(0)->type();
  };
  if (IsList(from) && IsList(to)) {
    const bool same_size = SizeOf(from) < 0 || SizeOf(to) < 0 || SizeOf(from) == SizeOf(to);
    return same_size && CanCast(item(from), item(to));
  }
  if (IsList(to)) return SizeOf(to) <= 1 && SizeOf(to) != 0 && CanCast(from, item(to));
  if (SizeOf(from) == 1) return CanCast(item(from), to);
  return SizeOf(from) < 0 && IsText(to) && CanCast(item(from), to);
}

// Where one field at least has a counterpart.
bool CanCastStructs(const arrow::StructType& from, const arrow::StructType& to) {
  bool any = false;
  for (const auto& field : to.fields()) {
    const auto counterpart = from.GetFieldByName(field->name());
    if (counterpart == nullptr && !field->nullable()) return false;
    if (counterpart != nullptr && !CanCast(*counterpart->type(), *field->type())) return false;
    any = any || counterpart != nullptr;
  }
  return any;
}

arrow::Result<ArrayPtr> ToDictionary(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  const auto& to = static_cast<const arrow::DictionaryType&>(*type);
  ARROW_ASSIGN_OR_RAISE(const auto values, CastArray(array, to.value_type(), is_try));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum encoded, cp::DictionaryEncode(arrow::Datum(values)));
  const auto plain = encoded.array()->Copy();
  const auto dictionary = plain->dictionary;
  plain->type = arrow::int32();
  plain->dictionary = nullptr;
  ARROW_ASSIGN_OR_RAISE(const auto indices,
                        CastToInteger(arrow::MakeArray(plain), to.index_type(), false));
  const auto data = indices->data()->Copy();
  data->type = type;
  data->dictionary = dictionary;
  return arrow::MakeArray(data);
}

}  // namespace

bool CanCast(const arrow::DataType& from, const arrow::DataType& to) {
  if (from.Equals(to) || from.id() == Id::NA) return true;
  if (from.id() == Id::DICTIONARY && to.id() == Id::DICTIONARY) {
    return CanCast(ValueType(from), ValueType(to));
  }
  if (from.id() == Id::DICTIONARY) return CanCast(ValueType(from), to);
  if (to.id() == Id::DICTIONARY) return CanCast(from, ValueType(to));
  if (IsList(from) || IsList(to)) return CanCastLists(from, to);
  if (from.id() == Id::STRUCT && to.id() == Id::STRUCT) {
    return CanCastStructs(static_cast<const arrow::StructType&>(from),
                          static_cast<const arrow::StructType&>(to));
  }
  const Kind from_kind = KindOf(from);
  const Kind to_kind = KindOf(to);
  return from_kind != kOther && to_kind != kOther && kCasts[from_kind][to_kind] == 'x';
}

arrow::Status CannotCast(const arrow::DataType& from, const arrow::DataType& to) {
  return InvalidInput("Unsupported CAST from {} to {}", TypeName(from), TypeName(to));
}

arrow::Status CannotCast(const arrow::Array& array, int64_t row, const arrow::DataType& type) {
  ARROW_ASSIGN_OR_RAISE(const auto scalar, array.GetScalar(row));
  return InvalidInput("Cast error: Cannot cast value '{}' to value of {} type", scalar->ToString(),
                      TypeName(type));
}

arrow::Result<ArrayPtr> CastArray(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  const TypePtr& from = array->type();
  if (from->Equals(*type)) return array;
  if (from->id() == Id::NA) return arrow::MakeArrayOfNull(type, array->length());
  if (!CanCast(*from, *type)) return CannotCast(*from, *type);
  if (from->id() == Id::DICTIONARY) {
    const auto& values = static_cast<const arrow::DictionaryType&>(*from).value_type();
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum decoded, cp::Cast(arrow::Datum(array), values));
    return CastArray(decoded.make_array(), type, is_try);
  }
  if (type->id() == Id::DICTIONARY) return ToDictionary(array, type, is_try);
  const bool to_text = IsText(*type);
  if (IsList(*type) || (IsList(*from) && !(to_text && SizeOf(*from) < 0)) ||
      from->id() == Id::STRUCT) {
    return CastNested(array, type, is_try);
  }
  if (to_text) return CastToText(array, type, is_try);
  if (from->id() == Id::HALF_FLOAT) {  // no kernel knows halves
    ARROW_ASSIGN_OR_RAISE(const auto floats, WidenHalves(*array));
    return CastArray(floats, type, is_try);
  }
  switch (KindOf(*type)) {
    case kBool: return CastToBool(array, is_try);
    case kInt:
    case kInt32:
    case kInt64: return CastToInteger(array, type, is_try);
    case kHalf:
    case kFloat: return CastToFloat(array, type, is_try);
    case kDecimal: return CastToDecimal(array, type, is_try);
    case kBytes:
    case kFixedBytes: return CastToBytes(array, type, is_try);
    default: return CastToTime(array, type, is_try);
  }
}

arrow::Result<arrow::Datum> CastValue(const arrow::Datum& value, const TypePtr& type, bool is_try) {
  if (value.type()->Equals(*type)) return value;
  if (!value.is_scalar()) {
    ARROW_ASSIGN_OR_RAISE(auto cast, CastArray(value.make_array(), type, is_try));
    return arrow::Datum(std::move(cast));
  }
  if (!CanCast(*value.type(), *type)) return CannotCast(*value.type(), *type);
  ARROW_ASSIGN_OR_RAISE(const auto one, arrow::MakeArrayFromScalar(*value.scalar(), 1));
  ARROW_ASSIGN_OR_RAISE(const auto cast, CastArray(one, type, is_try));
  ARROW_ASSIGN_OR_RAISE(auto scalar, cast->GetScalar(0));
  return arrow::Datum(std::move(scalar));
}

}  // namespace glaive::query
