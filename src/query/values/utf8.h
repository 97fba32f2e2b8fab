#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
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

constexpr char32_t kNoCharacter = 0xFFFFFFFF;

// The character that these bytes are, or kNoCharacter. REQUIRES: as many as CharacterSize() says.
inline char32_t DecodeCharacter(std::string_view bytes) noexcept {
  const auto lead = static_cast<unsigned char>(bytes.front());
  if (lead < 0x80) return lead;
  const size_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (lead < 0xC0 || lead > 0xF7 || bytes.size() < size) return kNoCharacter;
  char32_t character = lead & (0xFFu >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(bytes[i]);
    if ((next & 0xC0) != 0x80) return kNoCharacter;
    character = character << 6 | (next & 0x3F);
  }
  return character;
}

inline void AppendCharacter(char32_t character, std::string* out) {
  const auto trailing = [&](int shift) {
    out->push_back(static_cast<char>(0x80 | (character >> shift & 0x3F)));
  };
  if (character < 0x80) {
    out->push_back(static_cast<char>(character));
  } else if (character < 0x800) {
    out->push_back(static_cast<char>(0xC0 | character >> 6));
    trailing(0);
  } else if (character < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | character >> 12));
    trailing(6);
    trailing(0);
  } else {
    out->push_back(static_cast<char>(0xF0 | character >> 18));
    trailing(12);
    trailing(6);
    trailing(0);
  }
}

}  // namespace glaive::query
