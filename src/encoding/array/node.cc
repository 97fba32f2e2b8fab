#include "encoding/array/node.h"

#include <utility>
#include <vector>

#include "core/error.h"
#include "encoding/array/dictionary.h"
#include "encoding/array/fixed_values.h"
#include "encoding/array/strings.h"

namespace glaive::encoding {
namespace {

using NodePtr = std::unique_ptr<const ArrayNode>;
using ReadPtr = std::unique_ptr<NodeRead>;

int64_t Signed(uint64_t value) { return static_cast<int64_t>(value); }

// How many slots of a level make one of the leaf.
uint64_t SlotsPerRow(const LeafShape& shape, size_t level) {
  uint64_t slots = 1;
  for (size_t i = 0; i < level; ++i) slots *= shape.dimensions[i];
  return slots;
}

// Numbers and booleans as they are.
class FixedNode final : public ArrayNode {
 public:
  FixedNode(FixedValues values, size_t level) : values_(std::move(values)), level_(level) {}

  class Reading final : public NodeRead {
   public:
    Reading(const FixedNode& node, std::span<const RowRange> slots)
        : node_(node), num_slots_(CountRows(slots)), read_(node.values_.Read(slots)) {}

    const std::vector<ByteRange>& wanted() const override { return read_.wanted(); }
    arrow::Status Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) override {
      return read_.Supply(std::move(buffers));
    }
    arrow::Status Append(ArraySlots slots, bool with_validity) override {
      LeafValues& values = slots.values;
      const LeafShape& shape = values.shape();
      ARROW_RETURN_NOT_OK(values.CheckRoom(PackedBytes(num_slots_, shape.value_bits)));
      if (with_validity) {
        ARROW_RETURN_NOT_OK(slots.at(node_.level_).AppendValid(Signed(num_slots_)));
      }
      ARROW_ASSIGN_OR_RAISE(const auto runs, read_.Runs());
      for (const FixedRun& run : runs) {
        const uint64_t rows = run.num_values / shape.values_per_slot;
        ARROW_RETURN_NOT_OK(shape.kind == ValueKind::kBit
                                ? values.AppendBits(run.bytes, run.first_bit, rows)
                                : values.AppendFixed(run.bytes, rows));
      }
      return arrow::Status::OK();
    }

   private:
    const FixedNode& node_;
    uint64_t num_slots_;
    FixedRead read_;
  };

  ReadPtr Read(std::span<const RowRange> slots) const override {
    return std::make_unique<Reading>(*this, slots);
  }

 private:
  FixedValues values_;
  size_t level_;
};

class StringNode final : public ArrayNode {
 public:
  explicit StringNode(StringValues values) : values_(std::move(values)) {}

  class Reading final : public NodeRead {
   public:
    Reading(const StringNode& node, std::span<const RowRange> slots)
        : read_(node.values_.Read(slots)) {}

    const std::vector<ByteRange>& wanted() const override { return read_->wanted(); }
    arrow::Status Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) override {
      return read_->Supply(std::move(buffers));
    }
    arrow::Status Append(ArraySlots slots, bool with_validity) override {
      ValidityBuilder unused;
      return read_->Append(slots.values, with_validity ? slots.validity : unused);
    }

   private:
    std::unique_ptr<StringRead> read_;
  };

  ReadPtr Read(std::span<const RowRange> slots) const override {
    return std::make_unique<Reading>(*this, slots);
  }
  uint64_t text_bytes() const override { return values_.text_bytes(); }

 private:
  StringValues values_;
};

// Slots of which nothing is stored: nulls of any type, and structs without children.
class NothingNode final : public ArrayNode {
 public:
  NothingNode(const LeafShape& shape, size_t level, bool is_null)
      : shape_(shape), level_(level), is_null_(is_null) {}

  class Reading final : public NodeRead {
   public:
    Reading(const NothingNode& node, std::span<const RowRange> slots)
        : node_(node), num_slots_(CountRows(slots)) {}

    const std::vector<ByteRange>& wanted() const override { return none_; }
    arrow::Status Supply(std::vector<std::shared_ptr<arrow::Buffer>> /*buffers*/) override {
      return Internal("nulls want no bytes");
    }
    arrow::Status Append(ArraySlots slots, bool with_validity) override {
      const LeafShape& shape = node_.shape_;
      const uint64_t rows = num_slots_ / SlotsPerRow(shape, node_.level_);
      if (with_validity) {
        ValidityBuilder& validity = slots.at(node_.level_);
        ARROW_RETURN_NOT_OK(node_.is_null_ ? validity.AppendNull(Signed(num_slots_))
                                           : validity.AppendValid(Signed(num_slots_)));
      }
      for (size_t level = node_.level_; level < shape.dimensions.size(); ++level) {
        ARROW_RETURN_NOT_OK(slots.values.AppendItemsValid(level, rows));
      }
      return slots.values.AppendPlaceholders(rows);
    }

   private:
    const NothingNode& node_;
    uint64_t num_slots_;
    std::vector<ByteRange> none_;
  };

  ReadPtr Read(std::span<const RowRange> slots) const override {
    return std::make_unique<Reading>(*this, slots);
  }

 private:
  LeafShape shape_;
  size_t level_;
  bool is_null_;
};

// Slots of which some are null.
class NullableNode final : public ArrayNode {
 public:
  NullableNode(FixedValues validity, NodePtr values, size_t level)
      : validity_(std::move(validity)), values_(std::move(values)), level_(level) {}

  class Reading final : public NodeRead {
   public:
    Reading(const NullableNode& node, std::span<const RowRange> slots)
        : node_(node), validity_(node.validity_.Read(slots)), values_(node.values_->Read(slots)) {
      reads_.Add(validity_);
      reads_.Add(*values_);
    }

    const std::vector<ByteRange>& wanted() const override { return reads_.wanted(); }
    arrow::Status Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) override {
      return reads_.Supply(std::move(buffers));
    }
    arrow::Status Append(ArraySlots slots, bool with_validity) override {
      if (with_validity) {
        ARROW_ASSIGN_OR_RAISE(const auto runs, validity_.Runs());
        for (const FixedRun& run : runs) {
          ARROW_RETURN_NOT_OK(slots.at(node_.level_)
                                  .AppendBits(reinterpret_cast<const uint8_t*>(run.bytes),
                                              Signed(run.first_bit), Signed(run.num_values)));
        }
      }
      return values_->Append(slots, /*with_validity=*/false);
    }

   private:
    const NullableNode& node_;
    FixedRead validity_;
    ReadPtr values_;
    BufferReads reads_;
  };

  ReadPtr Read(std::span<const RowRange> slots) const override {
    return std::make_unique<Reading>(*this, slots);
  }
  uint64_t text_bytes() const override { return values_->text_bytes(); }
  uint64_t memory_bytes() const override { return 256 + values_->memory_bytes(); }

 private:
  FixedValues validity_;
  NodePtr values_;
  size_t level_;
};

// A fixed-size list: its items are so many slots of the level below.
class FixedListNode final : public ArrayNode {
 public:
  FixedListNode(NodePtr items, uint64_t dimension, size_t level)
      : items_(std::move(items)), dimension_(dimension), level_(level) {}

  class Reading final : public NodeRead {
   public:
    Reading(const FixedListNode& node, std::span<const RowRange> slots)
        : node_(node), num_slots_(CountRows(slots)) {
      std::vector<RowRange> items;
      for (const RowRange& range : slots) {
        items.push_back({range.begin * node.dimension_, range.end * node.dimension_});
      }
      items_ = node.items_->Read(items);
    }

    const std::vector<ByteRange>& wanted() const override { return items_->wanted(); }
    arrow::Status Supply(std::vector<std::shared_ptr<arrow::Buffer>> buffers) override {
      return items_->Supply(std::move(buffers));
    }
    arrow::Status Append(ArraySlots slots, bool with_validity) override {
      if (with_validity) {
        ARROW_RETURN_NOT_OK(slots.at(node_.level_).AppendValid(Signed(num_slots_)));
      }
      return items_->Append(slots, /*with_validity=*/true);
    }

   private:
    const FixedListNode& node_;
    uint64_t num_slots_;
    ReadPtr items_;
  };

  ReadPtr Read(std::span<const RowRange> slots) const override {
    return std::make_unique<Reading>(*this, slots);
  }
  uint64_t memory_bytes() const override { return 256 + items_->memory_bytes(); }

 private:
  NodePtr items_;
  uint64_t dimension_;
  size_t level_;
};

arrow::Result<NodePtr> OpenFixedList(const wire::FixedSizeListArray& list, const NodePlace& place,
                                     const ArraySource& source) {
  const Location where = source.where();
  if (place.level >= place.shape.dimensions.size()) {
    return Corrupt(where, "a fixed-size list where {} has none", place.type->ToString());
  }
  const uint64_t dimension = place.shape.dimensions[place.level];
  if (list.dimension != dimension) {
    return Corrupt(where, "a fixed-size list of {} items, {} expected", list.dimension, dimension);
  }
  if (list.has_validity) return Unsupported(where, "a fixed-size list with validity of its own");
  if (place.num_slots > UINT64_MAX / 2 / dimension) {
    return Corrupt(where, "{} fixed-size lists of {} items", place.num_slots, dimension);
  }
  NodePlace below = place;
  ++below.level;
  below.num_slots = place.num_slots * dimension;
  ARROW_ASSIGN_OR_RAISE(auto items, OpenNode(*list.items, below, source));
  return std::make_unique<const FixedListNode>(std::move(items), dimension, place.level);
}

// What nulls take once they are decoded, or bits of them: more than that is no column.
arrow::Status CheckNothing(const NodePlace& place, Location where) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 56;
  if (PackedBytes(place.num_slots, std::max<uint64_t>(place.shape.slot_bits(), 64)) <= kMostBytes) {
    return arrow::Status::OK();
  }
  return Corrupt(where, "{} slots of which nothing is stored", place.num_slots);
}

arrow::Result<NodePtr> OpenNullable(const wire::SomeNullsArray& nullable, const NodePlace& place,
                                    const ArraySource& source) {
  ARROW_ASSIGN_OR_RAISE(auto validity,
                        FixedValues::Validate(*nullable.validity, 1, place.num_slots, source));
  ARROW_ASSIGN_OR_RAISE(auto values, OpenNode(*nullable.values, place, source));
  return std::make_unique<const NullableNode>(std::move(validity), std::move(values), place.level);
}

}  // namespace

arrow::Result<NodePtr> OpenNode(const wire::ArrayEncoding& encoding, const NodePlace& place,
                                const ArraySource& source) {
  const Location where = source.where();
  const LeafShape& shape = place.shape;
  if (const auto* nullable = std::get_if<wire::NoNullsArray>(&encoding.kind)) {
    return OpenNode(*nullable->values, place, source);
  }
  if (const auto* nullable = std::get_if<wire::SomeNullsArray>(&encoding.kind)) {
    return OpenNullable(*nullable, place, source);
  }
  if (std::holds_alternative<wire::AllNullsArray>(encoding.kind)) {
    ARROW_RETURN_NOT_OK(CheckNothing(place, where));
    return std::make_unique<const NothingNode>(shape, place.level, true);
  }
  if (std::holds_alternative<wire::StructArray>(encoding.kind)) {
    if (shape.kind != ValueKind::kNull || place.type->id() != arrow::Type::STRUCT) {
      return Corrupt(where, "the header of a struct where {} is", place.type->ToString());
    }
    ARROW_RETURN_NOT_OK(CheckNothing(place, where));
    return std::make_unique<const NothingNode>(shape, place.level, false);
  }
  if (const auto* list = std::get_if<wire::FixedSizeListArray>(&encoding.kind)) {
    return OpenFixedList(*list, place, source);
  }
  if (const auto* dictionary = std::get_if<wire::DictionaryArray>(&encoding.kind)) {
    return OpenDictionary(*dictionary, place, source);
  }
  if (std::holds_alternative<wire::PackedStructArray>(encoding.kind)) {
    return Unsupported(where, "a packed struct in a file of 2.0");
  }
  switch (shape.kind) {
    case ValueKind::kNull: break;
    case ValueKind::kVariable: {
      ARROW_ASSIGN_OR_RAISE(auto values, StringValues::Validate(encoding, place.num_slots, source));
      return std::make_unique<const StringNode>(std::move(values));
    }
    case ValueKind::kBit:
    case ValueKind::kFixed:
      if (place.level != shape.dimensions.size()) break;
      ARROW_ASSIGN_OR_RAISE(
          auto values, FixedValues::Validate(encoding, shape.value_bits, place.num_slots, source));
      return std::make_unique<const FixedNode>(std::move(values), place.level);
  }
  return Corrupt(where, "values of type {} in encoding {}", place.type->ToString(),
                 encoding.kind.index());
}

}  // namespace glaive::encoding
