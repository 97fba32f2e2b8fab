#pragma once

#include <string>
#include <string_view>

// Upper and lower case by the rules of Unicode, as in pylance. Bytes that are no UTF-8 stay as they
// are. Each function appends to `out`.
namespace glaive::query {

// The full mapping: one character may become three.
void AppendUpper(std::string_view text, std::string* out);
// A sigma that ends a word has a form of its own.
void AppendLower(std::string_view text, std::string* out);
// The first letter of each word in upper case and the others in lower case. Words are made of
// letters and digits.
void AppendCapitalized(std::string_view text, std::string* out);
// What texts that differ in case alone have in common. It goes character by character: ß is not ss.
void AppendFolded(std::string_view text, std::string* out);

}  // namespace glaive::query
