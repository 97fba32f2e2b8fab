#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <arrow/result.h>

#include "encoding/array/buffer_read.h"
#include "encoding/array/source.h"
#include "encoding/structural/leaf/values.h"

namespace glaive::encoding {

// Where decoded slots go: the values of a leaf, its validity, and that of the items of its
// fixed-size lists. Level 0 is the leaf, 1 the items of its outermost list, and so on.
struct ArraySlots {
  LeafValues& values;
  ValidityBuilder& validity;

  ValidityBuilder& at(size_t level) { return level == 0 ? validity : values.items(level - 1); }
};

// One reading of some slots. Borrows the node.
class NodeRead : public BufferRead {
 public:
  // Appends the slots. Whether they are valid is said of those of the node's level too, unless the
  // caller says that itself. REQUIRES: wanted().empty()
  virtual arrow::Status Append(ArraySlots slots, bool with_validity) = 0;
};

// A node of the tree that describes a page of a 2.0 file, validated with all below it. Immutable
// but for the items of a dictionary, which it keeps. Thread safe.
class ArrayNode {
 public:
  virtual ~ArrayNode() = default;

  // REQUIRES: ascending, disjoint, within the page
  virtual std::unique_ptr<NodeRead> Read(std::span<const RowRange> slots) const = 0;

  virtual uint64_t text_bytes() const { return 0; }  // of strings, about
  virtual uint64_t memory_bytes() const { return 256; }
};

// What a node is opened for.
struct NodePlace {
  const LeafShape& shape;
  std::shared_ptr<arrow::DataType> type;  // of the leaf
  size_t level = 0;
  uint64_t num_slots = 0;  // of that level
};

// The node of an encoding, which must suit the leaf: Corrupt if it does not, Unsupported for what
// files of 2.0 do not have.
arrow::Result<std::unique_ptr<const ArrayNode>> OpenNode(const wire::ArrayEncoding& encoding,
                                                         const NodePlace& place,
                                                         const ArraySource& source);

}  // namespace glaive::encoding
