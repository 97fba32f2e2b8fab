#include "encoding/structural/page_levels.h"

#include <bit>
#include <cstring>
#include <limits>

namespace glaive::encoding {
namespace {

bool IsList(wire::RepDefLayer layer) {
  switch (layer) {
    case wire::RepDefLayer::kAllValidList:
    case wire::RepDefLayer::kNullableList:
    case wire::RepDefLayer::kEmptyableList:
    case wire::RepDefLayer::kNullAndEmptyList: return true;
    case wire::RepDefLayer::kUnspecified:
    case wire::RepDefLayer::kAllValidItem:
    case wire::RepDefLayer::kNullableItem: return false;
  }
  return false;
}

// Takes the layer's own levels: those after `max_definition`, which it moves on.
LevelLayer LayerOf(wire::RepDefLayer kind, uint16_t& max_definition) {
  LevelLayer layer{.is_list = IsList(kind), .valid_max = max_definition};
  switch (kind) {
    case wire::RepDefLayer::kNullableItem: ++max_definition; break;
    case wire::RepDefLayer::kNullableList: layer.null_level = ++max_definition; break;
    case wire::RepDefLayer::kEmptyableList: layer.empty_level = ++max_definition; break;
    case wire::RepDefLayer::kNullAndEmptyList:
      layer.null_level = ++max_definition;
      layer.empty_level = ++max_definition;
      break;
    case wire::RepDefLayer::kUnspecified:
    case wire::RepDefLayer::kAllValidItem:
    case wire::RepDefLayer::kAllValidList: break;
  }
  layer.all_valid = max_definition == layer.valid_max;
  return layer;
}

// How many levels from the first on are 0, in steps of four.
size_t SkipZeros(const uint16_t* levels, size_t size) {
  size_t i = 0;
  for (; i + 4 <= size; i += 4) {
    uint64_t four;
    std::memcpy(&four, levels + i, sizeof(four));
    if (four != 0) break;
  }
  return i;
}

size_t CountAtMost(const LevelSpan& levels, uint16_t max) {
  size_t count = 0;
  for (size_t i = 0; i < levels.size; ++i) count += levels.definition[i] <= max ? 1 : 0;
  return count;
}

// One list layer over entries that are in it or further out. Keeps, in place, those that start a
// list: they are the entries of the layer above.
template <typename Offset>
class ListUnraveler {
 public:
  ListUnraveler(const LevelLayer& layer, LayerBuilder& builder, int64_t first_child)
      : layer_(layer), builder_(builder), position_(first_child) {}

  arrow::Status Run(LevelSpan& levels) {
    size_t kept = 0;
    for (size_t i = 0; i < levels.size;) {
      if (const size_t zeros = SkipZeros(levels.repetition + i, levels.size - i); zeros > 0) {
        position_ += static_cast<int64_t>(zeros);
        i += zeros;
        continue;
      }
      const uint16_t repetition = levels.repetition[i];
      if (repetition == 0) {
        ++position_;
        ++i;
        continue;
      }
      const uint16_t definition = levels.definition == nullptr ? uint16_t{0} : levels.definition[i];
      if (definition <= layer_.slot_max) ARROW_RETURN_NOT_OK(Start(definition));
      levels.repetition[kept] = static_cast<uint16_t>(repetition - 1);
      if (levels.definition != nullptr) levels.definition[kept] = definition;
      ++kept;
      ++i;
    }
    levels.size = kept;
    return Flush();
  }

  int64_t position() const { return position_; }

 private:
  arrow::Status Start(uint16_t definition) {
    offsets_[num_pending_] = static_cast<Offset>(position_);
    const bool has_items = definition <= layer_.valid_max;
    position_ += has_items ? 1 : 0;
    const bool valid = has_items || (definition == layer_.empty_level && layer_.empty_level != 0);
    valid_ |= uint64_t{valid} << num_pending_;
    return ++num_pending_ == kPending ? Flush() : arrow::Status::OK();
  }

  arrow::Status Flush() {
    ARROW_RETURN_NOT_OK(builder_.validity.AppendWord(valid_, static_cast<int>(num_pending_)));
    ARROW_RETURN_NOT_OK(
        builder_.offsets.Append(offsets_, static_cast<int64_t>(num_pending_ * sizeof(Offset))));
    valid_ = 0;
    num_pending_ = 0;
    return arrow::Status::OK();
  }

  static constexpr size_t kPending = 64;

  const LevelLayer& layer_;
  LayerBuilder& builder_;
  int64_t position_;
  uint64_t valid_ = 0;
  size_t num_pending_ = 0;
  Offset offsets_[kPending];
};

template <typename Offset>
arrow::Result<int64_t> UnravelList(const LevelLayer& layer, LevelSpan& levels,
                                   LayerBuilder& builder, int64_t first_child) {
  ListUnraveler<Offset> unraveler(layer, builder, first_child);
  ARROW_RETURN_NOT_OK(unraveler.Run(levels));
  return unraveler.position();
}

}  // namespace

arrow::Result<PageLevels> PageLevels::Validate(std::span<const wire::RepDefLayer> layers,
                                               const LeafPath& path, Location where) {
  if (layers.size() != path.layers.size()) {
    return Corrupt(where, "a page with {} layers; its column has {}", layers.size(),
                   path.layers.size());
  }
  PageLevels levels;
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto number = static_cast<uint32_t>(layers[i]);
    const bool known = number >= static_cast<uint32_t>(wire::RepDefLayer::kAllValidItem) &&
                       number <= static_cast<uint32_t>(wire::RepDefLayer::kNullAndEmptyList);
    const bool list = path.layers[layers.size() - 1 - i].kind == LayerKind::kList;
    if (!known || IsList(layers[i]) != list) {
      return Corrupt(where, "layer {} from the leaf is of kind {}; {} expected", i, number,
                     list ? "a list" : "an item");
    }
    levels.layers_.push_back(LayerOf(layers[i], levels.max_definition_));
    levels.max_repetition_ = static_cast<uint16_t>(levels.max_repetition_ + (list ? 1 : 0));
  }
  // A slot is told from its absence by the next list further out: by the levels before it.
  uint16_t slot_max = levels.max_definition_;
  for (auto layer = levels.layers_.rbegin(); layer != levels.layers_.rend(); ++layer) {
    layer->slot_max = slot_max;
    if (layer->is_list) slot_max = layer->valid_max;
  }
  return levels;
}

size_t PageLevels::CountVisible(const LevelSpan& levels) const {
  return levels.definition == nullptr ? levels.size : CountAtMost(levels, max_visible());
}

arrow::Status PageLevels::UnravelItems(const LevelLayer& layer, const LevelSpan& levels,
                                       LayerBuilder& builder) const {
  const bool every_entry = levels.definition == nullptr || layer.slot_max >= max_definition_;
  // As many valid slots as entries reach the layer, which is not the number of values if there is
  // a list in between.
  if (layer.all_valid || levels.definition == nullptr) {
    const size_t slots = every_entry ? levels.size : CountAtMost(levels, layer.slot_max);
    return builder.validity.AppendValid(static_cast<int64_t>(slots));
  }
  const std::span<const uint16_t> definition(levels.definition, levels.size);
  if (every_entry) return builder.validity.AppendLevels(definition, layer.valid_max);
  return builder.validity.AppendVisibleLevels(definition, layer.valid_max, layer.slot_max);
}

arrow::Status PageLevels::Unravel(LevelSpan levels, LeafBuilder::State& leaf,
                                  Location where) const {
  LayerBuilder* below = nullptr;
  int64_t slots_below = 0;  // of `below`, before these entries
  for (size_t i = 0; i < layers_.size(); ++i) {
    LayerBuilder& builder = leaf.layers[layers_.size() - 1 - i];
    const int64_t slots_before = builder.num_slots();
    if (!layers_[i].is_list) {
      ARROW_RETURN_NOT_OK(UnravelItems(layers_[i], levels, builder));
    } else {
      ARROW_ASSIGN_OR_RAISE(const int64_t position,
                            builder.large_offsets
                                ? UnravelList<int64_t>(layers_[i], levels, builder, slots_below)
                                : UnravelList<int32_t>(layers_[i], levels, builder, slots_below));
      if (position != below->num_slots()) {
        return Corrupt(where, "the lists of layer {} hold {} slots, of which {} are there", i,
                       position - slots_below, below->num_slots() - slots_below);
      }
      if (!builder.large_offsets && position > std::numeric_limits<int32_t>::max()) {
        return Unsupported(
            "the lists of one batch hold {} items, beyond the reach of 32-bit "
            "offsets: read fewer rows at a time",
            position);
      }
    }
    below = &builder;
    slots_below = slots_before;
  }
  return arrow::Status::OK();
}

}  // namespace glaive::encoding
