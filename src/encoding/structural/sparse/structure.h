#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "core/error.h"
#include "core/file_version.h"
#include "core/ranges.h"
#include "encoding/codec/sequence.h"
#include "encoding/levels/leaf.h"
#include "encoding/structural/leaf/builder.h"
#include "wire/encodings_v2_3.h"

// The structure of a sparse page: each layer, outermost first, has slots, and says which of them
// are null and, if they are lists, which hold how many slots of the next layer.
namespace glaive::encoding {

// Which slots of a layer are valid.
struct SparseSlots {
  Sequence positions;
  bool of_valid = false;  // else of null ones

  arrow::Status Append(RowRange slots, ValidityBuilder& validity) const;
  // What of the ranges is valid, in order. REQUIRES: ascending, disjoint
  std::vector<RowRange> Select(std::span<const RowRange> ranges) const;
};

// Decoded and checked against each other. Immutable.
class SparseStructure {
 public:
  // Appends the layers of these rows to the leaf; slots of the leaf's own layer included.
  arrow::Status Append(RowRange rows, LeafBuilder::State& leaf, Location where) const;

  // The slots of the leaf that rows lead to.
  RowRange LeafSlots(RowRange rows) const;

  // Those of all slots of the leaf that neither are null nor lie in a null; ascending.
  arrow::Result<std::vector<RowRange>> MaterialSlots(Location where) const;

  uint64_t memory_bytes() const;

 private:
  friend class SparseDescription;

  struct Layer {
    bool is_list = false;
    uint64_t num_slots = 0;
    SparseSlots valid;
    Sequence non_empty;  // slots of lists with items
    Sequence counts;     // of their items

    // The child slots that come before those of a slot.
    uint64_t ChildBegin(uint64_t slot) const {
      return counts.SumBefore(non_empty.LowerBound(slot));
    }
    RowRange Children(RowRange slots) const {
      return {ChildBegin(slots.begin), ChildBegin(slots.end)};
    }
    template <typename Offset>
    arrow::Status AppendOffsets(RowRange slots, uint64_t first_child, LayerBuilder& builder) const;
  };

  std::vector<Layer> layers_;
};

// The layers of a page as described, checked against the leaf's.
class SparseDescription {
 public:
  static arrow::Result<SparseDescription> Validate(const wire::SparseStructure& structure,
                                                   const LeafPath& path, uint64_t num_rows,
                                                   FileVersion version, Location where);

  uint64_t num_leaf_slots() const { return num_leaf_slots_; }
  // Page buffers that it takes.
  size_t num_buffers() const { return num_buffers_; }

  // `buffers` as many as there are, with where each lies.
  arrow::Result<SparseStructure> Decode(std::span<const std::shared_ptr<arrow::Buffer>> buffers,
                                        std::span<const Location> places, Location where) const;

 private:
  struct Numbers {
    SequenceDescription description;
    uint64_t count = 0;
  };
  struct Layer {
    bool is_list = false;
    uint64_t num_slots = 0;
    uint64_t num_children = 0;
    std::vector<Numbers> of_list;    // positions that are not empty, and their counts
    std::vector<Numbers> positions;  // one: of validity
    bool of_valid = false;
  };

  std::vector<Layer> layers_;
  uint64_t num_leaf_slots_ = 0;
  size_t num_buffers_ = 0;
};

}  // namespace glaive::encoding
