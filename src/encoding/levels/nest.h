#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_reader.h>

#include "encoding/levels/leaf.h"

namespace glaive::encoding {

// A validity bitmap seen from the slots of another layer: slot s is valid iff bit s + shift is set.
struct SlotMask {
  const uint8_t* bits = nullptr;
  int64_t shift = 0;
  size_t layer = 0;  // whose validity it is, in the path
};

// One layer of a field as it lies in one Arrow array. A slot is an index into the array's buffers,
// the array's offset included.
struct NestLayer {
  LayerKind kind = LayerKind::kItem;
  bool large_offsets = false;
  const uint8_t* validity = nullptr;   // null: all valid
  const std::byte* offsets = nullptr;  // lists
  int64_t child_base = 0;              // slot of the next layer's first child

  int64_t offset(int64_t slot) const {
    return large_offsets ? reinterpret_cast<const int64_t*>(offsets)[slot]
                         : reinterpret_cast<const int32_t*>(offsets)[slot];
  }
};

// Item layers with one slot for each other: a list's items or the rows, the structs that they are,
// and what is in these up to the next list, or the leaf. A null in any of them masks what is below.
struct NestGroup {
  std::vector<SlotMask> masks;  // by slots of the group's first layer, outermost first
  size_t list = SIZE_MAX;       // the layer of the list that ends the group, but for the last
  int64_t list_shift = 0;       // from a slot of the group's first layer to one of the list
};

// Rows of one array of a field, resolved along a path: begin to begin + num_rows are slots of the
// first layer. Borrows the array.
struct Nest {
  std::vector<NestLayer> layers;
  std::vector<NestGroup> groups;  // one more than there are lists
  const arrow::ArrayData* leaf = nullptr;
  int64_t leaf_shift = 0;                      // from a slot of the last group to one of the leaf
  std::shared_ptr<arrow::Buffer> no_validity;  // the bitmap of a leaf that has nothing but nulls
  int64_t begin = 0;
  int64_t num_rows = 0;
};

arrow::Result<Nest> ResolveNest(const arrow::ArrayData& array, const LeafPath& path);

// The leaf slots [first, second) that rows reach, hidden ones included: never fewer than are
// stored.
std::pair<int64_t, int64_t> LeafSpan(const Nest& nest, int64_t row, int64_t num_rows);

// Calls `visit(i)` for every unset bit, i counting from `begin`.
template <typename Visit>
void VisitNulls(const uint8_t* bits, int64_t begin, int64_t length, Visit&& visit) {
  if (length < 64) {
    for (int64_t i = 0; i < length; ++i) {
      if (!arrow::bit_util::GetBit(bits, begin + i)) visit(i);
    }
    return;
  }
  arrow::internal::BitmapWordReader<uint64_t> reader(bits, begin, length);
  int64_t at = 0;
  for (auto words = reader.words(); words > 0; --words, at += 64) {
    for (uint64_t nulls = ~reader.NextWord(); nulls != 0; nulls &= nulls - 1) {
      visit(at + std::countr_zero(nulls));
    }
  }
  for (auto bytes = reader.trailing_bytes(); bytes > 0; --bytes) {
    int valid_bits = 0;
    const uint8_t byte = reader.NextTrailingByte(valid_bits);
    for (int bit = 0; bit < valid_bits; ++bit) {
      if ((byte >> bit & 1) == 0) visit(at + bit);
    }
    at += valid_bits;
  }
}

}  // namespace glaive::encoding
