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

// A DataOverlayFile message. Which rows are covered is told once for all columns of the file, or
// once for each of them.
struct DataOverlayFile {
  DataFile data_file;
  std::vector<std::string> offset_bitmaps;  // portable Roaring; one unless per field
  bool per_field = false;
  uint64_t committed_version = 0;  // 0 = not committed yet
  std::string unknown_fields;

  // Of the column that `data_file.fields[position]` is in. REQUIRES: a checked message.
  const std::string& BitmapOf(size_t position) const {
    return offset_bitmaps[per_field ? position : 0];
  }

  bool operator==(const DataOverlayFile&) const = default;
};

// Corrupt unless there is a bitmap for every field.
arrow::Result<DataOverlayFile> ParseOverlay(std::span<const std::byte> message, Location where);

std::string Serialize(const DataOverlayFile& overlay);

}  // namespace glaive::wire
