#include "dataset/handle/fragment_conversion.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "table/sets/roaring.h"
#include "wire/fields.h"
#include "wire/overlay.h"

namespace glaive::dataset {
namespace {

constexpr Location kOverlay = {"(overlay)"};

arrow::Result<std::vector<uint32_t>> OffsetsOf(const std::string& bitmap) {
  ARROW_ASSIGN_OR_RAISE(const auto ranges, table::ParseRoaring(wire::AsBytes(bitmap), kOverlay));
  std::vector<uint32_t> offsets;
  for (const RowRange& range : ranges) {
    for (uint64_t row = range.begin; row < range.end; ++row) {
      offsets.push_back(static_cast<uint32_t>(row));
    }
  }
  return offsets;
}

}  // namespace

DataFileInfo InfoOf(const wire::DataFile& file) {
  DataFileInfo info{file.path, file.fields, file.column_indices, file.file_major_version,
                    file.file_minor_version};
  if (file.file_size_bytes != 0) info.file_size_bytes = file.file_size_bytes;
  info.base_id = file.base_id;
  return info;
}

wire::DataFile WireOf(const DataFileInfo& info) {
  wire::DataFile file;
  file.path = info.path;
  file.fields = info.fields;
  file.column_indices = info.column_indices;
  file.file_major_version = info.file_major_version;
  file.file_minor_version = info.file_minor_version;
  file.file_size_bytes = info.file_size_bytes.value_or(0);
  file.base_id = info.base_id;
  return file;
}

arrow::Result<OverlayFile> OverlayInfoOf(const std::string& message) {
  ARROW_ASSIGN_OR_RAISE(const wire::DataOverlayFile wire,
                        wire::ParseOverlay(wire::AsBytes(message), kOverlay));
  OverlayFile overlay{.data_file = InfoOf(wire.data_file), .per_field = wire.per_field};
  for (const std::string& bitmap : wire.offset_bitmaps) {
    ARROW_ASSIGN_OR_RAISE(auto offsets, OffsetsOf(bitmap));
    overlay.offsets.push_back(std::move(offsets));
  }
  if (wire.committed_version != 0) overlay.committed_version = wire.committed_version;
  return overlay;
}

arrow::Result<std::string> OverlayMessageOf(const OverlayFile& overlay) {
  const std::string& path = overlay.data_file.path;
  const size_t wanted = overlay.per_field ? overlay.data_file.fields.size() : 1;
  if (overlay.offsets.size() != wanted) {
    return InvalidInput("overlay {} covers {} fields with {} lists of rows", path,
                        overlay.data_file.fields.size(), overlay.offsets.size());
  }
  wire::DataOverlayFile wire{.data_file = WireOf(overlay.data_file),
                             .per_field = overlay.per_field,
                             .committed_version = overlay.committed_version.value_or(0)};
  for (const auto& offsets : overlay.offsets) {
    if (std::ranges::adjacent_find(offsets, std::greater_equal()) != offsets.end()) {
      return InvalidInput("rows covered by overlay {} are not ascending, each once", path);
    }
    wire.offset_bitmaps.push_back(table::SerializeRoaring(table::RangesOf(offsets)));
  }
  return wire::Serialize(wire);
}

}  // namespace glaive::dataset
