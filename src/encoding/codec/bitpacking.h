#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

// FastLanes bit-packing of blocks of 1024 values: format/fastlanes-fsst.md sections 1 to 3.
// T is the unpacked word: uint8_t, uint16_t, uint32_t or uint64_t.
namespace glaive::encoding {

inline constexpr size_t kBitpackBlock = 1024;

// Bytes of a packed block of any T.
constexpr size_t PackedBlockBytes(unsigned width) { return 128 * width; }

// The width that all values fit into: the bit length of their OR.
template <typename T>
unsigned PackedWidth(std::span<const T> values) noexcept;

// `in`: 1024 values; `out`: width * 1024 / (8 * sizeof(T)) words. Bits above `width` are dropped.
// REQUIRES: width <= 8 * sizeof(T)
template <typename T>
void PackBlock(const T* in, unsigned width, T* out) noexcept;

// The inverse; `packed` need not be aligned.
template <typename T>
void UnpackBlock(const std::byte* packed, unsigned width, T* out) noexcept;

}  // namespace glaive::encoding
