#include "query/values/letter_case.h"

#include <algorithm>
#include <span>

#include "query/values/unicode_tables.h"
#include "query/values/utf8.h"

namespace glaive::query {
namespace {

constexpr char32_t kSigma = 0x3A3;
constexpr char32_t kFinalSigma = 0x3C2;
constexpr char32_t kCapitalIWithDot = 0x130;
constexpr char32_t kDotlessI = 0x131;
constexpr char32_t kCombiningDot = 0x307;

bool IsIn(std::span<const CharacterRange> ranges, char32_t character) {
  const auto at = std::ranges::lower_bound(ranges, character, {}, &CharacterRange::last);
  return at != ranges.end() && at->first <= character;
}

char32_t Mapped(std::span<const CaseRange> ranges, char32_t character) {
  const auto at = std::ranges::lower_bound(ranges, character, {}, &CaseRange::last);
  if (at == ranges.end() || at->first > character) return character;
  if ((character - at->first) % at->step != 0) return character;
  return static_cast<char32_t>(static_cast<int32_t>(character) + at->distance);
}

char AsciiUpper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }
char AsciiLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool IsAscii(std::string_view text) {
  unsigned char all = 0;
  for (const char c : text) all |= static_cast<unsigned char>(c);
  return all < 0x80;
}

template <char (*kMap)(char)>
bool AppendAscii(std::string_view text, std::string* out) {
  if (!IsAscii(text)) return false;
  const size_t begin = out->size();
  out->append(text);
  std::transform(text.begin(), text.end(), out->begin() + static_cast<ptrdiff_t>(begin), kMap);
  return true;
}

// Calls `each` with every character and its bytes; those that are no UTF-8 are appended.
template <typename Each>
void ForEach(std::string_view text, std::string* out, const Each& each) {
  while (!text.empty()) {
    const std::string_view bytes = text.substr(0, CharacterSize(text));
    text.remove_prefix(bytes.size());
    const char32_t character = DecodeCharacter(bytes);
    if (character == kNoCharacter) {
      out->append(bytes);
    } else {
      each(character, text);
    }
  }
}

void AppendUpperOf(char32_t character, std::string* out) {
  const auto texts = UpperTexts();
  const auto at = std::ranges::lower_bound(texts, character, {}, &UpperText::character);
  if (at == texts.end() || at->character != character) {
    return AppendCharacter(Mapped(UpperRanges(), character), out);
  }
  for (const char32_t part : at->text) {
    if (part != 0) AppendCharacter(part, out);
  }
}

void AppendLowerOf(char32_t character, std::string* out) {
  AppendCharacter(character == kCapitalIWithDot ? U'i' : Mapped(LowerRanges(), character), out);
  if (character == kCapitalIWithDot) AppendCharacter(kCombiningDot, out);
}

// Whether a letter with a case is next, whatever marks are before it.
bool BeginsWithCased(std::string_view text) {
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    const char32_t character = DecodeCharacter(text.substr(0, size));
    if (!IsIn(CaseIgnorableRanges(), character)) return IsIn(CasedRanges(), character);
    text.remove_prefix(size);
  }
  return false;
}

bool EndsWithCased(std::string_view text) {
  while (!text.empty()) {
    size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
    const char32_t character = DecodeCharacter(text.substr(begin));
    if (!IsIn(CaseIgnorableRanges(), character)) return IsIn(CasedRanges(), character);
    text.remove_suffix(text.size() - begin);
  }
  return false;
}

char32_t FoldedOf(char32_t character) {
  switch (character) {
    // The two letters i of Turkish are no cases of the common one.
    case kCapitalIWithDot:
    case kDotlessI: return character;
    // Written in two ways, without a case.
    case 0x1FD3: return 0x390;
    case 0x1FE3: return 0x3B0;
    case 0xFB05: return 0xFB06;
    default: return Mapped(LowerRanges(), Mapped(UpperRanges(), character));
  }
}

}  // namespace

void AppendUpper(std::string_view text, std::string* out) {
  if (AppendAscii<AsciiUpper>(text, out)) return;
  ForEach(text, out,
          [out](char32_t character, std::string_view) { AppendUpperOf(character, out); });
}

void AppendLower(std::string_view text, std::string* out) {
  if (AppendAscii<AsciiLower>(text, out)) return;
  ForEach(text, out, [&](char32_t character, std::string_view rest) {
    constexpr size_t kSigmaBytes = 2;
    if (character == kSigma && !BeginsWithCased(rest) &&
        EndsWithCased(text.substr(0, text.size() - rest.size() - kSigmaBytes))) {
      return AppendCharacter(kFinalSigma, out);
    }
    AppendLowerOf(character, out);
  });
}

void AppendCapitalized(std::string_view text, std::string* out) {
  bool is_first = true;
  ForEach(text, out, [&](char32_t character, std::string_view) {
    if (is_first) {
      AppendUpperOf(character, out);
    } else {
      AppendLowerOf(character, out);
    }
    is_first = !IsIn(AlphanumericRanges(), character);
  });
}

void AppendFolded(std::string_view text, std::string* out) {
  if (AppendAscii<AsciiLower>(text, out)) return;
  ForEach(text, out, [out](char32_t character, std::string_view) {
    AppendCharacter(FoldedOf(character), out);
  });
}

}  // namespace glaive::query
