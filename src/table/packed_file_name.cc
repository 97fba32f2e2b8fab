#include "table/packed_file_name.h"

#include <cstring>

// Loops over fixed numbers of bytes, without branches, which compilers turn into a few instructions
// on vectors.
namespace glaive::table {
namespace {

constexpr size_t kBinaryDigits = 24;
constexpr size_t kHexDigits = 26;
constexpr size_t kBinaryBytes = kBinaryDigits / 8;
constexpr std::string_view kSuffix = ".lance";

// The hexadecimal digits with the last three binary ones before them or so: loops of 32 are
// vectors.
constexpr size_t kLanes = 32;
constexpr size_t kHexBegin = kBinaryDigits + kHexDigits - kLanes;
constexpr size_t kForeign = kLanes - kHexDigits;  // digits of the 32 that are binary ones

uint8_t DigitOf(uint8_t nibble) {
  return static_cast<uint8_t>(nibble + '0' + (nibble > 9 ? 'a' - '0' - 10 : 0));
}

// Eight characters '0' and '1' as one word, the first as its lowest byte, and the byte that they
// are the digits of, the first as its highest bit.
constexpr uint64_t kEachByte = 0x0101010101010101;
constexpr uint64_t kZeros = '0' * kEachByte;

uint64_t LoadWord(const char* digits) {
  uint64_t word = 0;
  std::memcpy(&word, digits, sizeof(word));
  return word;
}

uint8_t BitsOf(uint64_t digits) {
  constexpr uint64_t kGather = 0x8040201008040201;
  return static_cast<uint8_t>((digits & kEachByte) * kGather >> 56);
}

uint64_t BinaryDigitsOf(uint8_t bits) {
  constexpr uint64_t kBitOfEachByte = 0x0102040810204080;
  const uint64_t spread = bits * kEachByte & kBitOfEachByte;
  return kZeros + ((spread + 0x7f * kEachByte) >> 7 & kEachByte);
}

// The hexadecimal digits of four bytes, two of each.
uint64_t HexDigitsOf(uint32_t bytes) {
  uint64_t spread = bytes;
  spread = (spread | spread << 16) & 0x0000ffff0000ffff;
  spread = (spread | spread << 8) & 0x00ff00ff00ff00ff;
  const uint64_t nibbles = (spread >> 4 | spread << 8) & 0x0f * kEachByte;
  const uint64_t letters = (nibbles + 6 * kEachByte) >> 4 & kEachByte;  // 1 for those above 9
  return kZeros + nibbles + letters * ('a' - '0' - 10);
}

}  // namespace

bool PackFileName(std::string_view name, std::span<uint8_t, 16> packed) {
  static_assert(kBinaryDigits + kHexDigits + kSuffix.size() == kFileNameSize);
  if (name.size() != kFileNameSize || !name.ends_with(kSuffix)) return false;
  uint8_t wrong = 0;
  std::array<uint8_t, kLanes> nibbles;
  for (size_t i = 0; i < kLanes; ++i) {
    const auto digit = static_cast<uint8_t>(name[kHexBegin + i]);
    nibbles[i] = static_cast<uint8_t>((digit & 15) + (digit >> 6) * 9);
  }
  for (size_t i = 0; i < kLanes; ++i) {
    const auto nibble = static_cast<uint8_t>(nibbles[i] & 15);
    wrong |= static_cast<uint8_t>(DigitOf(nibble) ^ static_cast<uint8_t>(name[kHexBegin + i]));
  }
  for (size_t i = 0; i < kLanes / 2; ++i) {
    packed[i] = static_cast<uint8_t>(nibbles[2 * i] << 4 | nibbles[2 * i + 1]);
  }
  // The first three of those were of binary digits.
  static_assert(kForeign / 2 == kBinaryBytes);
  uint64_t wrong_bits = wrong;
  for (size_t i = 0; i < kBinaryBytes; ++i) {
    const uint64_t digits = LoadWord(name.data() + 8 * i);
    wrong_bits |= (digits ^ kZeros) & ~kEachByte;
    packed[i] = BitsOf(digits);
  }
  return wrong_bits == 0;
}

void UnpackFileName(std::span<const uint8_t, 16> packed, char* name) {
  for (const size_t begin : {0, 4, 8, 12}) {
    uint32_t bytes = 0;
    std::memcpy(&bytes, packed.data() + begin, sizeof(bytes));
    const uint64_t digits = HexDigitsOf(bytes);
    std::memcpy(name + kHexBegin + 2 * begin, &digits, sizeof(digits));
  }
  for (size_t i = 0; i < kBinaryBytes; ++i) {
    const uint64_t digits = BinaryDigitsOf(packed[i]);
    std::memcpy(name + 8 * i, &digits, sizeof(digits));
  }
  std::memcpy(name + kBinaryDigits + kHexDigits, kSuffix.data(), kSuffix.size());
}

}  // namespace glaive::table
