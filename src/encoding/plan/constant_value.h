#pragma once

#include <optional>
#include <span>
#include <string>

#include "encoding/levels/value_ranges.h"

namespace glaive::encoding {

// The value that every visible slot has which is not null; nothing if there are several, or none.
std::optional<std::string> FindConstant(std::span<const FixedRange> ranges, size_t value_bytes);
template <typename Offset>
std::optional<std::string> FindConstant(std::span<const VariableRange<Offset>> ranges);
// One byte, 0 or 1.
std::optional<std::string> FindConstantBoolean(const LevelSurvey& survey);

}  // namespace glaive::encoding
