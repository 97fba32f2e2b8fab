#include "cli/show/json_rows.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/util/base64.h>
#include <arrow/util/float16.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace glaive::cli {
namespace {

using Json = nlohmann::ordered_json;

arrow::Result<Json> ValueOf(const arrow::Array& array, int64_t i);

// JSON has no names for what is no number. Of a float the digits are those that tell it from
// others.
template <typename Float>
Json FloatOf(Float value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return std::strtod(fmt::format("{}", value).c_str(), nullptr);
}

template <typename ArrayType>
Json NumberOf(const arrow::Array& array, int64_t i) {
  return static_cast<const ArrayType&>(array).Value(i);
}

template <typename ArrayType>
std::string_view ViewOf(const arrow::Array& array, int64_t i) {
  return static_cast<const ArrayType&>(array).GetView(i);
}

template <typename ArrayType>
arrow::Result<Json> ListOf(const arrow::Array& array, int64_t i) {
  const auto& lists = static_cast<const ArrayType&>(array);
  Json items = Json::array();
  const int64_t begin = lists.value_offset(i);
  for (int64_t item = begin; item < begin + lists.value_length(i); ++item) {
    ARROW_ASSIGN_OR_RAISE(items.emplace_back(), ValueOf(*lists.values(), item));
  }
  return items;
}

arrow::Result<Json> StructOf(const arrow::StructArray& array, int64_t i) {
  Json members = Json::object();
  for (int child = 0; child < array.num_fields(); ++child) {
    const std::string& name = array.struct_type()->field(child)->name();
    ARROW_ASSIGN_OR_RAISE(members[name], ValueOf(*array.field(child), i));
  }
  return members;
}

arrow::Result<Json> ValueOf(const arrow::Array& array, int64_t i) {
  if (array.IsNull(i)) return Json();
  switch (array.type_id()) {
    case arrow::Type::BOOL: return NumberOf<arrow::BooleanArray>(array, i);
    case arrow::Type::INT8: return NumberOf<arrow::Int8Array>(array, i);
    case arrow::Type::INT16: return NumberOf<arrow::Int16Array>(array, i);
    case arrow::Type::INT32: return NumberOf<arrow::Int32Array>(array, i);
    case arrow::Type::INT64: return NumberOf<arrow::Int64Array>(array, i);
    case arrow::Type::UINT8: return NumberOf<arrow::UInt8Array>(array, i);
    case arrow::Type::UINT16: return NumberOf<arrow::UInt16Array>(array, i);
    case arrow::Type::UINT32: return NumberOf<arrow::UInt32Array>(array, i);
    case arrow::Type::UINT64: return NumberOf<arrow::UInt64Array>(array, i);
    case arrow::Type::HALF_FLOAT: {
      const auto bits = static_cast<const arrow::HalfFloatArray&>(array).Value(i);
      return FloatOf(arrow::util::Float16::FromBits(bits).ToFloat());
    }
    case arrow::Type::FLOAT: return FloatOf(static_cast<const arrow::FloatArray&>(array).Value(i));
    case arrow::Type::DOUBLE:
      return FloatOf(static_cast<const arrow::DoubleArray&>(array).Value(i));
    case arrow::Type::DURATION: return NumberOf<arrow::DurationArray>(array, i);
    case arrow::Type::STRING: return Json(ViewOf<arrow::StringArray>(array, i));
    case arrow::Type::LARGE_STRING: return Json(ViewOf<arrow::LargeStringArray>(array, i));
    case arrow::Type::BINARY:
      return Json(arrow::util::base64_encode(ViewOf<arrow::BinaryArray>(array, i)));
    case arrow::Type::LARGE_BINARY:
      return Json(arrow::util::base64_encode(ViewOf<arrow::LargeBinaryArray>(array, i)));
    case arrow::Type::FIXED_SIZE_BINARY:
      return Json(arrow::util::base64_encode(ViewOf<arrow::FixedSizeBinaryArray>(array, i)));
    case arrow::Type::LIST:
    case arrow::Type::MAP: return ListOf<arrow::ListArray>(array, i);
    case arrow::Type::LARGE_LIST: return ListOf<arrow::LargeListArray>(array, i);
    case arrow::Type::FIXED_SIZE_LIST: return ListOf<arrow::FixedSizeListArray>(array, i);
    case arrow::Type::STRUCT: return StructOf(static_cast<const arrow::StructArray&>(array), i);
    case arrow::Type::EXTENSION:
      return ValueOf(*static_cast<const arrow::ExtensionArray&>(array).storage(), i);
    case arrow::Type::DICTIONARY: {
      const auto& coded = static_cast<const arrow::DictionaryArray&>(array);
      return ValueOf(*coded.dictionary(), coded.GetValueIndex(i));
    }
    default: break;
  }
  ARROW_ASSIGN_OR_RAISE(const auto scalar, array.GetScalar(i));
  return Json(scalar->ToString());
}

// Text that is no UTF-8 comes out with replacement characters.
std::string TextOf(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A field by RFC 4180; nothing at all for null, which an empty string is not.
std::string CsvField(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_boolean() || value.is_number()) return value.dump();
  const std::string text = value.is_string() ? value.get<std::string>() : TextOf(value);
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field + "\"";
}

}  // namespace

std::string CsvHeader(const arrow::Schema& schema) {
  std::string line;
  for (const auto& field : schema.fields()) {
    if (!line.empty()) line += ',';
    line += CsvField(field->name());
  }
  return line + "\n";
}

arrow::Result<std::string> CsvLines(const arrow::RecordBatch& batch) {
  std::string lines;
  for (int64_t row = 0; row < batch.num_rows(); ++row) {
    for (int i = 0; i < batch.num_columns(); ++i) {
      if (i > 0) lines += ',';
      ARROW_ASSIGN_OR_RAISE(const Json value, ValueOf(*batch.column(i), row));
      lines += CsvField(value);
    }
    lines += '\n';
  }
  return lines;
}

arrow::Result<std::string> JsonLines(const arrow::RecordBatch& batch) {
  std::string lines;
  for (int64_t row = 0; row < batch.num_rows(); ++row) {
    Json object = Json::object();
    for (int i = 0; i < batch.num_columns(); ++i) {
      ARROW_ASSIGN_OR_RAISE(object[batch.column_name(i)], ValueOf(*batch.column(i), row));
    }
    lines += TextOf(object);
    lines += '\n';
  }
  return lines;
}

}  // namespace glaive::cli
