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

}  // namespace glaive
