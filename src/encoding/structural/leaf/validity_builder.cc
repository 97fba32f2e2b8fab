#include "encoding/structural/leaf/validity_builder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <arrow/util/bit_util.h>

namespace glaive::encoding {
namespace {

constexpr int64_t kWordBits = 64;
constexpr int64_t kSpareBytes = 16;  // WriteWord stores more than it needs

uint64_t LowBits(int64_t count) {
  return count == kWordBits ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

// Bytes that are 0 or 1 to the bits of one byte, the first one lowest.
uint64_t PackBytes(const uint8_t* bytes) {
  uint64_t eight;
  std::memcpy(&eight, bytes, sizeof(eight));
  return (eight * 0x0102040810204080u) >> 56;
}

uint64_t PackWord(const uint8_t* bytes) {
  uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word |= PackBytes(bytes + 8 * i) << (8 * i);
  return word;
}

// Bit i is whether levels[i] <= max, for 64 levels.
uint64_t AtMost(const uint16_t* levels, uint16_t max) {
  uint8_t bytes[kWordBits];
  for (int i = 0; i < kWordBits; ++i) bytes[i] = levels[i] <= max ? 1 : 0;
  return PackWord(bytes);
}

}  // namespace

arrow::Status ValidityBuilder::Materialise(int64_t num_slots) {
  const int64_t bytes = arrow::bit_util::BytesForBits(length_ + num_slots) + kSpareBytes;
  ARROW_RETURN_NOT_OK(bits_.Reserve(bytes - bits_.length()));
  if (materialised_) return arrow::Status::OK();
  materialised_ = true;
  const int64_t whole = length_ / 8;
  bits_.UnsafeAppend(whole, 0xff);
  if (length_ % 8 != 0) bits_.UnsafeAppend(1, static_cast<uint8_t>(LowBits(length_ % 8)));
  return arrow::Status::OK();
}

void ValidityBuilder::WriteWord(uint64_t bits, int num_slots) {
  uint8_t* to = bits_.mutable_data() + length_ / 8;
  const int shift = static_cast<int>(length_ % 8);
  const uint64_t head = shift == 0 ? 0 : *to & LowBits(shift);
  const uint64_t low = head | bits << shift;
  std::memcpy(to, &low, sizeof(low));
  to[8] = static_cast<uint8_t>(shift == 0 ? 0 : bits >> (kWordBits - shift));
  length_ += num_slots;
  bits_.UnsafeAdvance(arrow::bit_util::BytesForBits(length_) - bits_.length());
}

arrow::Status ValidityBuilder::AppendWord(uint64_t bits, int num_slots) {
  bits &= LowBits(num_slots);
  const int num_nulls = num_slots - std::popcount(bits);
  if (!materialised_ && num_nulls == 0) {
    length_ += num_slots;
    return arrow::Status::OK();
  }
  ARROW_RETURN_NOT_OK(Materialise(num_slots));
  WriteWord(bits, num_slots);
  null_count_ += num_nulls;
  return arrow::Status::OK();
}

arrow::Status ValidityBuilder::AppendValid(int64_t num_slots) {
  if (!materialised_) {
    length_ += num_slots;
    return arrow::Status::OK();
  }
  ARROW_RETURN_NOT_OK(Materialise(num_slots));
  for (int64_t left = num_slots; left > 0; left -= kWordBits) {
    WriteWord(LowBits(std::min(left, kWordBits)), static_cast<int>(std::min(left, kWordBits)));
  }
  return arrow::Status::OK();
}

arrow::Status ValidityBuilder::AppendNull(int64_t num_slots) {
  ARROW_RETURN_NOT_OK(Materialise(num_slots));
  for (int64_t left = num_slots; left > 0; left -= kWordBits) {
    WriteWord(0, static_cast<int>(std::min(left, kWordBits)));
  }
  null_count_ += num_slots;
  return arrow::Status::OK();
}

arrow::Status ValidityBuilder::AppendBits(const uint8_t* bitmap, int64_t offset,
                                          int64_t num_slots) {
  for (int64_t at = offset, end = offset + num_slots; at < end;) {
    // Up to 64 bits that lie in whole bytes from the first one on.
    const int64_t count = std::min(kWordBits - at % 8, end - at);
    uint64_t word = 0;
    std::memcpy(&word, bitmap + at / 8,
                static_cast<size_t>(arrow::bit_util::BytesForBits(at % 8 + count)));
    ARROW_RETURN_NOT_OK(AppendWord(word >> (at % 8), static_cast<int>(count)));
    at += count;
  }
  return arrow::Status::OK();
}

arrow::Status ValidityBuilder::AppendBytes(std::span<const uint8_t> bytes) {
  size_t i = 0;
  for (; i + kWordBits <= bytes.size(); i += kWordBits) {
    ARROW_RETURN_NOT_OK(AppendWord(PackWord(bytes.data() + i), kWordBits));
  }
  uint8_t rest[kWordBits] = {};
  std::copy(bytes.begin() + static_cast<ptrdiff_t>(i), bytes.end(), rest);
  return AppendWord(PackWord(rest), static_cast<int>(bytes.size() - i));
}

arrow::Status ValidityBuilder::AppendLevels(std::span<const uint16_t> levels, uint16_t valid_max) {
  size_t i = 0;
  for (; i + kWordBits <= levels.size(); i += kWordBits) {
    ARROW_RETURN_NOT_OK(AppendWord(AtMost(levels.data() + i, valid_max), kWordBits));
  }
  if (i == levels.size()) return arrow::Status::OK();
  uint64_t word = 0;
  const size_t rest = levels.size() - i;
  for (size_t j = 0; j < rest; ++j) word |= uint64_t{levels[i + j] <= valid_max} << j;
  return AppendWord(word, static_cast<int>(rest));
}

arrow::Status ValidityBuilder::AppendVisibleLevels(std::span<const uint16_t> levels,
                                                   uint16_t valid_max, uint16_t slot_max) {
  uint64_t word = 0;
  int count = 0;
  for (const uint16_t level : levels) {
    word |= uint64_t{level <= valid_max} << count;
    count += level <= slot_max ? 1 : 0;
    if (count == kWordBits) {
      ARROW_RETURN_NOT_OK(AppendWord(word, count));
      word = 0;
      count = 0;
    }
  }
  return AppendWord(word, count);
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ValidityBuilder::Finish() {
  std::shared_ptr<arrow::Buffer> bitmap;
  if (null_count_ > 0) {
    ARROW_ASSIGN_OR_RAISE(bitmap, bits_.Finish(/*shrink_to_fit=*/false));
  }
  bits_.Reset();
  materialised_ = false;
  length_ = 0;
  null_count_ = 0;
  return bitmap;
}

}  // namespace glaive::encoding
