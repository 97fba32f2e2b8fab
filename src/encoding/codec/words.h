#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace glaive::encoding {

using Bytes = std::span<const std::byte>;

// Leaves what a vector grows by as it is: memory that is only promised is never touched.
template <typename T>
struct Uninitialized : std::allocator<T> {
  template <typename U>
  struct rebind {
    using other = Uninitialized<U>;
  };
  template <typename U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
};

// Room for bytes that are decoded, kept for the next.
using ScratchBytes = std::vector<std::byte, Uninitialized<std::byte>>;

constexpr bool IsWordWidth(uint64_t bits) {
  return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

// Calls `visit(tag)` with the unsigned integer of that many bits. REQUIRES: IsWordWidth(bits)
template <typename Visit>
auto WithWord(uint64_t bits, Visit&& visit) {
  switch (bits) {
    case 8: return visit(uint8_t{});
    case 16: return visit(uint16_t{});
    case 32: return visit(uint32_t{});
    default: return visit(uint64_t{});
  }
}

// Bytes that `num_values` values of some bits take, or the most there are if that overflows: what
// is compared with a size that is there before anything is allocated.
constexpr uint64_t PackedBytes(uint64_t num_values, uint64_t bits) {
  if (bits == 0) return 0;
  if (num_values > (UINT64_MAX - 7) / bits) return UINT64_MAX;
  return (num_values * bits + 7) / 8;
}

}  // namespace glaive::encoding
