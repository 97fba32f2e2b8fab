#include "wire/overlay.h"

#include <utility>

#include "wire/fields.h"

namespace glaive::wire {

arrow::Result<DataOverlayFile> ParseOverlay(std::span<const std::byte> message, Location where) {
  DataOverlayFile overlay;
  bool has_coverage = false;
  const auto read = [&](const FieldView& field) -> arrow::Status {
    switch (field.key()) {
      case Bytes(1): {
        ARROW_ASSIGN_OR_RAISE(overlay.data_file, ParseDataFile(field.payload, field.where));
        return arrow::Status::OK();
      }
      case Bytes(2):
        has_coverage = true;
        overlay.per_field = false;
        overlay.offset_bitmaps = {field.text()};
        return arrow::Status::OK();
      case Varint(3): overlay.committed_version = field.value; return arrow::Status::OK();
      case Bytes(4):
        has_coverage = true;
        overlay.per_field = true;
        overlay.offset_bitmaps.clear();
        return VisitFields(field.payload, field.where, "FieldCoverage", [&](const FieldView& part) {
          if (part.key() == Bytes(1)) overlay.offset_bitmaps.push_back(part.text());
          return arrow::Status::OK();
        });
    }
    overlay.unknown_fields += field.raw;
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(VisitFields(message, where, "DataOverlayFile", read));
  const size_t wanted = overlay.per_field ? overlay.data_file.fields.size() : 1;
  if (!has_coverage || overlay.offset_bitmaps.size() != wanted) {
    return Corrupt(where, "overlay {} covers {} fields with {} sets of rows",
                   overlay.data_file.path, overlay.data_file.fields.size(),
                   overlay.offset_bitmaps.size());
  }
  return overlay;
}

std::string Serialize(const DataOverlayFile& overlay) {
  std::string out;
  AppendBytes(1, Serialize(overlay.data_file), &out);
  if (overlay.per_field) {
    std::string coverage;
    for (const std::string& bitmap : overlay.offset_bitmaps) AppendBytes(1, bitmap, &coverage);
    AppendBytes(4, coverage, &out);
  } else {
    AppendBytes(2, overlay.offset_bitmaps.front(), &out);
  }
  AppendUnlessZero(3, overlay.committed_version, &out);
  return out + overlay.unknown_fields;
}

}  // namespace glaive::wire
