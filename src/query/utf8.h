#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace glaive::query {

// Bytes of the first character; what is no UTF-8 is a character of one byte. REQUIRES: not empty.
inline size_t CharacterSize(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  const size_t size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return std::min(size, text.size());
}

// Where the character with that number (from 0) begins, or the end.
inline size_t CharacterOffset(std::string_view text, size_t index) noexcept {
  size_t offset = 0;
  for (; index > 0 && offset < text.size(); --index) offset += CharacterSize(text.substr(offset));
  return offset;
}

inline size_t CountCharacters(std::string_view text) noexcept {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace glaive::query
