#pragma once

#include <span>

#include "encoding/levels/value_ranges.h"

namespace glaive::encoding {

// Whether long values are worth compressing each for itself, by a sample of them. `longest` is the
// most bytes of a value.
template <typename Offset>
bool PrefersCompression(std::span<const VariableRange<Offset>> ranges, uint64_t longest);

}  // namespace glaive::encoding
