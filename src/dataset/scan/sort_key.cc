#include "dataset/scan/sort_key.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/chunked_array.h>
#include <arrow/compute/cast.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/visit_type_inline.h>

#include "core/error.h"

namespace glaive::dataset {
namespace {

template <typename Bits>
auto TotalOrder(Bits bits) noexcept {
  using Signed = std::make_signed_t<Bits>;
  constexpr int kSignShift = static_cast<int>(8 * sizeof(Bits)) - 1;
  constexpr auto kAllButSign = static_cast<Signed>(~(Bits{1} << kSignShift));
  const auto value = static_cast<Signed>(bits);
  return static_cast<Signed>(value ^ ((value >> kSignShift) & kAllButSign));
}

// Appends bytes to rows, so that rows are in the order of their bytes.
class KeyWriter {
 public:
  KeyWriter(std::string_view name, bool nulls_low) : name_(name), nulls_low_(nulls_low) {}

  arrow::Status Append(const arrow::Array& array, int64_t row, std::string* key) {
    if (array.IsNull(row)) {
      key->push_back(nulls_low_ ? '\0' : '\2');
      return arrow::Status::OK();
    }
    key->push_back('\1');
    switch (array.type_id()) {
      case arrow::Type::LIST: return AppendItems<arrow::ListArray>(array, row, key);
      case arrow::Type::LARGE_LIST: return AppendItems<arrow::LargeListArray>(array, row, key);
      case arrow::Type::FIXED_SIZE_LIST:
        return AppendItems<arrow::FixedSizeListArray>(array, row, key);
      case arrow::Type::STRUCT: {
        const auto& parts = static_cast<const arrow::StructArray&>(array);
        for (const auto& field : parts.fields()) {
          ARROW_RETURN_NOT_OK(Append(*field, row, key));
        }
        return arrow::Status::OK();
      }
      default: return AppendValue(array, row, key);
    }
  }

 private:
  template <typename Array>
  arrow::Status AppendItems(const arrow::Array& array, int64_t row, std::string* key) {
    const auto& lists = static_cast<const Array&>(array);
    for (int64_t i = lists.value_offset(row); i < lists.value_offset(row) + lists.value_length(row);
         ++i) {
      key->push_back('\1');
      ARROW_RETURN_NOT_OK(Append(*lists.values(), i, key));
    }
    key->push_back('\0');  // a list is before what it begins
    return arrow::Status::OK();
  }

  template <typename Integer>
  static void AppendInteger(Integer value, std::string* key) {
    using Bits = std::make_unsigned_t<Integer>;
    auto bits = static_cast<Bits>(value);
    if (std::is_signed_v<Integer>) {
      bits = static_cast<Bits>(bits ^ static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1)));
    }
    for (size_t i = sizeof(Bits); i-- > 0;) {
      key->push_back(static_cast<char>(static_cast<Bits>(bits >> (8 * i)) & 0xFF));
    }
  }

  // No text is the begin of another one's bytes.
  static void AppendBytes(std::string_view bytes, std::string* key) {
    for (const char byte : bytes) {
      key->push_back(byte);
      if (byte == '\0') key->push_back('\xFF');
    }
    key->append(2, '\0');
  }

  arrow::Status AppendValue(const arrow::Array& array, int64_t row, std::string* key) {
    const auto append = [&](const auto& type) -> arrow::Status {
      using Type = std::decay_t<decltype(type)>;
      if constexpr (std::is_same_v<Type, arrow::BooleanType>) {
        key->push_back(static_cast<const arrow::BooleanArray&>(array).Value(row) ? '\1' : '\0');
      } else if constexpr (arrow::is_base_binary_type<Type>::value) {
        using Array = typename arrow::TypeTraits<Type>::ArrayType;
        AppendBytes(static_cast<const Array&>(array).GetView(row), key);
      } else if constexpr (std::is_same_v<Type, arrow::FloatType>) {
        const float value = static_cast<const arrow::FloatArray&>(array).Value(row);
        AppendInteger(TotalOrder(std::bit_cast<uint32_t>(value)), key);
      } else if constexpr (std::is_same_v<Type, arrow::DoubleType>) {
        const double value = static_cast<const arrow::DoubleArray&>(array).Value(row);
        AppendInteger(TotalOrder(std::bit_cast<uint64_t>(value)), key);
      } else if constexpr (std::is_same_v<Type, arrow::HalfFloatType>) {
        AppendInteger(TotalOrder(static_cast<const arrow::HalfFloatArray&>(array).Value(row)), key);
      } else if constexpr (arrow::is_integer_type<Type>::value ||
                           arrow::is_date_type<Type>::value || arrow::is_time_type<Type>::value ||
                           arrow::is_timestamp_type<Type>::value ||
                           arrow::is_duration_type<Type>::value) {
        using Array = typename arrow::TypeTraits<Type>::ArrayType;
        AppendInteger(static_cast<const Array&>(array).Value(row), key);
      } else if constexpr (arrow::is_decimal_type<Type>::value) {
        // Little-endian, in two's complement.
        const auto& decimals = static_cast<const arrow::FixedSizeBinaryArray&>(array);
        const uint8_t* bytes = decimals.GetValue(row);
        for (int i = decimals.byte_width(); i-- > 0;) {
          const bool has_sign = i + 1 == decimals.byte_width();
          key->push_back(static_cast<char>(has_sign ? bytes[i] ^ 0x80 : bytes[i]));
        }
      } else if constexpr (std::is_same_v<Type, arrow::FixedSizeBinaryType>) {
        key->append(static_cast<const arrow::FixedSizeBinaryArray&>(array).GetView(row));
      } else {
        return InvalidInput("rows cannot be sorted by '{}', which has values of type {}", name_,
                            array.type()->ToString());
      }
      return arrow::Status::OK();
    };
    return VisitTypeInline(*array.type(), Visitor<decltype(append)>{append});
  }

  template <typename Append>
  struct Visitor {
    const Append& append;
    template <typename Type>
    arrow::Status Visit(const Type& type) {
      return append(type);
    }
  };
  template <typename V>
  static arrow::Status VisitTypeInline(const arrow::DataType& type, V visitor) {
    return arrow::VisitTypeInline(type, &visitor);
  }

  std::string_view name_;
  bool nulls_low_;
};

arrow::Result<std::shared_ptr<arrow::Array>> BytesOf(const arrow::Array& array,
                                                     std::string_view name, bool nulls_low) {
  KeyWriter writer(name, nulls_low);
  arrow::LargeBinaryBuilder builder;
  std::string key;
  for (int64_t row = 0; row < array.length(); ++row) {
    if (array.IsNull(row)) {
      ARROW_RETURN_NOT_OK(builder.AppendNull());
      continue;
    }
    key.clear();
    ARROW_RETURN_NOT_OK(writer.Append(array, row, &key));
    ARROW_RETURN_NOT_OK(builder.Append(key));
  }
  return builder.Finish();
}

template <typename Array, typename Bits>
arrow::Result<std::shared_ptr<arrow::Array>> IntegersOf(const arrow::Array& array) {
  const auto& values = static_cast<const Array&>(array);
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(array.length()));
  for (int64_t row = 0; row < array.length(); ++row) {
    if (array.IsNull(row)) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(TotalOrder(std::bit_cast<Bits>(values.Value(row))));
    }
  }
  return builder.Finish();
}

arrow::Result<std::shared_ptr<arrow::Array>> Decoded(std::shared_ptr<arrow::Array> array) {
  if (array->type_id() != arrow::Type::DICTIONARY) return array;
  const auto& type = static_cast<const arrow::DictionaryType&>(*array->type());
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum values,
                        arrow::compute::Cast(arrow::Datum(array), type.value_type()));
  return values.make_array();
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::ChunkedArray>> SortKeys(const arrow::ChunkedArray& column,
                                                             std::string_view name,
                                                             bool nulls_low) {
  // Of a column without rows, too, the keys have their type.
  ARROW_ASSIGN_OR_RAISE(const auto none, arrow::MakeEmptyArray(column.type()));
  arrow::ArrayVector chunks = column.chunks();
  if (chunks.empty()) chunks.push_back(none);
  for (std::shared_ptr<arrow::Array>& chunk : chunks) {
    ARROW_ASSIGN_OR_RAISE(chunk, Decoded(std::move(chunk)));
    switch (chunk->type_id()) {
      case arrow::Type::HALF_FLOAT: {
        ARROW_ASSIGN_OR_RAISE(chunk, (IntegersOf<arrow::HalfFloatArray, uint16_t>(*chunk)));
        break;
      }
      case arrow::Type::FLOAT: {
        ARROW_ASSIGN_OR_RAISE(chunk, (IntegersOf<arrow::FloatArray, uint32_t>(*chunk)));
        break;
      }
      case arrow::Type::DOUBLE: {
        ARROW_ASSIGN_OR_RAISE(chunk, (IntegersOf<arrow::DoubleArray, uint64_t>(*chunk)));
        break;
      }
      default:
        if (arrow::is_nested(chunk->type_id())) {
          ARROW_ASSIGN_OR_RAISE(chunk, BytesOf(*chunk, name, nulls_low));
        }
    }
  }
  return arrow::ChunkedArray::Make(std::move(chunks));
}

}  // namespace glaive::dataset
