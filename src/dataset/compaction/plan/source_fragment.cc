#include "dataset/compaction/plan/source_fragment.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "wire/fields.h"
#include "wire/overlay.h"

namespace glaive::dataset {
namespace {

void CollectIds(const std::vector<wire::Field>& fields, std::set<int32_t>& ids) {
  for (const wire::Field& field : fields) {
    ids.insert(field.id);
    CollectIds(field.children, ids);
  }
}

arrow::Result<wire::DataFile> OverlayFile(const std::string& message) {
  ARROW_ASSIGN_OR_RAISE(auto overlay,
                        wire::ParseOverlay(wire::AsBytes(message), {.path = "manifest"}));
  return std::move(overlay.data_file);
}

}  // namespace

LiveFields::LiveFields(const wire::Schema& schema) { CollectIds(schema.fields, ids_); }

bool LiveFields::AreIn(const wire::DataFile& file) const {
  return std::ranges::any_of(file.fields, [&](int32_t field) { return ids_.contains(field); });
}

arrow::Result<SourceFragment> DescribeSource(const read::Snapshot& snapshot,
                                             const wire::DataFragment& fragment,
                                             const LiveFields& fields) {
  SourceFragment source;
  ARROW_ASSIGN_OR_RAISE(source.physical_rows, read::PhysicalRows(snapshot, fragment));
  ARROW_ASSIGN_OR_RAISE(source.live_rows, read::LiveRows(snapshot, fragment));
  source.num_overlays = fragment.overlays.size();
  for (const wire::DataFile& file : fragment.files) {
    if (fields.AreIn(file)) source.bytes += file.file_size_bytes;
  }
  for (const std::string& message : fragment.overlays) {
    ARROW_ASSIGN_OR_RAISE(const wire::DataFile file, OverlayFile(message));
    if (fields.AreIn(file)) source.overlay_bytes += file.file_size_bytes;
  }
  return source;
}

bool HaveSizes(std::span<const SourceFragment> sources) {
  return std::ranges::all_of(sources, [](const SourceFragment& source) {
    return source.bytes > 0 || source.live_rows == 0;
  });
}

arrow::Status RequireSizes(const wire::DataFragment& fragment, const LiveFields& fields,
                           std::string_view option) {
  const auto require = [&](const wire::DataFile& file) {
    if (file.file_size_bytes > 0 || !fields.AreIn(file)) return arrow::Status::OK();
    return InvalidInput("{} is set, but the size of '{}' is not recorded", option, file.path);
  };
  for (const wire::DataFile& file : fragment.files) ARROW_RETURN_NOT_OK(require(file));
  for (const std::string& message : fragment.overlays) {
    ARROW_ASSIGN_OR_RAISE(const wire::DataFile file, OverlayFile(message));
    ARROW_RETURN_NOT_OK(require(file));
  }
  return arrow::Status::OK();
}

}  // namespace glaive::dataset
