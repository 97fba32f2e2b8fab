#include "inspect/row_hasher.h"

#include <cstring>
#include <span>
#include <string_view>

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>

#include "core/error.h"

namespace glaive::inspect {
namespace {

constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;
constexpr uint64_t kNull = 0x6e756c6c;
constexpr uint64_t kList = 0x6c697374;

// The finalizer of splitmix64: each bit of the result depends on all bits.
uint64_t Mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

RowHash HashBytes(RowHash hash, const uint8_t* bytes, size_t size) {
  hash = HashWith(hash, size);
  while (size > 0) {
    uint64_t word = 0;
    const size_t taken = std::min(size, sizeof word);
    std::memcpy(&word, bytes, taken);
    hash = HashWith(hash, word);
    bytes += taken;
    size -= taken;
  }
  return hash;
}

// Hashes of values [begin, begin + count) of an array, one added to each entry of `hashes`.
class ValueHasher {
 public:
  explicit ValueHasher(std::span<RowHash> hashes) : hashes_(hashes) {}

  arrow::Status Visit(const arrow::Array& array);

 private:
  template <typename Hash>
  void ForEach(const arrow::Array& array, Hash&& hash) {
    for (int64_t i = 0; i < array.length(); ++i) {
      RowHash& row = hashes_[static_cast<size_t>(i)];
      row = array.IsNull(i) ? HashWith(row, kNull) : hash(HashWith(row, 1), i);
    }
  }

  template <typename ArrayType>
  arrow::Status VisitBinary(const arrow::Array& array) {
    const auto& values = static_cast<const ArrayType&>(array);
    ForEach(array, [&](RowHash row, int64_t i) {
      const auto view = values.GetView(i);
      return HashBytes(row, reinterpret_cast<const uint8_t*>(view.data()), view.size());
    });
    return arrow::Status::OK();
  }

  template <typename ArrayType>
  arrow::Status VisitList(const arrow::Array& array);
  arrow::Status VisitStruct(const arrow::StructArray& array);
  arrow::Status VisitFixedWidth(const arrow::Array& array, int64_t width);

  std::span<RowHash> hashes_;
};

// Each list is hashed by its items in order, which are hashed all at once.
template <typename ArrayType>
arrow::Status ValueHasher::VisitList(const arrow::Array& array) {
  const auto& lists = static_cast<const ArrayType&>(array);
  if (array.length() == 0) return arrow::Status::OK();
  const int64_t begin = lists.value_offset(0);
  const int64_t end = lists.value_offset(array.length());
  std::vector<RowHash> items(static_cast<size_t>(end - begin));
  ARROW_RETURN_NOT_OK(ValueHasher(items).Visit(*lists.values()->Slice(begin, end - begin)));
  ForEach(array, [&](RowHash row, int64_t i) {
    row = HashWith(HashWith(row, kList), static_cast<uint64_t>(lists.value_length(i)));
    const int64_t first = lists.value_offset(i) - begin;
    for (int64_t item = first; item < first + lists.value_length(i); ++item) {
      row = HashWith(row, items[static_cast<size_t>(item)].low);
    }
    return row;
  });
  return arrow::Status::OK();
}

arrow::Status ValueHasher::VisitStruct(const arrow::StructArray& array) {
  std::vector<RowHash> members(static_cast<size_t>(array.length()));
  for (int child = 0; child < array.num_fields(); ++child) {
    ARROW_RETURN_NOT_OK(ValueHasher(members).Visit(*array.field(child)));
  }
  ForEach(array, [&](RowHash row, int64_t i) {
    return HashWith(row, members[static_cast<size_t>(i)].low);
  });
  return arrow::Status::OK();
}

arrow::Status ValueHasher::VisitFixedWidth(const arrow::Array& array, int64_t width) {
  const arrow::ArrayData& data = *array.data();
  const uint8_t* values = data.buffers[1] == nullptr ? nullptr : data.buffers[1]->data();
  ForEach(array, [&](RowHash row, int64_t i) {
    return HashBytes(row, values + (data.offset + i) * width, static_cast<size_t>(width));
  });
  return arrow::Status::OK();
}

arrow::Status ValueHasher::Visit(const arrow::Array& array) {
  switch (array.type_id()) {
    case arrow::Type::NA:
      ForEach(array, [](RowHash row, int64_t) { return row; });
      return arrow::Status::OK();
    case arrow::Type::BOOL: {
      const auto& values = static_cast<const arrow::BooleanArray&>(array);
      ForEach(array,
              [&](RowHash row, int64_t i) { return HashWith(row, values.Value(i) ? 3 : 2); });
      return arrow::Status::OK();
    }
    case arrow::Type::STRING:
    case arrow::Type::BINARY: return VisitBinary<arrow::BinaryArray>(array);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY: return VisitBinary<arrow::LargeBinaryArray>(array);
    case arrow::Type::MAP:
    case arrow::Type::LIST: return VisitList<arrow::ListArray>(array);
    case arrow::Type::LARGE_LIST: return VisitList<arrow::LargeListArray>(array);
    case arrow::Type::FIXED_SIZE_LIST: return VisitList<arrow::FixedSizeListArray>(array);
    case arrow::Type::STRUCT: return VisitStruct(static_cast<const arrow::StructArray&>(array));
    case arrow::Type::EXTENSION:
      return Visit(*static_cast<const arrow::ExtensionArray&>(array).storage());
    case arrow::Type::DICTIONARY: {
      const auto& coded = static_cast<const arrow::DictionaryArray&>(array);
      std::vector<RowHash> entries(static_cast<size_t>(coded.dictionary()->length()));
      ARROW_RETURN_NOT_OK(ValueHasher(entries).Visit(*coded.dictionary()));
      ForEach(array, [&](RowHash row, int64_t i) {
        return HashWith(row, entries[static_cast<size_t>(coded.GetValueIndex(i))].low);
      });
      return arrow::Status::OK();
    }
    default: break;
  }
  if (arrow::is_fixed_width(array.type_id()) && array.type()->byte_width() > 0) {
    return VisitFixedWidth(array, array.type()->byte_width());
  }
  return Unsupported("comparing columns of type {}", array.type()->ToString());
}

}  // namespace

RowHash HashWith(RowHash hash, uint64_t value) {
  return {Mix(hash.low * kMultiplier + value + 1), Mix((hash.high ^ value) * kMultiplier + 2)};
}

arrow::Result<std::vector<RowHash>> HashRows(const arrow::RecordBatch& batch, int num_columns) {
  std::vector<RowHash> hashes(static_cast<size_t>(batch.num_rows()));
  for (int i = 0; i < num_columns; ++i) {
    ARROW_RETURN_NOT_OK(ValueHasher(hashes).Visit(*batch.column(i)));
  }
  return hashes;
}

}  // namespace glaive::inspect
