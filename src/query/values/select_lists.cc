#include "query/values/select_lists.h"

#include <cstring>
#include <limits>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>

namespace glaive::query {
namespace {

using ArrayDataPtr = std::shared_ptr<arrow::ArrayData>;

bool IsNull(const arrow::ArrayData& lists, int64_t position) {
  return !arrow::bit_util::GetBit(lists.buffers[0]->data(), lists.offset + position);
}

template <typename Offset>
arrow::Result<ArrayDataPtr> Select(const arrow::ArrayData& lists,
                                   std::span<const uint32_t> positions) {
  const auto count = static_cast<int64_t>(positions.size());
  const auto* from = lists.GetValues<Offset>(1);
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> offsets,
                        arrow::AllocateBuffer((count + 1) * static_cast<int64_t>(sizeof(Offset))));
  auto* to = reinterpret_cast<Offset*>(offsets->mutable_data());
  std::shared_ptr<arrow::Buffer> validity;
  if (lists.MayHaveNulls()) {
    ARROW_ASSIGN_OR_RAISE(validity, arrow::AllocateEmptyBitmap(count));
  }
  int64_t num_nulls = 0;
  int64_t num_items = 0;
  to[0] = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t position = positions[static_cast<size_t>(i)];
    if (validity != nullptr && IsNull(lists, position)) {
      ++num_nulls;
    } else {
      if (validity != nullptr) arrow::bit_util::SetBit(validity->mutable_data(), i);
      num_items += from[position + size_t{1}] - from[position];
    }
    if (num_items > std::numeric_limits<Offset>::max()) return nullptr;
    to[i + 1] = static_cast<Offset>(num_items);
  }

  const arrow::ArrayData& items = *lists.child_data[0];
  const int64_t width = items.type->bit_width() / 8;
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> values,
                        arrow::AllocateBuffer(num_items * width));
  const uint8_t* source = items.buffers[1]->data() + items.offset * width;
  uint8_t* target = values->mutable_data();
  for (int64_t i = 0; i < count; ++i) {
    const auto bytes = static_cast<size_t>((to[i + 1] - to[i]) * width);
    if (bytes == 0) continue;
    std::memcpy(target, source + from[positions[static_cast<size_t>(i)]] * width, bytes);
    target += bytes;
  }
  return arrow::ArrayData::Make(
      lists.type, count, {std::move(validity), std::move(offsets)},
      {arrow::ArrayData::Make(items.type, num_items, {nullptr, std::move(values)}, 0)}, num_nulls);
}

}  // namespace

bool AreListsOfValues(const arrow::ArrayData& array) {
  const arrow::Type::type id = array.type->id();
  if (id != arrow::Type::LIST && id != arrow::Type::LARGE_LIST) return false;
  const arrow::ArrayData& items = *array.child_data[0];
  return arrow::is_fixed_width(items.type->id()) && items.type->id() != arrow::Type::DICTIONARY &&
         items.type->bit_width() % 8 == 0 && items.buffers[1] != nullptr &&
         items.GetNullCount() == 0;
}

arrow::Result<ArrayDataPtr> SelectLists(const arrow::ArrayData& lists,
                                        std::span<const uint32_t> positions) {
  return lists.type->id() == arrow::Type::LIST ? Select<int32_t>(lists, positions)
                                               : Select<int64_t>(lists, positions);
}

}  // namespace glaive::query
