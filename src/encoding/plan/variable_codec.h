#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "encoding/levels/value_ranges.h"
#include "wire/encodings_v2_1.h"

namespace glaive::encoding {

// How long values are to be compressed, each for itself, if a sample of them says that it is worth
// it. `longest` is the most bytes of a value.
template <typename Offset>
std::optional<wire::CompressionScheme> ChooseCompression(
    std::span<const VariableRange<Offset>> ranges, uint64_t longest);

// Whether a value is empty or null: lz4 is not for such.
template <typename Offset>
bool HasEmptyValues(std::span<const VariableRange<Offset>> ranges);

}  // namespace glaive::encoding
