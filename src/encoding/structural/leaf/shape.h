#pragma once

#include <cstdint>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace glaive::encoding {

enum class ValueKind : uint8_t {
  kNull,      // nothing is stored: the null type, a struct without children
  kBit,       // booleans
  kFixed,     // a whole number of bytes
  kVariable,  // strings and binaries
};

// What one slot of a leaf holds: a value, or as many as its fixed-size lists multiply to.
struct LeafShape {
  ValueKind kind = ValueKind::kNull;
  uint64_t value_bits = 0;           // kBit: 1; kFixed: of one value
  bool large_offsets = false;        // kVariable
  std::vector<uint64_t> dimensions;  // of the fixed-size lists, outermost first
  uint64_t values_per_slot = 1;      // their product

  uint64_t slot_bits() const { return value_bits * values_per_slot; }
};

// Unsupported, naming the type, for what is not a leaf or has no reader.
arrow::Result<LeafShape> ShapeOf(const arrow::DataType& type);

}  // namespace glaive::encoding
