#include "encoding/structural/sparse/spread.h"

#include <span>

namespace glaive::encoding {

arrow::Status ValueSpread::Append(RowRange range) {
  const uint64_t count = range.size();
  if (count == 0) return arrow::Status::OK();
  const LeafShape& shape = leaf_.shape();
  const arrow::ArrayData* array = &values_;
  uint64_t items = 1;  // of a slot, at each level
  for (size_t level = 0; level < shape.dimensions.size(); ++level) {
    array = array->child_data[0].get();
    items *= shape.dimensions[level];
    const auto& validity = array->buffers[0];
    ARROW_RETURN_NOT_OK(validity == nullptr
                            ? leaf_.AppendItemsValid(level, count)
                            : leaf_.items(level).AppendBits(
                                  validity->data(), static_cast<int64_t>(range.begin * items),
                                  static_cast<int64_t>(count * items)));
  }
  const auto bytes_of = [&](size_t buffer) {
    return reinterpret_cast<const std::byte*>(array->buffers[buffer]->data());
  };
  switch (shape.kind) {
    case ValueKind::kNull: return leaf_.AppendPlaceholders(count);
    case ValueKind::kBit: return leaf_.AppendBits(bytes_of(1), range.begin * items, count);
    case ValueKind::kFixed:
      return leaf_.AppendFixed(bytes_of(1) + range.begin * (shape.slot_bits() / 8), count);
    case ValueKind::kVariable: {
      const VariablePayload strings{
          .offsets = bytes_of(1),
          .origin = bytes_of(2),
          .num_values = static_cast<uint64_t>(values_.length),
          .wide = shape.large_offsets,
      };
      return leaf_.AppendStrings(strings, {range.begin, range.end});
    }
  }
  return arrow::Status::OK();
}

arrow::Status AppendNothing(uint64_t num_slots, LeafValues& leaf) {
  // Offsets and validity of slots without bytes are no less to hold.
  ARROW_RETURN_NOT_OK(leaf.CheckRoom(num_slots));
  for (size_t level = 0; level < leaf.shape().dimensions.size(); ++level) {
    ARROW_RETURN_NOT_OK(leaf.AppendItemsValid(level, num_slots));
  }
  return leaf.AppendPlaceholders(num_slots);
}

arrow::Status AppendScalar(const std::string& scalar, uint64_t num_slots, LeafValues& leaf) {
  return leaf.AppendRepeated(std::as_bytes(std::span(scalar)).data(), num_slots);
}

}  // namespace glaive::encoding
