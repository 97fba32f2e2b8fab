#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "core/error.h"
#include "wire/fragment.h"

namespace glaive::wire {

// A DataOverlayFile message.
using DataOverlayFile = OverlayFile;

// Of the column that `data_file.fields[position]` is in. REQUIRES: a checked message.
inline const std::string& BitmapOf(const DataOverlayFile& overlay, size_t position) {
  return overlay.offset_bitmaps[overlay.per_field ? position : 0];
}

// Corrupt unless there is a bitmap for every field.
arrow::Result<DataOverlayFile> ParseOverlay(std::span<const std::byte> message, Location where);

std::string Serialize(const DataOverlayFile& overlay);

}  // namespace glaive::wire
