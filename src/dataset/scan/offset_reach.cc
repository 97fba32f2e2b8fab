#include "dataset/scan/offset_reach.h"

#include <algorithm>

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

namespace glaive::dataset {
namespace {

uint64_t ReachOf(const arrow::ArrayData& array, const arrow::DataType& type, int64_t begin,
                 int64_t end);

template <typename Offset>
std::pair<int64_t, int64_t> Content(const arrow::ArrayData& array, int64_t begin, int64_t end) {
  const auto* offsets = array.GetValues<Offset>(1);
  return {offsets[begin], offsets[end]};
}

uint64_t ReachOfItems(const arrow::ArrayData& array, std::pair<int64_t, int64_t> items) {
  const arrow::ArrayData& child = *array.child_data[0];
  return ReachOf(child, *child.type, items.first, items.second);
}

uint64_t ReachOf(const arrow::ArrayData& array, const arrow::DataType& type, int64_t begin,
                 int64_t end) {
  if (begin == end) return 0;
  switch (type.id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY: {
      const auto [first, last] = Content<int32_t>(array, begin, end);
      return static_cast<uint64_t>(last - first);
    }
    case arrow::Type::MAP:
    case arrow::Type::LIST: {
      const auto items = Content<int32_t>(array, begin, end);
      return std::max(static_cast<uint64_t>(items.second - items.first),
                      ReachOfItems(array, items));
    }
    case arrow::Type::LARGE_LIST: return ReachOfItems(array, Content<int64_t>(array, begin, end));
    case arrow::Type::FIXED_SIZE_LIST: {
      const int64_t width = static_cast<const arrow::FixedSizeListType&>(type).list_size();
      return ReachOfItems(array, {(array.offset + begin) * width, (array.offset + end) * width});
    }
    case arrow::Type::STRUCT: {
      uint64_t reach = 0;
      for (const auto& child : array.child_data) {
        reach = std::max(reach,
                         ReachOf(*child, *child->type, array.offset + begin, array.offset + end));
      }
      return reach;
    }
    case arrow::Type::EXTENSION:
      return ReachOf(array, *static_cast<const arrow::ExtensionType&>(type).storage_type(), begin,
                     end);
    default: return 0;
  }
}

}  // namespace

uint64_t OffsetReach(const arrow::ArrayData& array, int64_t begin, int64_t end) {
  return ReachOf(array, *array.type, begin, end);
}

uint64_t OffsetReach(const arrow::Array& array) {
  return OffsetReach(*array.data(), 0, array.length());
}

uint64_t OffsetReach(const arrow::RecordBatch& batch) {
  uint64_t reach = 0;
  for (const auto& column : batch.columns()) reach = std::max(reach, OffsetReach(*column));
  return reach;
}

}  // namespace glaive::dataset
