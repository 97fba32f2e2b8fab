#pragma once

#include <cstdint>
#include <optional>

#include "core/file_version.h"

namespace glaive::wire {

// The version that a DataFile message names; nothing for one that this build does not know.
constexpr std::optional<FileVersion> FileVersionOf(uint32_t major, uint32_t minor) {
  if (major == 0 && minor <= 2) return FileVersion::k0_1;
  if (major == 0 && minor == 3) return FileVersion::k2_0;  // how 2.0 footers call themselves
  if (major != 2 || minor > 3) return std::nullopt;
  return static_cast<FileVersion>(static_cast<uint32_t>(FileVersion::k2_0) + minor);
}

// The two numbers that a DataFile message has for files of this version.
struct VersionNumbers {
  uint32_t major;
  uint32_t minor;

  bool operator==(const VersionNumbers&) const = default;
};
constexpr VersionNumbers NumbersOf(FileVersion version) {
  if (version == FileVersion::k0_1) return {0, 2};
  return {2, static_cast<uint32_t>(version) - static_cast<uint32_t>(FileVersion::k2_0)};
}

}  // namespace glaive::wire
