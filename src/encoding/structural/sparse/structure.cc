#include "encoding/structural/sparse/structure.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "core/too_large.h"
#include "encoding/structural/page/buffers.h"

namespace glaive::encoding {
namespace {

// Ranges of slots that may be at hand at once: far more than a page of real rows has.
constexpr size_t kMostRanges = size_t{1} << 26;

void AddRange(std::vector<RowRange>& ranges, RowRange range) {
  if (range.begin >= range.end) return;
  if (!ranges.empty() && ranges.back().end == range.begin) {
    ranges.back().end = range.end;
  } else {
    ranges.push_back(range);
  }
}

// Calls visit(slots, listed) for the parts of a range of which all slots or none are among the
// positions.
template <typename Visit>
arrow::Status ForEachPart(const Sequence& positions, RowRange slots, Visit&& visit) {
  uint64_t at = slots.begin;
  uint64_t i = positions.LowerBound(slots.begin);
  const uint64_t end = positions.LowerBound(slots.end);
  while (i < end) {
    const uint64_t first = positions.At(i);
    const uint64_t length = positions.RunLength(i, end);
    if (first > at) ARROW_RETURN_NOT_OK(visit(RowRange{at, first}, false));
    ARROW_RETURN_NOT_OK(visit(RowRange{first, first + length}, true));
    at = first + length;
    i += length;
  }
  return at < slots.end ? visit(RowRange{at, slots.end}, false) : arrow::Status::OK();
}

}  // namespace

arrow::Status SparseSlots::Append(RowRange slots, ValidityBuilder& validity) const {
  return ForEachPart(positions, slots, [&](RowRange part, bool listed) {
    const auto length = static_cast<int64_t>(part.size());
    return listed == of_valid ? validity.AppendValid(length) : validity.AppendNull(length);
  });
}

std::vector<RowRange> SparseSlots::Select(std::span<const RowRange> ranges) const {
  std::vector<RowRange> selected;
  for (const RowRange& range : ranges) {
    const auto status = ForEachPart(positions, range, [&](RowRange part, bool listed) {
      if (listed == of_valid) AddRange(selected, part);
      return selected.size() > kMostRanges ? arrow::Status::CapacityError("ranges")
                                           : arrow::Status::OK();
    });
    if (!status.ok()) break;
  }
  return selected;
}

template <typename Offset>
arrow::Status SparseStructure::Layer::AppendOffsets(RowRange slots, uint64_t first_child,
                                                    LayerBuilder& builder) const {
  ARROW_RETURN_NOT_OK(builder.offsets.Reserve(static_cast<int64_t>(slots.size() * sizeof(Offset))));
  uint64_t child = first_child;
  const auto append = [&](uint64_t count) {
    const auto offset = static_cast<Offset>(child);
    for (uint64_t i = 0; i < count; ++i) builder.offsets.UnsafeAppend(&offset, sizeof(offset));
  };
  uint64_t at = slots.begin;
  uint64_t i = non_empty.LowerBound(slots.begin);
  const uint64_t end = non_empty.LowerBound(slots.end);
  for (; i < end; ++i) {
    const uint64_t position = non_empty.At(i);
    append(position - at + 1);
    child += counts.At(i);
    at = position + 1;
  }
  append(slots.end - at);
  return arrow::Status::OK();
}

arrow::Status SparseStructure::Append(RowRange rows, LeafBuilder::State& leaf,
                                      Location where) const {
  RowRange slots = rows;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    LayerBuilder& builder = leaf.layers[i];
    ARROW_RETURN_NOT_OK(layer.valid.Append(slots, builder.validity));
    if (!layer.is_list) continue;
    const RowRange children = layer.Children(slots);
    if (children.begin > children.end) return Corrupt(where, "lists of slots that descend");
    const auto first = static_cast<uint64_t>(leaf.layers[i + 1].num_slots());
    if (!builder.large_offsets && children.size() > std::numeric_limits<int32_t>::max() -
                                                        std::min<uint64_t>(first, INT32_MAX)) {
      return TooLarge("the lists of one batch hold {} items, which 32-bit offsets do not reach",
                      first + children.size());
    }
    ARROW_RETURN_NOT_OK(builder.large_offsets
                            ? layer.AppendOffsets<int64_t>(slots, first, builder)
                            : layer.AppendOffsets<int32_t>(slots, first, builder));
    slots = children;
  }
  return arrow::Status::OK();
}

RowRange SparseStructure::LeafSlots(RowRange rows) const {
  for (const Layer& layer : layers_) {
    if (layer.is_list) rows = layer.Children(rows);
  }
  return rows;
}

arrow::Result<std::vector<RowRange>> SparseStructure::MaterialSlots(Location where) const {
  std::vector<RowRange> ranges;
  AddRange(ranges, {0, layers_.front().num_slots});
  for (const Layer& layer : layers_) {
    ranges = layer.valid.Select(ranges);
    if (layer.is_list) {
      std::vector<RowRange> children;
      for (const RowRange& range : ranges) AddRange(children, layer.Children(range));
      ranges = std::move(children);
    }
    if (ranges.size() > kMostRanges) {
      return Unsupported(where, "a sparse page of more than {} runs of slots", kMostRanges);
    }
  }
  return ranges;
}

uint64_t SparseStructure::memory_bytes() const {
  uint64_t bytes = layers_.size() * sizeof(Layer);
  for (const Layer& layer : layers_) {
    bytes += layer.valid.positions.memory_bytes() + layer.non_empty.memory_bytes() +
             layer.counts.memory_bytes();
  }
  return bytes;
}

arrow::Result<SparseDescription> SparseDescription::Validate(const wire::SparseStructure& structure,
                                                             const LeafPath& path,
                                                             uint64_t num_rows, FileVersion version,
                                                             Location where) {
  constexpr uint64_t kBits = 64;
  if (structure.layers.size() != path.layers.size()) {
    return Corrupt(where, "a sparse page of {} layers; its column has {}", structure.layers.size(),
                   path.layers.size());
  }
  SparseDescription description;
  uint64_t num_slots = num_rows;
  const auto add = [&](const wire::EncodingPtr& encoding, uint64_t count,
                       std::vector<Numbers>& numbers) -> arrow::Status {
    if (count > num_slots) {
      return Corrupt(where, "{} positions among {} slots", count, num_slots);
    }
    ARROW_ASSIGN_OR_RAISE(auto made,
                          SequenceDescription::Validate(encoding, kBits, version, where));
    description.num_buffers_ += made.has_payload() ? 1 : 0;
    numbers.push_back({std::move(made), count});
    return arrow::Status::OK();
  };
  for (size_t i = 0; i < structure.layers.size(); ++i) {
    Layer layer{.is_list = path.layers[i].kind == LayerKind::kList, .num_slots = num_slots};
    const wire::SparseValidity* validity = nullptr;
    if (const auto* item = std::get_if<wire::SparseItemLayer>(&structure.layers[i])) {
      validity = &item->validity;
    } else if (const auto* list = std::get_if<wire::SparseListLayer>(&structure.layers[i])) {
      validity = &list->validity;
      layer.num_children = list->num_child_slots;
      ARROW_RETURN_NOT_OK(
          add(list->non_empty_positions, list->num_non_empty_positions, layer.of_list));
      ARROW_RETURN_NOT_OK(add(list->counts, list->num_non_empty_positions, layer.of_list));
    } else {
      return Unsupported(where, "a sparse page of fixed-size lists of structs");
    }
    if (layer.is_list != !layer.of_list.empty()) {
      return Corrupt(where, "sparse layer {} is {} list; {} expected", i,
                     layer.is_list ? "no" : "a", layer.is_list ? "a list" : "none");
    }
    if (validity->meaning != wire::SparseMeaning::kNullPositions &&
        validity->meaning != wire::SparseMeaning::kValidPositions) {
      return Corrupt(where, "positions of meaning {}; 1 or 2 expected",
                     static_cast<uint32_t>(validity->meaning));
    }
    layer.of_valid = validity->meaning == wire::SparseMeaning::kValidPositions;
    ARROW_RETURN_NOT_OK(add(validity->positions, validity->num_positions, layer.positions));
    if (layer.is_list) num_slots = layer.num_children;
    description.layers_.push_back(std::move(layer));
  }
  description.num_leaf_slots_ = num_slots;
  return description;
}

arrow::Result<SparseStructure> SparseDescription::Decode(
    std::span<const std::shared_ptr<arrow::Buffer>> buffers, std::span<const Location> places,
    Location where) const {
  size_t next = 0;
  const auto decode = [&](const Numbers& numbers) -> arrow::Result<Sequence> {
    if (!numbers.description.has_payload()) {
      return numbers.description.Decode({}, numbers.count, where);
    }
    const size_t buffer = next++;
    return numbers.description.Decode(BytesOf(*buffers[buffer]), numbers.count, places[buffer]);
  };
  SparseStructure structure;
  for (const Layer& layer : layers_) {
    SparseStructure::Layer& made = structure.layers_.emplace_back();
    made.is_list = layer.is_list;
    made.num_slots = layer.num_slots;
    if (layer.is_list) {
      ARROW_ASSIGN_OR_RAISE(made.non_empty, decode(layer.of_list[0]));
      ARROW_ASSIGN_OR_RAISE(made.counts, decode(layer.of_list[1]));
    }
    ARROW_ASSIGN_OR_RAISE(made.valid.positions, decode(layer.positions[0]));
    made.valid.of_valid = layer.of_valid;
    if (!made.valid.positions.AscendsBelow(layer.num_slots) ||
        !made.non_empty.AscendsBelow(layer.num_slots)) {
      return Corrupt(where, "positions that do not ascend below {} slots", layer.num_slots);
    }
    if (layer.is_list &&
        (!made.counts.SumUp() || made.counts.SumBefore(made.counts.size()) != layer.num_children)) {
      return Corrupt(where, "lists that do not hold {} slots, at least one each",
                     layer.num_children);
    }
  }
  return structure;
}

}  // namespace glaive::encoding
