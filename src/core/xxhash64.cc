#include "core/xxhash64.h"

#include <array>
#include <bit>

#include "core/byte_reader.h"

namespace glaive {
namespace {

constexpr uint64_t kPrime1 = 0x9e3779b185ebca87;
constexpr uint64_t kPrime2 = 0xc2b2ae3d27d4eb4f;
constexpr uint64_t kPrime3 = 0x165667b19e3779f9;
constexpr uint64_t kPrime4 = 0x85ebca77c2b2ae63;
constexpr uint64_t kPrime5 = 0x27d4eb2f165667c5;

uint64_t Round(uint64_t lane, uint64_t word) noexcept {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

// Stripes of 32 bytes go through four lanes, which are then one number.
uint64_t HashStripes(const std::byte*& next, size_t num_stripes) noexcept {
  std::array<uint64_t, 4> lanes = {kPrime1 + kPrime2, kPrime2, 0, uint64_t{0} - kPrime1};
  for (size_t i = 0; i < num_stripes; ++i) {
    for (uint64_t& lane : lanes) {
      lane = Round(lane, LoadLittleEndian<uint64_t>(next));
      next += sizeof(uint64_t);
    }
  }
  uint64_t hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
                  std::rotl(lanes[3], 18);
  for (const uint64_t lane : lanes) hash = (hash ^ Round(0, lane)) * kPrime1 + kPrime4;
  return hash;
}

uint64_t Avalanche(uint64_t hash) noexcept {
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

}  // namespace

uint64_t XxHash64(std::span<const std::byte> bytes) noexcept {
  const std::byte* next = bytes.data();
  const std::byte* const end = next + bytes.size();
  uint64_t hash = bytes.size() >= 32 ? HashStripes(next, bytes.size() / 32) : kPrime5;
  hash += bytes.size();
  for (; end - next >= 8; next += 8) {
    hash = std::rotl(hash ^ Round(0, LoadLittleEndian<uint64_t>(next)), 27) * kPrime1 + kPrime4;
  }
  for (; end - next >= 4; next += 4) {
    hash = std::rotl(hash ^ LoadLittleEndian<uint32_t>(next) * kPrime1, 23) * kPrime2 + kPrime3;
  }
  for (; next != end; ++next) {
    hash = std::rotl(hash ^ std::to_integer<uint64_t>(*next) * kPrime5, 11) * kPrime1;
  }
  return Avalanche(hash);
}

}  // namespace glaive
