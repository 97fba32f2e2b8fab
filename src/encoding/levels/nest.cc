#include "encoding/levels/nest.h"

#include <utility>

#include "core/error.h"

namespace glaive::encoding {
namespace {

const uint8_t* ValidityOf(const arrow::ArrayData& array) {
  if (array.buffers.empty() || array.buffers[0] == nullptr) return nullptr;
  return array.null_count.load() == 0 ? nullptr : array.buffers[0]->data();
}

}  // namespace

arrow::Result<Nest> ResolveNest(const arrow::ArrayData& array, const LeafPath& path) {
  Nest nest;
  nest.begin = array.offset;
  nest.num_rows = array.length;
  const arrow::ArrayData* data = &array;
  NestGroup group;
  int64_t shift = 0;  // from the group's first layer to this one
  const bool stores_nothing =
      path.type->id() == arrow::Type::NA || path.type->id() == arrow::Type::STRUCT;
  for (size_t i = 0; i < path.layers.size(); ++i) {
    const Layer& layer = path.layers[i];
    NestLayer resolved{
        .kind = layer.kind, .large_offsets = layer.large_offsets, .validity = ValidityOf(*data)};
    const bool is_leaf = i + 1 == path.layers.size();
    if (is_leaf && stores_nothing) {
      ARROW_ASSIGN_OR_RAISE(nest.no_validity,
                            arrow::AllocateEmptyBitmap(data->offset + data->length));
      resolved.validity = nest.no_validity->data();
    }
    if (!is_leaf) {
      if (static_cast<size_t>(layer.child_index) >= data->child_data.size()) {
        return Internal("layer {} of a column has {} children, but child {} is wanted", i,
                        data->child_data.size(), layer.child_index);
      }
      resolved.child_base = data->child_data[static_cast<size_t>(layer.child_index)]->offset;
    }
    if (layer.kind == LayerKind::kList) {
      // An array without slots may come without offsets.
      if (data->buffers.size() > 1 && data->buffers[1] != nullptr) {
        resolved.offsets = reinterpret_cast<const std::byte*>(data->buffers[1]->data());
      }
      group.list = i;
      group.list_shift = shift;
      nest.groups.push_back(std::exchange(group, {}));
      shift = 0;
    } else {
      if (resolved.validity != nullptr) group.masks.push_back({resolved.validity, shift, i});
      if (!is_leaf) shift += resolved.child_base;
    }
    nest.layers.push_back(resolved);
    if (!is_leaf) data = data->child_data[static_cast<size_t>(layer.child_index)].get();
  }
  nest.groups.push_back(std::move(group));
  nest.leaf = data;
  nest.leaf_shift = shift;
  return nest;
}

std::pair<int64_t, int64_t> LeafSpan(const Nest& nest, int64_t row, int64_t num_rows) {
  int64_t begin = nest.begin + row;
  int64_t end = begin + num_rows;
  for (const NestGroup& group : nest.groups) {
    if (begin == end) return {0, 0};
    if (group.list == SIZE_MAX) continue;
    const NestLayer& list = nest.layers[group.list];
    const int64_t base = list.child_base;
    begin = base + list.offset(begin + group.list_shift);
    end = base + list.offset(end + group.list_shift);
  }
  return {begin + nest.leaf_shift, end + nest.leaf_shift};
}

}  // namespace glaive::encoding
