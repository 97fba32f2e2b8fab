#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace glaive::table {

// The names that writers give to data files: 16 random bytes, three of them as 24 binary digits and
// the others as 26 hexadecimal ones, and ".lance". A million of them are what a manifest mostly is.
inline constexpr size_t kFileNameSize = 56;
using PackedFileName = std::array<uint8_t, 16>;

// False for a name of any other form.
bool PackFileName(std::string_view name, std::span<uint8_t, 16> packed);
// REQUIRES: room for kFileNameSize characters
void UnpackFileName(std::span<const uint8_t, 16> packed, char* name);

}  // namespace glaive::table
