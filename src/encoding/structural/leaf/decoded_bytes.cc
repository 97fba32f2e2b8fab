#include "encoding/structural/leaf/decoded_bytes.h"

#include <algorithm>

#include "encoding/codec/words.h"

namespace glaive::encoding {

uint64_t DecodedBytes(const DecodedPage& page, const LeafShape& shape, uint64_t num_lists) {
  // Sums of a hostile page stay in range: nothing is as large as that.
  constexpr uint64_t kMost = uint64_t{1} << 60;
  constexpr uint64_t kListOffset = sizeof(int32_t);
  const auto sum = [&](uint64_t a, uint64_t b) { return std::min(a, kMost) + std::min(b, kMost); };
  const uint64_t lists = std::min(page.num_rows, kMost / kListOffset) * kListOffset * num_lists;
  switch (shape.kind) {
    case ValueKind::kNull: return lists;
    case ValueKind::kBit:
    case ValueKind::kFixed: return sum(lists, PackedBytes(page.num_slots, shape.slot_bits()));
    case ValueKind::kVariable: break;
  }
  const uint64_t offset_bits = shape.large_offsets ? 64 : 32;
  return sum(lists, sum(PackedBytes(page.num_slots, offset_bits), page.text_bytes));
}

}  // namespace glaive::encoding
