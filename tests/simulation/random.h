#pragma once

#include <cstdint>

namespace glaive::simulation {

// SplitMix64: small, and the same everywhere. Streams of different seeds have nothing in common.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  // A stream of its own for a part of the run, so that one part does not disturb another.
  Random(uint64_t seed, uint64_t part) : state_(seed * 0x9e3779b97f4a7c15u ^ (part + 1)) { Next(); }

  uint64_t Next() {
    uint64_t value = state_ += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
  }

  // Below `bound`, which is not 0.
  uint32_t Below(uint64_t bound) { return static_cast<uint32_t>(Next() % bound); }

  // True in `per_mille` of thousand cases.
  bool Chance(uint32_t per_mille) { return Below(1000) < per_mille; }

 private:
  uint64_t state_;
};

}  // namespace glaive::simulation
