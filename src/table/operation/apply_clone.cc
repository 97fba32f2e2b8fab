#include <utility>

#include "core/error.h"
#include "table/operation/apply_operations.h"
#include "wire/fields.h"

namespace glaive::table {
namespace {

using BaseId = std::optional<uint32_t>;

// Where a file lies as seen from the clone: what lay in the source itself lies in the new base,
// what lay in a base stays there. Without a new base all files were copied beside the clone.
void Move(const BaseId& new_base, BaseId& base_id) {
  if (!new_base) {
    base_id.reset();
  } else if (!base_id) {
    base_id = new_base;
  }
}

// A DataOverlayFile message, whose data file is its first field.
arrow::Result<std::string> MovedOverlay(const std::string& overlay, const BaseId& new_base,
                                        Location where) {
  std::string out;
  ARROW_RETURN_NOT_OK(wire::VisitFields(
      wire::AsBytes(overlay), where, "DataOverlayFile",
      [&](const wire::FieldView& field) -> arrow::Status {
        constexpr uint32_t kDataFile = 1;
        if (field.key() != wire::Bytes(kDataFile)) {
          out += field.raw;
          return arrow::Status::OK();
        }
        ARROW_ASSIGN_OR_RAISE(auto file, wire::ParseDataFile(field.payload, field.where));
        Move(new_base, file.base_id);
        wire::AppendBytes(kDataFile, wire::Serialize(file), &out);
        return arrow::Status::OK();
      }));
  return out;
}

// An IndexMetadata message, whose folder lies where its base is.
arrow::Result<std::string> MovedIndex(const wire::FieldView& entry, const BaseId& new_base) {
  constexpr uint32_t kBaseId = 9;
  std::string out;
  BaseId base_id;
  ARROW_RETURN_NOT_OK(wire::VisitFields(entry.payload, entry.where, "IndexMetadata",
                                        [&](const wire::FieldView& field) {
                                          if (field.key() == wire::Varint(kBaseId)) {
                                            base_id = field.uint32();
                                          } else {
                                            out += field.raw;
                                          }
                                          return arrow::Status::OK();
                                        }));
  Move(new_base, base_id);
  if (base_id) wire::AppendVarint(kBaseId, *base_id, &out);
  return out;
}

arrow::Result<std::string> MovedIndices(const std::string& section, const BaseId& new_base,
                                        Location where) {
  constexpr uint32_t kIndices = 1;
  std::string out;
  ARROW_RETURN_NOT_OK(wire::VisitFields(wire::AsBytes(section), where, "IndexSection",
                                        [&](const wire::FieldView& field) -> arrow::Status {
                                          if (field.key() != wire::Bytes(kIndices)) {
                                            out += field.raw;
                                            return arrow::Status::OK();
                                          }
                                          ARROW_ASSIGN_OR_RAISE(const std::string moved,
                                                                MovedIndex(field, new_base));
                                          wire::AppendBytes(kIndices, moved, &out);
                                          return arrow::Status::OK();
                                        }));
  return out;
}

arrow::Result<FragmentTable> MovedFragments(const Manifest& source, const BaseId& new_base) {
  std::vector<wire::DataFragment> fragments;
  ARROW_RETURN_NOT_OK(source.fragments.Visit([&](const Fragment& view) -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(wire::DataFragment fragment, view.Parse());
    for (wire::DataFile& file : fragment.files) Move(new_base, file.base_id);
    if (fragment.deletion_file) Move(new_base, fragment.deletion_file->base_id);
    for (std::string& overlay : fragment.overlays) {
      ARROW_ASSIGN_OR_RAISE(overlay, MovedOverlay(overlay, new_base, {source.path}));
    }
    fragments.push_back(std::move(fragment));
    return arrow::Status::OK();
  }));
  return FragmentTable().Insert(fragments);
}

}  // namespace

// `next` comes as a copy of the source, whose version the clone keeps: its history goes on from
// there.
arrow::Status ApplyTo(Manifest& next, const Clone& clone) {
  next.version = clone.ref_version;
  next.branch = clone.branch_name;
  BaseId new_base;
  if (clone.is_shallow) {
    new_base = UnusedBaseId(next.base_paths, 0);
    next.base_paths.push_back({.id = *new_base,
                               .name = clone.ref_name,
                               .is_dataset_root = true,
                               .path = clone.ref_path,
                               .unknown_fields = {}});
  } else {
    next.base_paths.clear();
  }
  ARROW_ASSIGN_OR_RAISE(next.fragments, MovedFragments(next, new_base));
  ARROW_ASSIGN_OR_RAISE(next.index_section,
                        MovedIndices(next.index_section, new_base, {next.path}));
  return arrow::Status::OK();
}

}  // namespace glaive::table
