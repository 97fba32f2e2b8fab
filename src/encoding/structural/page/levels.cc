#include "encoding/structural/page/levels.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/too_large.h"

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

size_t CountAtMost(const LevelSpan& levels, uint16_t max) {
  size_t count = 0;
  for (size_t i = 0; i < levels.size; ++i) count += levels.definition[i] <= max ? 1 : 0;
  return count;
}

// Whether the next four levels are 0: most are, in long lists.
bool AreZero(const uint16_t* four_levels) {
  uint64_t four;
  std::memcpy(&four, four_levels, sizeof(four));
  return four == 0;
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
    for (size_t begin = 0; begin < levels.size; begin += kBatch) {
      const size_t end = std::min(begin + kBatch, levels.size);
      // One more than there can be: steps write behind the last.
      ARROW_RETURN_NOT_OK(builder_.offsets.Reserve((kBatch + 1) * sizeof(Offset)));
      offsets_ =
          reinterpret_cast<Offset*>(builder_.offsets.mutable_data() + builder_.offsets.length());
      num_slots_ = 0;
      kept = levels.definition == nullptr ? StepAllValid(levels, begin, end, kept)
                                          : Step(levels, begin, end, kept);
      builder_.offsets.UnsafeAdvance(static_cast<int64_t>(num_slots_ * sizeof(Offset)));
      ARROW_RETURN_NOT_OK(levels.definition == nullptr
                              ? builder_.validity.AppendValid(static_cast<int64_t>(num_slots_))
                              : builder_.validity.AppendBytes({valid_, num_slots_}));
    }
    levels.size = kept;
    return arrow::Status::OK();
  }

  int64_t position() const { return position_; }

 private:
  // Both steps decide by arithmetic: where lists are short, a branch would guess wrong every time.
  size_t StepAllValid(LevelSpan& levels, size_t begin, size_t end, size_t kept) noexcept {
    uint16_t* const repetition = levels.repetition;
    size_t slots = 0;
    const auto one = [&](size_t i) {
      const uint16_t level = repetition[i];
      offsets_[slots] = static_cast<Offset>(position_ + static_cast<int64_t>(i - begin));
      slots += level != 0 ? 1 : 0;
      repetition[kept] = static_cast<uint16_t>(level - 1);
      kept += level != 0 ? 1 : 0;
    };
    size_t i = begin;
    for (; i + 4 <= end; i += 4) {
      if (AreZero(repetition + i)) continue;
      for (size_t j = 0; j < 4; ++j) one(i + j);
    }
    for (; i < end; ++i) one(i);
    position_ += static_cast<int64_t>(end - begin);
    num_slots_ = slots;
    return kept;
  }

  size_t Step(LevelSpan& levels, size_t begin, size_t end, size_t kept) noexcept {
    uint16_t* const repetition = levels.repetition;
    uint16_t* const definition = levels.definition;
    int64_t position = position_;
    size_t slots = 0;
    const auto one = [&](size_t i) {
      const uint16_t level = definition[i];
      const bool starts = repetition[i] != 0;
      const bool slot = starts && level <= layer_.slot_max;
      const bool has_items = level <= layer_.valid_max;
      const bool empty = (level == layer_.empty_level) & (layer_.empty_level != 0);
      offsets_[slots] = static_cast<Offset>(position);
      valid_[slots] = (has_items | empty) ? 1 : 0;
      slots += slot ? 1 : 0;
      position += !starts || (slot && has_items) ? 1 : 0;
      repetition[kept] = static_cast<uint16_t>(repetition[i] - 1);
      definition[kept] = level;
      kept += starts ? 1 : 0;
    };
    size_t i = begin;
    for (; i + 4 <= end; i += 4) {
      if (AreZero(repetition + i)) {
        position += 4;
        continue;
      }
      for (size_t j = 0; j < 4; ++j) one(i + j);
    }
    for (; i < end; ++i) one(i);
    position_ = position;
    num_slots_ = slots;
    return kept;
  }

  static constexpr size_t kBatch = 1024;

  const LevelLayer& layer_;
  LayerBuilder& builder_;
  int64_t position_;  // the next slot of the layer below
  Offset* offsets_ = nullptr;
  size_t num_slots_ = 0;       // of the batch
  uint8_t valid_[kBatch + 1];  // of its slots; the last is written behind them
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
      // A struct has a slot for each of its child. Only a level that no layer knows can break that.
      const int64_t slots = builder.num_slots() - slots_before;
      if (below != nullptr && slots != below->num_slots() - slots_below) {
        return Corrupt(where, "{} slots of layer {} over {}", slots, i,
                       below->num_slots() - slots_below);
      }
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
        return TooLarge("the lists of one batch hold {} items, which 32-bit offsets do not reach",
                        position);
      }
    }
    below = &builder;
    slots_below = slots_before;
  }
  return arrow::Status::OK();
}

}  // namespace glaive::encoding
