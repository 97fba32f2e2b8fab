#pragma once

#include <cstdint>
#include <optional>

#include "core/file_version.h"

namespace glaive::wire {

// The version that a DataFile message names; nothing for one that this build does not know.
std::optional<FileVersion> FileVersionOf(uint32_t major, uint32_t minor);

}  // namespace glaive::wire
