#include "encoding/levels/leaf.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/array/data.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>
#include <arrow/util/key_value_metadata.h>

#include "core/error.h"
#include "encoding/levels/dictionary_array.h"

namespace glaive::encoding {
namespace {

bool IsTrue(std::string value) {
  std::transform(value.begin(), value.end(), value.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 5> kTrue = {"true", "1", "on", "yes", "y"};
  return std::find(kTrue.begin(), kTrue.end(), value) != kTrue.end();
}

// Fields whose metadata makes one column of them, which is not the shape of their type.
arrow::Status RefuseOtherShapes(const arrow::Field& field) {
  if (field.metadata() == nullptr) return arrow::Status::OK();
  for (const char* key : {"packed", "lance-encoding:packed"}) {
    const auto value = field.metadata()->Get(key);
    if (value.ok() && IsTrue(*value)) {
      return Unsupported("column '{}' is a packed struct", field.name());
    }
  }
  if (field.metadata()->Contains("lance-encoding:blob")) {
    return Unsupported("column '{}' holds blobs", field.name());
  }
  return arrow::Status::OK();
}

// Whether a fixed-size list holds numbers or booleans, perhaps in further fixed-size lists.
bool IsOneLeaf(const arrow::DataType& type) {
  if (type.id() != arrow::Type::FIXED_SIZE_LIST) return !arrow::is_nested(type.id());
  return IsOneLeaf(*type.field(0)->type());
}

class LeafCollector {
 public:
  arrow::Status Visit(const arrow::Field& field) {
    ARROW_RETURN_NOT_OK(RefuseOtherShapes(field));
    const arrow::DataType& type = *field.type();
    switch (type.id()) {
      case arrow::Type::STRUCT:
        if (type.num_fields() == 0) break;
        for (int i = 0; i < type.num_fields(); ++i) {
          ARROW_RETURN_NOT_OK(Descend({.kind = LayerKind::kItem, .child_index = i}, type));
        }
        return arrow::Status::OK();
      case arrow::Type::LIST:
      case arrow::Type::MAP: return Descend({.kind = LayerKind::kList}, type);
      case arrow::Type::LARGE_LIST:
        return Descend({.kind = LayerKind::kList, .large_offsets = true}, type);
      default:
        if (!IsOneLeaf(type)) {
          return Unsupported("column '{}' of type {}", field.name(), type.ToString());
        }
    }
    LeafPath leaf{path_, field.type()};
    if (type.id() == arrow::Type::DICTIONARY) {
      // Decoded as what it stands for.
      const auto& dictionary = static_cast<const arrow::DictionaryType&>(type);
      leaf.type = dictionary.value_type();
      leaf.index_bits = static_cast<uint64_t>(dictionary.index_type()->bit_width());
    }
    leaf.layers.push_back({.kind = LayerKind::kItem});
    leaves.push_back(std::move(leaf));
    return arrow::Status::OK();
  }

  std::vector<LeafPath> leaves;

 private:
  arrow::Status Descend(Layer layer, const arrow::DataType& type) {
    path_.push_back(layer);
    ARROW_RETURN_NOT_OK(Visit(*type.field(layer.child_index)));
    path_.pop_back();
    return arrow::Status::OK();
  }

  std::vector<Layer> path_;
};

// Takes leaves in order as it walks down the field, and builds arrays on its way up.
class Assembler {
 public:
  Assembler(const arrow::Field& root, std::vector<LeafRows> leaves)
      : root_(root), leaves_(std::move(leaves)) {}

  arrow::Result<std::shared_ptr<arrow::ArrayData>> Assemble(
      const std::shared_ptr<arrow::DataType>& type, size_t depth) {
    const size_t first_leaf = next_leaf_;
    switch (type->id()) {
      case arrow::Type::STRUCT: {
        if (type->num_fields() == 0) break;
        std::vector<std::shared_ptr<arrow::ArrayData>> children;
        for (const auto& child : type->fields()) {
          ARROW_ASSIGN_OR_RAISE(children.emplace_back(), Assemble(child->type(), depth + 1));
        }
        ARROW_ASSIGN_OR_RAISE(LayerRows * rows, TakeLayer(first_leaf, depth));
        ARROW_RETURN_NOT_OK(UniteValidity(first_leaf, depth, rows));
        for (const auto& child : children) {
          ARROW_RETURN_NOT_OK(ExpectLength(*child, rows->num_slots));
        }
        return arrow::ArrayData::Make(type, rows->num_slots, {std::move(rows->validity)},
                                      std::move(children), rows->null_count);
      }
      case arrow::Type::LIST:
      case arrow::Type::LARGE_LIST:
      case arrow::Type::MAP: {
        ARROW_ASSIGN_OR_RAISE(auto items, Assemble(type->field(0)->type(), depth + 1));
        ARROW_ASSIGN_OR_RAISE(LayerRows * rows, TakeLayer(first_leaf, depth));
        if (rows->offsets == nullptr) return Internal("'{}': a list without offsets", root_.name());
        ARROW_RETURN_NOT_OK(ExpectLength(*items, LastOffset(*rows, *type)));
        return arrow::ArrayData::Make(type, rows->num_slots,
                                      {std::move(rows->validity), std::move(rows->offsets)},
                                      {std::move(items)}, rows->null_count);
      }
      default: break;
    }
    if (next_leaf_ == leaves_.size() || leaves_[next_leaf_].layers.size() != depth) {
      return Internal("'{}': the leaves are not those of {}", root_.name(),
                      root_.type()->ToString());
    }
    std::shared_ptr<arrow::ArrayData> values = std::move(leaves_[next_leaf_++].values);
    if (type->id() != arrow::Type::DICTIONARY) return values;
    return ToDictionary(*values, type, root_.name());
  }

  bool done() const { return next_leaf_ == leaves_.size(); }

 private:
  // The layer at `depth` of the leaves from `first_leaf` up to the one that comes next: theirs
  // in common, so they must agree on its slots.
  arrow::Result<LayerRows*> TakeLayer(size_t first_leaf, size_t depth) {
    LayerRows& rows = leaves_[first_leaf].layers[depth];
    for (size_t leaf = first_leaf + 1; leaf < next_leaf_; ++leaf) {
      const LayerRows& other = leaves_[leaf].layers[depth];
      if (other.num_slots != rows.num_slots) return Disagreement(rows.num_slots, other.num_slots);
    }
    return &rows;
  }

  // A struct whose fields were written at different times is there where any of them has it.
  arrow::Status UniteValidity(size_t first_leaf, size_t depth, LayerRows* rows) {
    for (size_t leaf = first_leaf + 1; leaf < next_leaf_ && rows->null_count > 0; ++leaf) {
      const LayerRows& other = leaves_[leaf].layers[depth];
      if (other.validity == nullptr || other.null_count == 0) {
        rows->validity = nullptr;
        rows->null_count = 0;
        continue;
      }
      const int64_t bytes = arrow::bit_util::BytesForBits(rows->num_slots);
      if (std::equal(other.validity->data(), other.validity->data() + bytes,
                     rows->validity->data())) {
        continue;
      }
      ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> united, arrow::AllocateBuffer(bytes));
      std::transform(other.validity->data(), other.validity->data() + bytes, rows->validity->data(),
                     united->mutable_data(), std::bit_or<uint8_t>());
      rows->null_count =
          rows->num_slots - arrow::internal::CountSetBits(united->data(), 0, rows->num_slots);
      rows->validity = std::move(united);
    }
    return arrow::Status::OK();
  }

  arrow::Status ExpectLength(const arrow::ArrayData& child, int64_t length) const {
    if (child.length == length) return arrow::Status::OK();
    return Disagreement(length, child.length);
  }

  arrow::Status Disagreement(int64_t expected, int64_t found) const {
    return Corrupt({root_.name()}, "columns of one field disagree: {} slots beside {}", expected,
                   found);
  }

  static int64_t LastOffset(const LayerRows& rows, const arrow::DataType& type) {
    const uint8_t* offsets = rows.offsets->data();
    if (type.id() != arrow::Type::LARGE_LIST) {
      return reinterpret_cast<const int32_t*>(offsets)[rows.num_slots];
    }
    return reinterpret_cast<const int64_t*>(offsets)[rows.num_slots];
  }

  const arrow::Field& root_;
  std::vector<LeafRows> leaves_;
  size_t next_leaf_ = 0;
};

}  // namespace

int LeafPath::num_lists() const {
  return static_cast<int>(std::count_if(layers.begin(), layers.end(), [](const Layer& layer) {
    return layer.kind == LayerKind::kList;
  }));
}

bool LeafPath::operator==(const LeafPath& other) const {
  return index_bits == other.index_bits && layers == other.layers && type->Equals(*other.type);
}

arrow::Result<std::vector<LeafPath>> LeavesOf(const arrow::Field& field) {
  LeafCollector collector;
  ARROW_RETURN_NOT_OK(collector.Visit(field));
  return std::move(collector.leaves);
}

arrow::Result<std::shared_ptr<arrow::Array>> AssembleField(const arrow::Field& field,
                                                           std::vector<LeafRows> leaves) {
  Assembler assembler(field, std::move(leaves));
  ARROW_ASSIGN_OR_RAISE(auto data, assembler.Assemble(field.type(), 0));
  if (!assembler.done()) {
    return Internal("'{}': more leaves than {} has", field.name(), field.type()->ToString());
  }
  return arrow::MakeArray(data);
}

}  // namespace glaive::encoding
