#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// FastLanes bit-packing of blocks of 1024 values. T is the unpacked word: uint8_t, uint16_t,
// uint32_t or uint64_t; signed and floating columns are passed as unsigned of the same width.
//
// A block of width W is 128 * W bytes, seen as W rows of L = 1024 / (8 * sizeof(T)) words. Column l
// of these rows is lane l: a stream of bits, low bits first, of 8 * sizeof(T) values. Value r of
// lane l is value order[r / 8] * 16 + (r % 8) * 128 + l of the block, order = 0 4 2 6 1 5 3 7.
namespace glaive::encoding {

inline constexpr size_t kBitpackBlock = 1024;

// Bytes of a packed block of any T.
constexpr size_t PackedBlockBytes(unsigned width) { return 128 * size_t{width}; }

// The width that all values fit into: the bit length of their OR.
template <typename T>
unsigned PackedWidth(std::span<const T> values) noexcept;

// `in`: 1024 values; `out`: width * 1024 / (8 * sizeof(T)) words. Bits above `width` are dropped.
// REQUIRES: width <= 8 * sizeof(T)
template <typename T>
void PackBlock(const T* in, unsigned width, T* out) noexcept;

// The same into bytes that need not be aligned.
template <typename T>
void PackBlock(const T* in, unsigned width, std::byte* out) noexcept;

// The inverse; `packed` need not be aligned.
template <typename T>
void UnpackBlock(const std::byte* packed, unsigned width, T* out) noexcept;

// An inline payload is one word of T with the width, then one packed block of at most 1024 values,
// padded with zeros.
template <typename T>
constexpr size_t InlineBitpackedBytes(unsigned width) {
  return sizeof(T) + PackedBlockBytes(width);
}

// REQUIRES: values.size() <= 1024, width is PackedWidth(values), room for InlineBitpackedBytes
template <typename T>
void EncodeInlineBitpacked(std::span<const T> values, unsigned width, std::byte* out) noexcept;

// An out-of-line payload has its width in the description: full blocks, then the remaining values
// either as a padded block or as they are, whichever is smaller.
template <typename T>
size_t OutOfLineBitpackedBytes(size_t num_values, unsigned width) noexcept;

// REQUIRES: all values fit into width < 8 * sizeof(T), room for OutOfLineBitpackedBytes
template <typename T>
void EncodeOutOfLineBitpacked(std::span<const T> values, unsigned width, std::byte* out) noexcept;

}  // namespace glaive::encoding
