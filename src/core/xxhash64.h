#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace glaive {

// xxHash, 64 bits wide, seed 0: the hash of the format's Bloom filters.
uint64_t XxHash64(std::span<const std::byte> bytes) noexcept;

}  // namespace glaive
