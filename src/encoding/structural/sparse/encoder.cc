#include "encoding/structural/sparse/encoder.h"

#include <utility>
#include <vector>

#include "encoding/codec/sequence.h"
#include "encoding/levels/level_stream.h"
#include "wire/encodings_v2_3.h"

namespace glaive::encoding {
namespace {

// The slots of one layer.
struct LayerSlots {
  uint64_t num_slots = 0;
  std::vector<uint64_t> nulls;
  std::vector<uint64_t> non_empty;  // lists
  std::vector<uint64_t> counts;
};

class StructureEncoder {
 public:
  StructureEncoder(const PageRows& rows, EncodedPage& page) : scheme_(rows.scheme), page_(page) {
    LevelStream stream(rows.nests, rows.scheme);
    while (stream.Next(levels_)) {
    }
    num_entries_ = levels_.size() > 0 ? levels_.size() : rows.survey.num_rows;
  }

  wire::SparseStructure Encode() {
    wire::SparseStructure structure;
    size_t group = 0;
    for (size_t i = 0; i < scheme_.layers.size(); ++i) {
      const bool is_list = IsList(scheme_.types[scheme_.types.size() - 1 - i]);
      LayerSlots slots =
          is_list ? ListSlots(group, scheme_.layers[i]) : ItemSlots(group, scheme_.layers[i]);
      if (!is_list) {
        structure.layers.push_back(wire::SparseItemLayer{Validity(slots)});
        continue;
      }
      ++group;
      wire::SparseListLayer list{.num_non_empty_positions = slots.non_empty.size()};
      for (const uint64_t count : slots.counts) list.num_child_slots += count;
      list.non_empty_positions = Put(EncodeSequence(slots.non_empty));
      list.counts = Put(EncodeSequence(slots.counts));
      list.validity = Validity(slots);
      structure.layers.push_back(std::move(list));
    }
    return structure;
  }

 private:
  static bool IsList(wire::RepDefLayer layer) {
    return layer != wire::RepDefLayer::kAllValidItem && layer != wire::RepDefLayer::kNullableItem;
  }

  uint16_t Rep(uint64_t entry) const {
    return scheme_.has_rep() ? levels_.rep.data()[entry] : uint16_t{0};
  }
  uint16_t Def(uint64_t entry) const {
    return scheme_.has_def() ? levels_.def.data()[entry] : uint16_t{0};
  }
  // Whether an entry begins a slot of the rows, or of the items of the list that is `group`th.
  bool Begins(uint64_t entry, size_t group) const {
    return Rep(entry) >= scheme_.num_lists - group && Def(entry) <= scheme_.group_tops[group];
  }

  LayerSlots ItemSlots(size_t group, const LevelScheme::LayerLevels& levels) const {
    LayerSlots slots;
    for (uint64_t entry = 0; entry < num_entries_; ++entry) {
      if (!Begins(entry, group)) continue;
      if (levels.null != 0 && Def(entry) == levels.null) slots.nulls.push_back(slots.num_slots);
      ++slots.num_slots;
    }
    return slots;
  }

  // A list within a null struct is null.
  LayerSlots ListSlots(size_t group, const LevelScheme::LayerLevels& levels) const {
    LayerSlots slots;
    for (uint64_t entry = 0; entry < num_entries_; ++entry) {
      const uint16_t def = Def(entry);
      const bool has_item = def <= scheme_.group_tops[group + 1];
      if (Begins(entry, group)) {
        if (has_item) {
          slots.non_empty.push_back(slots.num_slots);
          slots.counts.push_back(0);
        } else if (levels.empty == 0 || def != levels.empty) {
          slots.nulls.push_back(slots.num_slots);
        }
        ++slots.num_slots;
      }
      if (Begins(entry, group + 1)) ++slots.counts.back();
    }
    return slots;
  }

  wire::EncodingPtr Put(EncodedSequence sequence) {
    if (sequence.payload) {
      page_.buffers.push_back({arrow::Buffer::FromVector(*std::move(sequence.payload))});
    }
    return std::move(sequence.encoding);
  }

  // By the positions of the null slots or of the valid ones, whichever take less.
  wire::SparseValidity Validity(const LayerSlots& slots) {
    EncodedSequence nulls = EncodeSequence(slots.nulls);
    if (nulls.payload || slots.nulls.size() == slots.num_slots) {
      std::vector<uint64_t> valid;
      size_t next = 0;
      for (uint64_t slot = 0; slot < slots.num_slots; ++slot) {
        if (next < slots.nulls.size() && slots.nulls[next] == slot) {
          ++next;
        } else {
          valid.push_back(slot);
        }
      }
      EncodedSequence others = EncodeSequence(valid);
      if (!others.payload || (nulls.payload && others.payload->size() < nulls.payload->size())) {
        return {.meaning = wire::SparseMeaning::kValidPositions,
                .positions = Put(std::move(others)),
                .num_positions = valid.size()};
      }
    }
    return {.meaning = wire::SparseMeaning::kNullPositions,
            .positions = Put(std::move(nulls)),
            .num_positions = slots.nulls.size()};
  }

  const LevelScheme& scheme_;
  EncodedPage& page_;
  Levels levels_;
  uint64_t num_entries_ = 0;
};

}  // namespace

arrow::Result<EncodedPage> EncodeSparsePage(const PageRows& rows,
                                            const std::optional<std::string>& scalar) {
  EncodedPage page{.num_rows = rows.survey.num_rows};
  wire::PlanarLayout layout{.structure = StructureEncoder(rows, page).Encode(),
                            .values = wire::NoValues{}};
  if (scalar) layout.values = wire::ConstantValue{*scalar};
  page.layout = wire::Serialize(layout);
  return page;
}

}  // namespace glaive::encoding
