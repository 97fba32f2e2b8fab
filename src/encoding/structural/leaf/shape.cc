#include "encoding/structural/leaf/shape.h"

#include <arrow/type.h>
#include <arrow/util/checked_cast.h>

#include "core/error.h"

namespace glaive::encoding {
namespace {

// No slot of a real column comes near; it keeps every product of widths and counts within 64 bits.
constexpr uint64_t kMaxSlotBits = uint64_t{1} << 34;
constexpr size_t kMaxDimensions = 8;

arrow::Status AddDimension(const arrow::FixedSizeListType& list, LeafShape& shape) {
  const auto dimension = static_cast<uint64_t>(list.list_size());
  if (shape.dimensions.size() == kMaxDimensions) {
    return Unsupported("{} nests more than {} fixed-size lists", list.ToString(), kMaxDimensions);
  }
  if (dimension == 0) return Unsupported("{} of no items", list.ToString());
  shape.dimensions.insert(shape.dimensions.begin(), dimension);
  shape.values_per_slot *= dimension;
  if (shape.values_per_slot > kMaxSlotBits || shape.slot_bits() > kMaxSlotBits) {
    return Unsupported("{} is wider than the {} bits of a slot", list.ToString(), kMaxSlotBits);
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<LeafShape> ShapeOf(const arrow::DataType& type) {
  using arrow::Type;
  switch (type.id()) {
    case Type::NA: return LeafShape{};
    case Type::STRUCT:
      if (type.num_fields() == 0) return LeafShape{};
      break;
    case Type::BOOL: return LeafShape{.kind = ValueKind::kBit, .value_bits = 1};
    case Type::STRING:
    case Type::BINARY: return LeafShape{.kind = ValueKind::kVariable};
    case Type::LARGE_STRING:
    case Type::LARGE_BINARY: return LeafShape{.kind = ValueKind::kVariable, .large_offsets = true};
    case Type::FIXED_SIZE_LIST: {
      const auto& list = arrow::internal::checked_cast<const arrow::FixedSizeListType&>(type);
      ARROW_ASSIGN_OR_RAISE(LeafShape shape, ShapeOf(*list.value_type()));
      if (shape.kind != ValueKind::kBit && shape.kind != ValueKind::kFixed) break;
      ARROW_RETURN_NOT_OK(AddDimension(list, shape));
      return shape;
    }
    case Type::INT8:
    case Type::INT16:
    case Type::INT32:
    case Type::INT64:
    case Type::UINT8:
    case Type::UINT16:
    case Type::UINT32:
    case Type::UINT64:
    case Type::HALF_FLOAT:
    case Type::FLOAT:
    case Type::DOUBLE:
    case Type::DATE32:
    case Type::DATE64:
    case Type::TIME32:
    case Type::TIME64:
    case Type::TIMESTAMP:
    case Type::DURATION:
    case Type::DECIMAL128:
    case Type::DECIMAL256:
    case Type::FIXED_SIZE_BINARY: {
      const int bits = type.bit_width();
      if (bits <= 0) break;
      return LeafShape{.kind = ValueKind::kFixed, .value_bits = static_cast<uint64_t>(bits)};
    }
    default: break;
  }
  return Unsupported("columns of type {} in files of 2.1 and later", type.ToString());
}

}  // namespace glaive::encoding
