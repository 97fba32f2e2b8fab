#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "encoding/levels/value_ranges.h"

namespace glaive::encoding {

// Values of a page as indices into the distinct ones, in order of their first appearance. The items
// are borrowed from the ranges.
struct DictionaryValues {
  std::vector<std::string_view> items;
  std::vector<uint32_t> indices;  // one per visible slot; 0 for nulls
};

// Nothing where a dictionary would not pay, which for distinct values a sample of them tells.
std::optional<DictionaryValues> BuildDictionary(std::span<const FixedRange> ranges,
                                                uint64_t num_values, size_t value_bytes);
template <typename Offset>
std::optional<DictionaryValues> BuildDictionary(std::span<const VariableRange<Offset>> ranges,
                                                uint64_t num_values);

}  // namespace glaive::encoding
