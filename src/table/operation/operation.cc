#include "table/operation/operation.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "table/manifest/fragment_metadata.h"
#include "table/operation/conflict.h"
#include "table/rows/deletion_vector.h"
#include "wire/fields.h"
#include "wire/overlay.h"

namespace glaive {

uint64_t FragmentMetadata::id() const { return state_->fragment.id; }

uint64_t FragmentMetadata::physical_rows() const { return state_->fragment.physical_rows; }

uint64_t FragmentMetadata::num_deletions() const {
  // Of rows that are not counted none is: see RowsOfFragment.
  const auto& file = state_->fragment.deletion_file;
  return file ? std::min(file->num_deleted_rows, state_->fragment.physical_rows) : 0;
}

std::vector<DataFileInfo> FragmentMetadata::files() const { return state_->fragment.files; }

arrow::Result<std::vector<OverlayFile>> FragmentMetadata::overlays() const {
  std::vector<OverlayFile> overlays;
  for (const std::string& message : state_->fragment.overlays) {
    ARROW_ASSIGN_OR_RAISE(overlays.emplace_back(),
                          wire::ParseOverlay(wire::AsBytes(message), {"(overlay)"}));
  }
  return overlays;
}

std::optional<DeletionFileInfo> FragmentMetadata::deletion_file() const {
  const auto& file = state_->fragment.deletion_file;
  if (!file) return std::nullopt;
  DeletionFileInfo info{file->read_version, file->id,
                        file->file_type == wire::DeletionFileType::kBitmap};
  if (file->num_deleted_rows != 0) info.num_deleted_rows = file->num_deleted_rows;
  info.base_id = file->base_id;
  info.path = table::DeletionFilePath(id(), *file);
  return info;
}

std::optional<WrittenFor> FragmentMetadata::written_for() const { return state_->written_for; }

bool FragmentMetadata::has_files_only() const {
  const wire::DataFragment& fragment = state_->fragment;
  const auto absent = [](const wire::RowSequence& sequence) {
    return std::holds_alternative<std::monostate>(sequence);
  };
  return !fragment.deletion_file && fragment.overlays.empty() && absent(fragment.row_ids) &&
         absent(fragment.created_at_versions) && absent(fragment.last_updated_at_versions);
}

bool FragmentMetadata::operator==(const FragmentMetadata& other) const {
  return state_ == other.state_ || state_->fragment == other.state_->fragment;
}

std::string NameOf(const Operation& operation) {
  return std::string(table::kOperationNames[operation.index()]);
}

namespace table {

std::vector<wire::DataFragment> EntriesOf(const std::vector<FragmentMetadata>& fragments) {
  std::vector<wire::DataFragment> entries;
  entries.reserve(fragments.size());
  for (const FragmentMetadata& fragment : fragments) entries.push_back(StateOf(fragment)->fragment);
  return entries;
}

std::vector<FragmentMetadata> FragmentsOf(std::vector<wire::DataFragment> entries) {
  std::vector<FragmentMetadata> fragments;
  fragments.reserve(entries.size());
  for (auto& entry : entries) fragments.push_back(MakeFragmentMetadata(std::move(entry)));
  return fragments;
}

}  // namespace table
}  // namespace glaive
