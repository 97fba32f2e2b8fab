#pragma once

#include <array>
#include <cstdint>
#include <span>

// Properties of characters, in ascending order of these.
namespace glaive::query {

struct CharacterRange {
  char32_t first;
  char32_t last;
};

// Each `step`-th character of a range, and how far its other case is from it.
struct CaseRange {
  char32_t first;
  char32_t last;
  char32_t step;
  int32_t distance;
};

struct UpperText {
  char32_t character;
  std::array<char32_t, 3> text;  // 0 behind its end
};

std::span<const CaseRange> UpperRanges();
std::span<const CaseRange> LowerRanges();
// What is more than one character in upper case; these have no range.
std::span<const UpperText> UpperTexts();
std::span<const CharacterRange> CasedRanges();
// Those that may stand between a letter and the end of its word.
std::span<const CharacterRange> CaseIgnorableRanges();
std::span<const CharacterRange> AlphanumericRanges();

}  // namespace glaive::query
