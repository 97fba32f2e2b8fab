#include "encoding/codec/bitpacking.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "encoding/codec/lanes.h"

namespace glaive::encoding {
namespace {

constexpr size_t kRowBytes = 128;  // one word of every lane
constexpr size_t kRowVectors = kRowBytes / kVectorBytes;

template <typename T>
constexpr unsigned kBits = 8 * sizeof(T);

// A row of packed words is kRowVectors vectors, each with a stream of its own, so a row is packed
// or unpacked by a handful of shifts that do not wait for each other. Byte offset of value row `r`
// (lane 0) in the unpacked block.
template <typename T>
constexpr size_t RowOffset(unsigned r) {
  constexpr unsigned kOrder[8] = {0, 4, 2, 6, 1, 5, 3, 7};
  return (kOrder[r / 8] * 16 + (r % 8) * 128) * sizeof(T);
}

template <typename T>
GLAIVE_INLINE void Pack(const std::byte* in, unsigned width, std::byte* out) {
  using Vector = typename Lanes<T>::type;
  const T mask = static_cast<T>(width == kBits<T> ? ~T{0} : static_cast<T>((T{1} << width) - 1));
  Vector words[kRowVectors] = {};
  unsigned shift = 0;
  for (unsigned r = 0; r < kBits<T>; ++r) {
    const auto* row = reinterpret_cast<const Vector*>(in + RowOffset<T>(r));
    const unsigned next = shift + width;
    if (next < kBits<T>) {
#pragma GCC unroll 4
      for (size_t v = 0; v < kRowVectors; ++v) words[v] |= (row[v] & mask) << static_cast<T>(shift);
      shift = next;
      continue;
    }
    auto* packed = reinterpret_cast<Vector*>(out);
    out += kRowBytes;
    shift = next - kBits<T>;  // bits of this value that start the next word
#pragma GCC unroll 4
    for (size_t v = 0; v < kRowVectors; ++v) {
      const Vector value = row[v] & mask;
      packed[v] = words[v] | value << static_cast<T>(kBits<T> - (width - shift));
      words[v] = shift == 0 ? Vector{} : value >> static_cast<T>(width - shift);
    }
  }
}

template <typename T>
GLAIVE_INLINE void Unpack(const std::byte* packed, unsigned width, std::byte* out) {
  using Vector = typename Lanes<T>::type;
  const T mask = static_cast<T>(width == kBits<T> ? ~T{0} : static_cast<T>((T{1} << width) - 1));
  Vector words[kRowVectors];
  std::memcpy(words, packed, kRowBytes);
  unsigned shift = 0;
  for (unsigned r = 0; r < kBits<T>; ++r) {
    auto* row = reinterpret_cast<Vector*>(out + RowOffset<T>(r));
    const unsigned next = shift + width;
    if (next < kBits<T>) {
#pragma GCC unroll 4
      for (size_t v = 0; v < kRowVectors; ++v) row[v] = (words[v] >> static_cast<T>(shift)) & mask;
      shift = next;
      continue;
    }
#pragma GCC unroll 4
    for (size_t v = 0; v < kRowVectors; ++v) row[v] = words[v] >> static_cast<T>(shift);
    const unsigned low_bits = kBits<T> - shift;
    shift = next - kBits<T>;
    packed += kRowBytes;
    if (r + 1 == kBits<T>) break;
    std::memcpy(words, packed, kRowBytes);
    if (shift == 0) continue;
#pragma GCC unroll 4
    for (size_t v = 0; v < kRowVectors; ++v) {
      row[v] = (row[v] | words[v] << static_cast<T>(low_bits)) & mask;
    }
  }
}

template <typename T>
GLAIVE_INLINE T OrOf(const T* values, size_t count) {
  using Vector = typename Lanes<T>::type;
  constexpr size_t kPerRow = kRowBytes / sizeof(T);
  Vector bits[kRowVectors] = {};
  size_t i = 0;
  for (; i + kPerRow <= count; i += kPerRow) {
    const auto* row = reinterpret_cast<const Vector*>(values + i);
#pragma GCC unroll 4
    for (size_t v = 0; v < kRowVectors; ++v) bits[v] |= row[v];
  }
  T lanes[kPerRow];
  std::memcpy(lanes, bits, kRowBytes);
  T all = 0;
  for (const T lane : lanes) all = static_cast<T>(all | lane);
  for (; i < count; ++i) all = static_cast<T>(all | values[i]);
  return all;
}

#define GLAIVE_KERNELS(T)                                                                    \
  GLAIVE_CLONES void Pack_##T(const std::byte* in, unsigned width, std::byte* out) {         \
    Pack<T>(in, width, out);                                                                 \
  }                                                                                          \
  GLAIVE_CLONES void Unpack_##T(const std::byte* in, unsigned width, std::byte* out) {       \
    Unpack<T>(in, width, out);                                                               \
  }                                                                                          \
  GLAIVE_CLONES T OrOf_##T(const T* values, size_t count) { return OrOf<T>(values, count); } \
  [[maybe_unused]] auto PackKernel(T) { return &Pack_##T; }                                  \
  [[maybe_unused]] auto UnpackKernel(T) { return &Unpack_##T; }                              \
  [[maybe_unused]] auto OrKernel(T) { return &OrOf_##T; }
GLAIVE_KERNELS(uint8_t)
GLAIVE_KERNELS(uint16_t)
GLAIVE_KERNELS(uint32_t)
GLAIVE_KERNELS(uint64_t)
#undef GLAIVE_KERNELS

template <typename T>
void PackPadded(std::span<const T> values, unsigned width, std::byte* out) {
  T padded[kBitpackBlock];
  std::copy(values.begin(), values.end(), padded);
  std::fill(padded + values.size(), padded + kBitpackBlock, T{0});
  PackBlock<T>(padded, width, out);
}

// Whether the values behind the last full block are smaller as a block of their own.
template <typename T>
bool PacksTail(size_t tail, unsigned width) {
  return width * (kBitpackBlock - tail) < (kBits<T> - width) * tail;
}

}  // namespace

template <typename T>
unsigned PackedWidth(std::span<const T> values) noexcept {
  return static_cast<unsigned>(std::bit_width(OrKernel(T{})(values.data(), values.size())));
}

template <typename T>
void PackBlock(const T* in, unsigned width, std::byte* out) noexcept {
  assert(width <= kBits<T>);
  if (width == 0) return;
  PackKernel(T{})(reinterpret_cast<const std::byte*>(in), width, out);
}

template <typename T>
void PackBlock(const T* in, unsigned width, T* out) noexcept {
  PackBlock<T>(in, width, reinterpret_cast<std::byte*>(out));
}

template <typename T>
void UnpackBlock(const std::byte* packed, unsigned width, T* out) noexcept {
  assert(width <= kBits<T>);
  if (width == 0) {
    std::fill_n(out, kBitpackBlock, T{0});
    return;
  }
  UnpackKernel(T{})(packed, width, reinterpret_cast<std::byte*>(out));
}

template <typename T>
void EncodeInlineBitpacked(std::span<const T> values, unsigned width, std::byte* out) noexcept {
  const T header = static_cast<T>(width);
  std::memcpy(out, &header, sizeof(T));
  if (values.size() == kBitpackBlock) {
    PackBlock<T>(values.data(), width, out + sizeof(T));
  } else {
    PackPadded<T>(values, width, out + sizeof(T));
  }
}

template <typename T>
size_t OutOfLineBitpackedBytes(size_t num_values, unsigned width) noexcept {
  const size_t tail = num_values % kBitpackBlock;
  const size_t full = num_values / kBitpackBlock * PackedBlockBytes(width);
  return full + (PacksTail<T>(tail, width) ? PackedBlockBytes(width) : tail * sizeof(T));
}

template <typename T>
void EncodeOutOfLineBitpacked(std::span<const T> values, unsigned width, std::byte* out) noexcept {
  for (; values.size() >= kBitpackBlock; values = values.subspan(kBitpackBlock)) {
    PackBlock<T>(values.data(), width, out);
    out += PackedBlockBytes(width);
  }
  if (PacksTail<T>(values.size(), width)) {
    PackPadded<T>(values, width, out);
  } else if (!values.empty()) {
    std::memcpy(out, values.data(), values.size_bytes());
  }
}

#define GLAIVE_INSTANTIATE(T)                                                                \
  template unsigned PackedWidth<T>(std::span<const T>) noexcept;                             \
  template void PackBlock<T>(const T*, unsigned, T*) noexcept;                               \
  template void PackBlock<T>(const T*, unsigned, std::byte*) noexcept;                       \
  template void UnpackBlock<T>(const std::byte*, unsigned, T*) noexcept;                     \
  template void EncodeInlineBitpacked<T>(std::span<const T>, unsigned, std::byte*) noexcept; \
  template size_t OutOfLineBitpackedBytes<T>(size_t, unsigned) noexcept;                     \
  template void EncodeOutOfLineBitpacked<T>(std::span<const T>, unsigned, std::byte*) noexcept;
GLAIVE_INSTANTIATE(uint8_t)
GLAIVE_INSTANTIATE(uint16_t)
GLAIVE_INSTANTIATE(uint32_t)
GLAIVE_INSTANTIATE(uint64_t)
#undef GLAIVE_INSTANTIATE

}  // namespace glaive::encoding
