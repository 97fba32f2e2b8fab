#include "dataset/scan/array_bytes.h"

#include <algorithm>
#include <utility>

#include <arrow/extension_type.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

namespace glaive::dataset {
namespace {

constexpr uint64_t kUnknownWidth = 8;  // of types that are converted or refused further on

uint64_t BytesOf(const arrow::ArrayData& array, const arrow::DataType& type, int64_t begin,
                 int64_t end);

// Where the slots lead to in what is `limit` long.
template <typename Offset>
std::pair<int64_t, int64_t> Range(const arrow::ArrayData& array, int64_t begin, int64_t end,
                                  int64_t limit) {
  const auto& offsets = array.buffers[1];
  const int64_t num_offsets =
      offsets == nullptr ? 0 : offsets->size() / static_cast<int64_t>(sizeof(Offset));
  if (array.offset + end >= num_offsets) return {0, 0};
  const Offset* values = array.GetValues<Offset>(1);
  const int64_t first = std::clamp<int64_t>(values[begin], 0, limit);
  return {first, std::clamp<int64_t>(values[end], first, limit)};
}

template <typename Offset>
uint64_t BytesOfList(const arrow::ArrayData& array, int64_t begin, int64_t end) {
  const arrow::ArrayData& items = *array.child_data[0];
  const auto [first, last] = Range<Offset>(array, begin, end, items.length);
  return static_cast<uint64_t>(end - begin) * sizeof(Offset) +
         BytesOf(items, *items.type, first, last);
}

template <typename Offset>
uint64_t BytesOfBinary(const arrow::ArrayData& array, int64_t begin, int64_t end) {
  const int64_t size = array.buffers[2] == nullptr ? 0 : array.buffers[2]->size();
  const auto [first, last] = Range<Offset>(array, begin, end, size);
  return static_cast<uint64_t>(end - begin) * sizeof(Offset) + static_cast<uint64_t>(last - first);
}

uint64_t BytesOf(const arrow::ArrayData& array, const arrow::DataType& type, int64_t begin,
                 int64_t end) {
  const auto slots = static_cast<uint64_t>(end - begin);
  if (slots == 0) return 0;
  switch (type.id()) {
    case arrow::Type::STRUCT: {
      uint64_t bytes = 0;
      for (const auto& child : array.child_data) {
        bytes += BytesOf(*child, *child->type, array.offset + begin, array.offset + end);
      }
      return bytes;
    }
    case arrow::Type::FIXED_SIZE_LIST: {
      const int64_t width = static_cast<const arrow::FixedSizeListType&>(type).list_size();
      const arrow::ArrayData& items = *array.child_data[0];
      return BytesOf(items, *items.type, (array.offset + begin) * width,
                     (array.offset + end) * width);
    }
    case arrow::Type::MAP:
    case arrow::Type::LIST: return BytesOfList<int32_t>(array, begin, end);
    case arrow::Type::LARGE_LIST: return BytesOfList<int64_t>(array, begin, end);
    case arrow::Type::STRING:
    case arrow::Type::BINARY: return BytesOfBinary<int32_t>(array, begin, end);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY: return BytesOfBinary<int64_t>(array, begin, end);
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW: {
      // Which of its bytes a slot names would have to be looked up one by one.
      uint64_t bytes = 0;
      for (size_t i = 2; i < array.buffers.size(); ++i) {
        if (array.buffers[i] != nullptr) bytes += static_cast<uint64_t>(array.buffers[i]->size());
      }
      const double share =
          static_cast<double>(slots) / static_cast<double>(std::max<int64_t>(array.length, 1));
      return 16 * slots + static_cast<uint64_t>(static_cast<double>(bytes) * share);
    }
    case arrow::Type::EXTENSION:
      return BytesOf(array, *static_cast<const arrow::ExtensionType&>(type).storage_type(), begin,
                     end);
    case arrow::Type::DICTIONARY:
      return BytesOf(array, *static_cast<const arrow::DictionaryType&>(type).index_type(), begin,
                     end);
    case arrow::Type::NA: return 0;
    default: {
      const int bits = arrow::is_fixed_width(type.id()) ? type.bit_width() : 0;
      return bits > 0 ? (slots * static_cast<uint64_t>(bits) + 7) / 8 : kUnknownWidth * slots;
    }
  }
}

}  // namespace

uint64_t ArrayBytes(const arrow::ArrayData& array, int64_t begin, int64_t end) {
  return BytesOf(array, *array.type, begin, end);
}

uint64_t BatchBytes(const arrow::RecordBatch& batch) {
  uint64_t bytes = 0;
  for (const auto& column : batch.column_data()) bytes += ArrayBytes(*column, 0, batch.num_rows());
  return bytes;
}

}  // namespace glaive::dataset
