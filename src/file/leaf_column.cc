#include "file/leaf_column.h"

#include <utility>

#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/checked_cast.h>

#include "core/error.h"

namespace glaive::file {
namespace {

using arrow::internal::checked_cast;

arrow::Result<LeafNode> NodeOf(const arrow::Field& field, const std::string& name) {
  const arrow::DataType& type = *field.type();
  LeafNode node;
  node.nullable = field.nullable();
  node.name = name;
  switch (type.id()) {
    case arrow::Type::STRUCT: node.kind = NodeKind::kStruct; break;
    case arrow::Type::LIST: node.kind = NodeKind::kList; break;
    case arrow::Type::LARGE_LIST: node.kind = NodeKind::kLargeList; break;
    case arrow::Type::FIXED_SIZE_LIST:
      node.kind = NodeKind::kFixedList;
      node.width = checked_cast<const arrow::FixedSizeListType&>(type).list_size();
      break;
    case arrow::Type::STRING:
    case arrow::Type::BINARY: node.kind = NodeKind::kBinary; break;
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY: node.kind = NodeKind::kLargeBinary; break;
    case arrow::Type::NA: node.kind = NodeKind::kNull; break;
    case arrow::Type::DICTIONARY:
    case arrow::Type::EXTENSION:
      return Unsupported("column `{}`: values of type {} are not written yet", name,
                         type.ToString());
    default:
      if (type.num_fields() > 0 || !arrow::is_fixed_width(type.id())) {
        return Unsupported("column `{}`: values of type {} are not written yet", name,
                           type.ToString());
      }
      node.kind = NodeKind::kFixedWidth;
      node.width = type.bit_width();
  }
  return node;
}

bool HasChild(NodeKind kind) {
  return kind == NodeKind::kStruct || kind == NodeKind::kList || kind == NodeKind::kLargeList ||
         kind == NodeKind::kFixedList;
}

// `type` with one child only.
std::shared_ptr<arrow::DataType> WithChild(const arrow::DataType& type, const arrow::Field& old,
                                           std::shared_ptr<arrow::DataType> child) {
  auto field = old.WithType(std::move(child));
  switch (type.id()) {
    case arrow::Type::STRUCT: return arrow::struct_({std::move(field)});
    case arrow::Type::LIST: return arrow::list(std::move(field));
    case arrow::Type::LARGE_LIST: return arrow::large_list(std::move(field));
    default:
      return arrow::fixed_size_list(
          std::move(field), checked_cast<const arrow::FixedSizeListType&>(type).list_size());
  }
}

// 0 where rows differ.
uint64_t FixedBitsPerRow(const std::vector<LeafNode>& nodes) {
  uint64_t bits = 0;
  uint64_t slots = 1;
  for (const LeafNode& node : nodes) {
    if (node.nullable && node.counted_validity) bits += slots;
    switch (node.kind) {
      case NodeKind::kStruct:
      case NodeKind::kNull: break;
      case NodeKind::kFixedList: slots *= static_cast<uint64_t>(node.width); break;
      case NodeKind::kFixedWidth: bits += slots * static_cast<uint64_t>(node.width); break;
      case NodeKind::kList:
      case NodeKind::kLargeList:
      case NodeKind::kBinary:
      case NodeKind::kLargeBinary: return 0;
    }
  }
  return bits;
}

}  // namespace

arrow::Result<std::vector<LeafColumn>> LeafColumn::Of(const arrow::Field& field) {
  ARROW_ASSIGN_OR_RAISE(auto paths, encoding::LeavesOf(field));
  std::vector<LeafColumn> columns(paths.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    ARROW_RETURN_NOT_OK(columns[i].Follow(field, std::move(paths[i])));
  }
  return columns;
}

arrow::Status LeafColumn::Follow(const arrow::Field& root, encoding::LeafPath path) {
  std::vector<std::shared_ptr<arrow::Field>> fields = {
      arrow::field(root.name(), root.type(), root.nullable())};
  std::string name = root.name();
  while (true) {
    const arrow::DataType& type = *fields.back()->type();
    ARROW_ASSIGN_OR_RAISE(LeafNode node, NodeOf(*fields.back(), name));
    if (!nodes_.empty() && nodes_.back().kind == NodeKind::kFixedList) {
      if (node.kind != NodeKind::kFixedList && node.kind != NodeKind::kFixedWidth) {
        return Unsupported("column `{}`: a fixed_size_list of {} is not written yet", name,
                           type.ToString());
      }
      node.nullable = true;
      node.counted_validity = false;
    }
    nodes_.push_back(std::move(node));
    if (!HasChild(nodes_.back().kind)) break;
    if (type.num_fields() == 0) {
      return Unsupported("column `{}`: structs without fields are not written yet", name);
    }
    const bool is_struct = type.id() == arrow::Type::STRUCT;
    children_.push_back(is_struct ? path.layers[nodes_.size() - 1].child_index : 0);
    fields.push_back(type.field(children_.back()));
    if (is_struct) name += "." + fields.back()->name();
  }

  types_.resize(fields.size());
  types_.back() = fields.back()->type();
  for (size_t i = fields.size() - 1; i-- > 0;) {
    types_[i] = WithChild(*fields[i]->type(), *fields[i + 1], types_[i + 1]);
  }
  for (encoding::Layer& layer : path.layers) layer.child_index = 0;
  path_ = std::move(path);
  fixed_bits_per_row_ = FixedBitsPerRow(nodes_);
  return arrow::Status::OK();
}

std::vector<encoding::LayerFacts> LeafColumn::SharedFacts() const {
  std::vector<bool> nullable;
  for (size_t i = 0; i < path_.layers.size(); ++i) nullable.push_back(nodes_[i].nullable);
  return encoding::SharedFacts(path_, nullable);
}

std::shared_ptr<arrow::ArrayData> LeafColumn::Prune(
    const std::shared_ptr<arrow::ArrayData>& data) const {
  // Down to the last struct: below it, nothing is left out.
  size_t depth = 0;
  for (size_t i = 0; i < children_.size(); ++i) {
    if (nodes_[i].kind == NodeKind::kStruct) depth = i + 1;
  }
  if (depth == 0) return data;
  std::shared_ptr<arrow::ArrayData> root = data->Copy();
  arrow::ArrayData* node = root.get();
  for (size_t i = 0; i < depth; ++i) {
    std::shared_ptr<arrow::ArrayData> child =
        node->child_data[static_cast<size_t>(children_[i])]->Copy();
    node->type = types_[i];
    node->child_data = {child};
    node = child.get();
  }
  if (depth < types_.size()) node->type = types_[depth];
  return root;
}

uint64_t LeafColumn::BitsBefore(const arrow::ArrayData& rows, int64_t row) const {
  if (fixed_bits_per_row_ != 0) return fixed_bits_per_row_ * static_cast<uint64_t>(row);
  uint64_t bits = 0;
  const arrow::ArrayData* node = &rows;
  int64_t begin = 0;  // of this node, relative to its offset
  int64_t end = row;
  for (const LeafNode& description : nodes_) {
    const auto slots = static_cast<uint64_t>(end - begin);
    if (description.nullable && description.counted_validity) bits += slots;
    const auto follow = [&]<typename Offset>(Offset) {
      bits += slots * 8 * sizeof(Offset);
      if (slots == 0) return;  // there may be no offsets at all
      const Offset* offsets = node->GetValues<Offset>(1);
      end = offsets[end];
      begin = offsets[begin];
    };
    switch (description.kind) {
      case NodeKind::kStruct:
        begin += node->offset;
        end += node->offset;
        break;
      case NodeKind::kList: follow(int32_t{}); break;
      case NodeKind::kLargeList: follow(int64_t{}); break;
      case NodeKind::kFixedList:
        begin = (begin + node->offset) * description.width;
        end = (end + node->offset) * description.width;
        break;
      case NodeKind::kFixedWidth: bits += slots * static_cast<uint64_t>(description.width); break;
      case NodeKind::kBinary:
        follow(int32_t{});
        bits += 8 * static_cast<uint64_t>(end - begin);
        break;
      case NodeKind::kLargeBinary:
        follow(int64_t{});
        bits += 8 * static_cast<uint64_t>(end - begin);
        break;
      case NodeKind::kNull: break;
    }
    if (!node->child_data.empty()) node = node->child_data[0].get();
  }
  return bits;
}

uint64_t LeafColumn::BitsOf(std::span<const std::shared_ptr<arrow::ArrayData>> pieces) const {
  uint64_t bits = 0;
  for (const auto& piece : pieces) bits += BitsBefore(*piece, piece->length);
  return bits;
}

}  // namespace glaive::file
