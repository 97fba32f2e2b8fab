#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace glaive {

// Random bytes of the system, all in one call. Names are made of them, which no process repeats:
// not a forked child either. (std::random_device asks the processor word by word, which took a
// third of the time of writing a small file.)
void FillRandom(std::span<std::byte> bytes);

uint64_t Random64();

// Below `bound`, which is not 0. Nearly even, which is enough to get out of each other's way.
inline uint32_t RandomBelow(uint32_t bound) { return static_cast<uint32_t>(Random64() % bound); }

// What fills instead of the system, where tests that replay a run set one. For the whole process.
using RandomSource = void (*)(std::span<std::byte> bytes);
void SetRandomSource(RandomSource source);

}  // namespace glaive
