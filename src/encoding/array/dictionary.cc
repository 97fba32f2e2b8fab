#include "encoding/array/dictionary.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <arrow/util/bit_util.h>

#include "core/error.h"
#include "core/write_once.h"
#include "encoding/array/fixed_values.h"

namespace glaive::encoding {
namespace {

using ItemsPtr = std::shared_ptr<arrow::ArrayData>;

// Indices of 64 bits reach further than any dictionary.
using Index = uint64_t;

class DictionaryNode final : public ArrayNode {
 public:
  DictionaryNode(FixedValues indices, std::unique_ptr<const ArrayNode> items, uint64_t num_items,
                 bool from_one, const NodePlace& place, const ArraySource& source)
      : indices_(std::move(indices)),
        item_values_(std::move(items)),
        num_items_(num_items),
        from_one_(from_one),
        shape_(place.shape),
        type_(place.type),
        path_(source.path),
        metadata_offset_(source.metadata_offset) {}

  std::unique_ptr<NodeRead> Read(std::span<const RowRange> slots) const override;

  uint64_t text_bytes() const override {
    const double mean = static_cast<double>(item_values_->text_bytes()) /
                        static_cast<double>(std::max<uint64_t>(num_items_, 1));
    constexpr double kMost = 1e18;
    return static_cast<uint64_t>(
        std::min(kMost, mean * static_cast<double>(indices_.num_values())));
  }
  uint64_t memory_bytes() const override {
    const ItemsPtr* const kept = items_.Get();
    uint64_t bytes = 256 + item_values_->memory_bytes();
    if (kept == nullptr) return bytes;
    for (const auto& buffer : (*kept)->buffers) {
      if (buffer != nullptr) bytes += static_cast<uint64_t>(buffer->size());
    }
    return bytes;
  }

  Location where() const { return {path_, metadata_offset_}; }

 private:
  friend class DictionaryRead;

  FixedValues indices_;
  std::unique_ptr<const ArrayNode> item_values_;
  uint64_t num_items_;
  bool from_one_;
  LeafShape shape_;
  std::shared_ptr<arrow::DataType> type_;
  std::string path_;
  uint64_t metadata_offset_;
  mutable WriteOnce<ItemsPtr> items_;  // once a read has brought them
};

class DictionaryRead final : public NodeRead {
 public:
  DictionaryRead(const DictionaryNode& node, std::span<const RowRange> slots)
      : node_(node), indices_(node.indices_.Read(slots)) {
    reads_.Add(indices_);
    if (node_.items_.Get() != nullptr) return;
    const RowRange all = {0, node_.num_items_};
    items_ = node_.item_values_->Read({&all, 1});
    reads_.Add(*items_);
  }

  const std::vector<ByteRange>& wanted() const override { return reads_.wanted(); }
  arrow::Status Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) override {
    return reads_.Supply(std::move(buffers));
  }
  arrow::Status Append(ArraySlots slots, bool with_validity) override;

 private:
  arrow::Result<ItemsPtr> Items();
  arrow::Result<std::vector<Index>> Indices();

  const DictionaryNode& node_;
  FixedRead indices_;
  std::unique_ptr<NodeRead> items_;
  BufferReads reads_;
};

std::unique_ptr<NodeRead> DictionaryNode::Read(std::span<const RowRange> slots) const {
  return std::make_unique<DictionaryRead>(*this, slots);
}

arrow::Result<ItemsPtr> DictionaryRead::Items() {
  if (const ItemsPtr* const kept = node_.items_.Get(); kept != nullptr) return *kept;
  if (items_ == nullptr) return Internal("a dictionary was dropped while it was read");
  LeafValues values(node_.shape_);
  ValidityBuilder validity;
  ARROW_RETURN_NOT_OK(items_->Append({values, validity}, /*with_validity=*/true));
  ARROW_ASSIGN_OR_RAISE(auto items, std::move(values).Finish(node_.type_, validity));
  return node_.items_.Put(std::move(items));
}

// Counted from 0, nulls as the number of items.
arrow::Result<std::vector<Index>> DictionaryRead::Indices() {
  std::vector<Index> indices;
  const auto widen = [&]<typename T>(T) -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const auto words, indices_.Words<T>());
    indices.assign(words.begin(), words.end());
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(WithWord(node_.indices_.bits(), widen));
  const Index null = node_.num_items_;
  for (Index& index : indices) {
    if (node_.from_one_) index = index == 0 ? null : index - 1;
    if (index > null || (index == null && !node_.from_one_)) {
      return Corrupt(node_.where(), "index {} into a dictionary of {} items", index, null);
    }
  }
  return indices;
}

arrow::Status AppendStrings(const arrow::ArrayData& items, std::span<const Index> indices,
                            LeafValues& values) {
  const auto offset = [&](Index item) {
    return values.shape().large_offsets ? static_cast<uint64_t>(items.GetValues<int64_t>(1)[item])
                                        : static_cast<uint64_t>(items.GetValues<int32_t>(1)[item]);
  };
  const auto num_items = static_cast<Index>(items.length);
  uint64_t size = 0;
  for (const Index item : indices) {
    if (item < num_items) size += offset(item + 1) - offset(item);
    if (size > INT64_MAX / 2) break;
  }
  ARROW_RETURN_NOT_OK(values.CheckRoom(size));
  ARROW_RETURN_NOT_OK(values.ReserveVariable(indices.size(), size));
  for (const Index item : indices) {
    const uint64_t length = item < num_items ? offset(item + 1) - offset(item) : 0;
    if (length > 0)
      std::memcpy(values.variable_end(), items.buffers[2]->data() + offset(item), length);
    values.UnsafeEndValue(length);
  }
  return arrow::Status::OK();
}

arrow::Status AppendFixed(const arrow::ArrayData& items, std::span<const Index> indices,
                          LeafValues& values) {
  const uint64_t width = values.shape().value_bits / 8;
  const auto num_items = static_cast<Index>(items.length);
  ARROW_ASSIGN_OR_RAISE(uint8_t * out, values.ExtendFixed(indices.size()));
  for (const Index item : indices) {
    if (item < num_items) {
      std::memcpy(out, items.buffers[1]->data() + item * width, width);
    } else {
      std::memset(out, 0, width);
    }
    out += width;
  }
  return arrow::Status::OK();
}

arrow::Status AppendBools(const arrow::ArrayData& items, std::span<const Index> indices,
                          LeafValues& values) {
  std::vector<std::byte> bytes;
  bytes.reserve(indices.size());
  for (const Index item : indices) {
    const bool is_set =
        item < static_cast<Index>(items.length) &&
        arrow::bit_util::GetBit(items.buffers[1]->data(), static_cast<int64_t>(item));
    bytes.push_back(is_set ? std::byte{1} : std::byte{0});
  }
  return values.AppendBools(bytes.data(), bytes.size());
}

arrow::Status DictionaryRead::Append(ArraySlots slots, bool with_validity) {
  ARROW_ASSIGN_OR_RAISE(const ItemsPtr items, Items());
  ARROW_ASSIGN_OR_RAISE(const auto indices, Indices());
  switch (node_.shape_.kind) {
    case ValueKind::kVariable:
      ARROW_RETURN_NOT_OK(AppendStrings(*items, indices, slots.values));
      break;
    case ValueKind::kFixed: ARROW_RETURN_NOT_OK(AppendFixed(*items, indices, slots.values)); break;
    case ValueKind::kBit: ARROW_RETURN_NOT_OK(AppendBools(*items, indices, slots.values)); break;
    case ValueKind::kNull: return Internal("a dictionary of nothing");
  }
  if (!with_validity) return arrow::Status::OK();
  const auto num_items = static_cast<Index>(items->length);
  const uint8_t* const valid = items->buffers[0] == nullptr ? nullptr : items->buffers[0]->data();
  std::vector<uint8_t> bytes;
  bytes.reserve(indices.size());
  for (const Index item : indices) {
    const bool is_valid =
        item < num_items &&
        (valid == nullptr || arrow::bit_util::GetBit(valid, static_cast<int64_t>(item)));
    bytes.push_back(is_valid ? 1 : 0);
  }
  return slots.validity.AppendBytes(bytes);
}

// The flat numbers below a nullable without nulls.
const wire::FlatArray* FlatOf(const wire::ArrayEncoding& encoding) {
  const auto* no_nulls = std::get_if<wire::NoNullsArray>(&encoding.kind);
  return std::get_if<wire::FlatArray>(no_nulls != nullptr ? &no_nulls->values->kind
                                                          : &encoding.kind);
}

}  // namespace

arrow::Result<std::unique_ptr<const ArrayNode>> OpenDictionary(
    const wire::DictionaryArray& dictionary, const NodePlace& place, const ArraySource& source) {
  const Location where = source.where();
  if (!place.shape.dimensions.empty() || place.shape.kind == ValueKind::kNull) {
    return Unsupported(where, "a dictionary of {}", place.type->ToString());
  }
  const wire::FlatArray* const flat = FlatOf(*dictionary.indices);
  if (flat == nullptr || !IsWordWidth(flat->bits_per_value)) {
    return Unsupported(where, "a dictionary whose indices are not flat numbers");
  }
  ARROW_ASSIGN_OR_RAISE(
      auto indices,
      FixedValues::Validate(*dictionary.indices, flat->bits_per_value, place.num_slots, source));
  // Items of which nothing is stored are few.
  constexpr uint64_t kFewItems = 1 << 16;
  if (dictionary.num_items > kFewItems && dictionary.num_items / 8 > source.file_size) {
    return Corrupt(where, "a dictionary of {} items in a file of {} bytes", dictionary.num_items,
                   source.file_size);
  }
  NodePlace of_items = place;
  of_items.num_slots = dictionary.num_items;
  if (std::holds_alternative<wire::DictionaryArray>(dictionary.items->kind)) {
    return Corrupt(where, "a dictionary of a dictionary");
  }
  ARROW_ASSIGN_OR_RAISE(auto items, OpenNode(*dictionary.items, of_items, source));
  return std::make_unique<const DictionaryNode>(std::move(indices), std::move(items),
                                                dictionary.num_items, !source.is_dictionary, place,
                                                source);
}

}  // namespace glaive::encoding
