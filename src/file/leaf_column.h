#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "encoding/levels/leaf.h"
#include "encoding/levels/level_scheme.h"

namespace glaive::file {

// How the slots of an array lead to those of its child, or to values.
enum class NodeKind : uint8_t {
  kStruct,      // slot by slot
  kList,        // by 32-bit offsets
  kLargeList,   // by 64-bit offsets
  kFixedList,   // `width` slots of the child for each
  kFixedWidth,  // values of `width` bits
  kBinary,      // value bytes by 32-bit offsets
  kLargeBinary,
  kNull,
};

struct LeafNode {
  NodeKind kind = NodeKind::kNull;
  bool nullable = true;
  bool counted_validity = true;  // items of fixed-size lists have none in the format's schema
  int64_t width = 0;
  std::string name;  // dotted path, for errors
};

// One leaf column of a file: a chain of arrays from a top-level field down to values. Fields with
// several leaves are pruned to one, since the leaves of a row may lie in different pages and must
// not keep each other's bytes alive.
class LeafColumn {
 public:
  // The leaves of a field in order of their columns. Unsupported, by name, for types that are not
  // written.
  static arrow::Result<std::vector<LeafColumn>> Of(const arrow::Field& field);

  const std::string& name() const { return nodes_.back().name; }
  const std::vector<LeafNode>& nodes() const { return nodes_; }  // from the field down
  const encoding::LeafPath& path() const { return path_; }       // in the pruned type
  const std::shared_ptr<arrow::DataType>& type(size_t depth) const { return types_[depth]; }

  // Of a column of several pages; see encoding::SharedFacts.
  std::vector<encoding::LayerFacts> SharedFacts() const;

  // The field's array (of the field's own type) with this leaf only. Shares all buffers.
  std::shared_ptr<arrow::ArrayData> Prune(const std::shared_ptr<arrow::ArrayData>& data) const;

  // What rows [0, row) of a pruned array hold, in bits: the measure of page and file limits. Per
  // leaf the width of each value, 1 for validity at each nullable level, the bytes of variable
  // values and 32 or 64 for each offset. REQUIRES: offsets that were validated.
  uint64_t BitsBefore(const arrow::ArrayData& rows, int64_t row) const;
  // Likewise of all rows of several arrays.
  uint64_t BitsOf(std::span<const std::shared_ptr<arrow::ArrayData>> pieces) const;

 private:
  arrow::Status Follow(const arrow::Field& root, encoding::LeafPath path);

  std::vector<LeafNode> nodes_;
  std::vector<int> children_;  // of each node, the child that leads on; as in the field's own type
  std::vector<std::shared_ptr<arrow::DataType>> types_;  // of each node, pruned
  encoding::LeafPath path_;
  uint64_t fixed_bits_per_row_ = 0;  // 0: rows differ
};

}  // namespace glaive::file
