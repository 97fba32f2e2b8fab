#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

// A nested field is stored as one column per leaf. This is how the two views meet: a LeafPath says
// how a leaf hangs in its field, LeafRows are decoded rows of one leaf, and AssembleField puts the
// leaves of a field together again.
namespace glaive::encoding {

enum class LayerKind : uint8_t {
  kItem,  // a struct, or the leaf itself: a slot is valid or null
  kList,  // a list: a slot is valid, empty or null, and owns slots of the layer below
};

struct Layer {
  LayerKind kind = LayerKind::kItem;
  bool large_offsets = false;  // lists: 64-bit offsets in Arrow
  int child_index = 0;  // which child of the Arrow type the path goes on to; not for the leaf

  bool operator==(const Layer& other) const = default;
};

// From the root of a top-level field down to one leaf; the leaf's own item layer is the last.
struct LeafPath {
  std::vector<Layer> layers;
  std::shared_ptr<arrow::DataType> type;  // of the leaf: a primitive, a string, a fixed-size list
                                          // of primitives (one leaf), null; of a dictionary the
                                          // type of its values
  uint64_t index_bits = 32;  // of an index into a page's dictionary; of a dictionary its keys'
  int num_lists() const;
  bool operator==(const LeafPath& other) const;
};

// The leaves of a field in order of their columns (2.1 and later).
arrow::Result<std::vector<LeafPath>> LeavesOf(const arrow::Field& field);

// Rows of one layer above the leaf.
struct LayerRows {
  int64_t num_slots = 0;
  int64_t null_count = 0;
  std::shared_ptr<arrow::Buffer> validity;  // null: all valid
  std::shared_ptr<arrow::Buffer> offsets;   // lists: num_slots + 1, from 0, 32 or 64 bits each
};

// Rows of one leaf column, in Arrow's terms.
struct LeafRows {
  std::vector<LayerRows> layers;             // outermost first, the leaf's own excluded
  std::shared_ptr<arrow::ArrayData> values;  // the leaf's slots, nulls applied
};

// The field's array out of its leaves, in order. The layers that leaves share are taken from the
// first that has them, but a struct is null only where all of its leaves say so, as they do unless
// they were written at different times; their lengths must agree, or it is Corrupt.
arrow::Result<std::shared_ptr<arrow::Array>> AssembleField(const arrow::Field& field,
                                                           std::vector<LeafRows> leaves);

}  // namespace glaive::encoding
