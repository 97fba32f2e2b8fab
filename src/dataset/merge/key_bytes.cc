#include "dataset/merge/key_bytes.h"

#include <algorithm>
#include <string_view>
#include <type_traits>

#include <arrow/array.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/decimal.h>

namespace glaive::dataset {
namespace {

template <typename T>
void AppendNumber(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Bytes of values that are one run of bytes; nothing of others.
void AppendLeaf(const arrow::Array& values, int64_t row, std::string* out) {
  switch (values.type_id()) {
    case arrow::Type::BOOL:
      out->push_back(static_cast<const arrow::BooleanArray&>(values).Value(row) ? 1 : 0);
      return;
    case arrow::Type::INT8:
      return AppendNumber<int64_t>(static_cast<const arrow::Int8Array&>(values).Value(row), out);
    case arrow::Type::INT16:
      return AppendNumber<int64_t>(static_cast<const arrow::Int16Array&>(values).Value(row), out);
    case arrow::Type::INT32:
      return AppendNumber<int64_t>(static_cast<const arrow::Int32Array&>(values).Value(row), out);
    case arrow::Type::UINT8:
      return AppendNumber<uint64_t>(static_cast<const arrow::UInt8Array&>(values).Value(row), out);
    case arrow::Type::UINT16:
      return AppendNumber<uint64_t>(static_cast<const arrow::UInt16Array&>(values).Value(row), out);
    case arrow::Type::UINT32:
      return AppendNumber<uint64_t>(static_cast<const arrow::UInt32Array&>(values).Value(row), out);
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      out->append(static_cast<const arrow::BinaryArray&>(values).GetView(row));
      return;
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      out->append(static_cast<const arrow::LargeBinaryArray&>(values).GetView(row));
      return;
    default: break;
  }
  if (!arrow::is_fixed_width(values.type_id())) return;
  const auto width = static_cast<size_t>(values.type()->byte_width());
  const auto* data = values.data()->GetValues<char>(1, 0);
  const auto at = static_cast<size_t>(values.offset() + row);
  out->append(data + at * width, width);
}

// The values below a list: in which array, and which of its rows.
struct Items {
  std::shared_ptr<arrow::Array> values;
  int64_t begin;
  int64_t end;
};

Items ItemsOf(const arrow::Array& values, int64_t row) {
  switch (values.type_id()) {
    case arrow::Type::LIST: {
      const auto& list = static_cast<const arrow::ListArray&>(values);
      return {list.values(), list.value_offset(row), list.value_offset(row + 1)};
    }
    case arrow::Type::LARGE_LIST: {
      const auto& list = static_cast<const arrow::LargeListArray&>(values);
      return {list.values(), list.value_offset(row), list.value_offset(row + 1)};
    }
    default: {
      const auto& list = static_cast<const arrow::FixedSizeListArray&>(values);
      return {list.values(), list.value_offset(row), list.value_offset(row + 1)};
    }
  }
}

bool IsList(const arrow::DataType& type) {
  return type.id() == arrow::Type::LIST || type.id() == arrow::Type::LARGE_LIST ||
         type.id() == arrow::Type::FIXED_SIZE_LIST;
}

// Calls `visit(array, row)` for each value that a list or a struct is made of; false for a leaf.
template <typename Visit>
bool VisitParts(const arrow::Array& values, int64_t row, Visit visit) {
  if (IsList(*values.type())) {
    const Items items = ItemsOf(values, row);
    for (int64_t i = items.begin; i < items.end; ++i) visit(*items.values, i);
    return true;
  }
  if (values.type_id() != arrow::Type::STRUCT) return false;
  const auto& record = static_cast<const arrow::StructArray&>(values);
  for (int i = 0; i < record.num_fields(); ++i) visit(*record.field(i), row);
  return true;
}

}  // namespace

void AppendFilterBytes(const arrow::Array& values, int64_t row, std::string* out) {
  if (values.IsNull(row)) return;
  const bool nested = VisitParts(values, row, [&](const arrow::Array& part, int64_t at) {
    AppendFilterBytes(part, at, out);
    out->push_back('\0');
  });
  if (!nested) AppendLeaf(values, row, out);
}

bool IsInFilters(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::INT32:
    case arrow::Type::INT64:
    case arrow::Type::UINT32:
    case arrow::Type::UINT64:
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY: return true;
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::STRUCT:
      return std::ranges::all_of(type.fields(),
                                 [](const auto& field) { return IsInFilters(*field->type()); });
    default: return false;
  }
}

void AppendUniqueBytes(const arrow::Array& values, int64_t row, std::string* out) {
  out->push_back(values.IsNull(row) ? 0 : 1);
  if (values.IsNull(row)) return;
  // How many bytes come is written in front of them, once it is known.
  const size_t begin = out->size();
  AppendNumber<uint64_t>(0, out);
  const bool nested = VisitParts(
      values, row, [&](const arrow::Array& part, int64_t at) { AppendUniqueBytes(part, at, out); });
  if (!nested) AppendLeaf(values, row, out);
  const uint64_t size = out->size() - begin;
  out->replace(begin, sizeof(size), reinterpret_cast<const char*>(&size), sizeof(size));
}

}  // namespace glaive::dataset
