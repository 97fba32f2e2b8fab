#include "table/operation/apply_operations.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <utility>

#include "core/error.h"
#include "table/manifest/overlays.h"
#include "table/operation/index_coverage.h"

namespace glaive::table {
namespace {

using wire::DataFile;
using wire::DataFragment;

bool SameVersion(const DataFile& left, const DataFile& right) {
  return left.file_major_version == right.file_major_version &&
         left.file_minor_version == right.file_minor_version;
}

// Puts `file` into the fragment: in the place of a file with the very same columns, or beside the
// others, whose columns of the same fields die.
arrow::Status ReplaceColumns(DataFragment& fragment, const DataFile& file) {
  for (DataFile& old : fragment.files) {
    if (old.fields != file.fields || !SameVersion(old, file)) continue;
    if (old == file) {
      return InvalidInput("the replacement of {} in fragment {} changes nothing", file.path,
                          fragment.id);
    }
    old.path = file.path;
    old.column_indices = file.column_indices;
    old.file_size_bytes = file.file_size_bytes;
    old.base_id = file.base_id;
    return arrow::Status::OK();
  }
  for (DataFile& old : fragment.files) {
    for (int32_t& id : old.fields) {
      if (std::ranges::count(file.fields, id) > 0) id = wire::kTombstoneFieldId;
    }
  }
  std::erase_if(fragment.files, [](const DataFile& old) {
    return std::ranges::all_of(old.fields,
                               [](int32_t id) { return id == wire::kTombstoneFieldId; });
  });
  fragment.files.push_back(file);
  return arrow::Status::OK();
}

}  // namespace

arrow::Status ApplyTo(Manifest& next, const DataReplacement& operation) {
  std::map<uint64_t, DataFragment> changed;
  for (const auto& [fragment_id, new_file] : operation.replacements) {
    if (new_file.fields != operation.replacements.front().new_file.fields) {
      return InvalidInput("{} does not hold the fields of the other replacements", new_file.path);
    }
    ARROW_RETURN_NOT_OK(CheckFile(new_file));
    ARROW_ASSIGN_OR_RAISE(DataFragment fragment, ParseExisting(next, fragment_id));
    ARROW_RETURN_NOT_OK(ReplaceColumns(fragment, new_file));
    // What was laid over the old values must not hide the new ones, which are later.
    ARROW_RETURN_NOT_OK(
        HideOverlays(fragment, {new_file.fields.begin(), new_file.fields.end()}, {next.path}));
    if (next.has_stable_row_ids()) {
      fragment.last_updated_at_versions = AllOfVersion(fragment, next.version);
    }
    if (!changed.emplace(fragment_id, std::move(fragment)).second) {
      return InvalidInput("fragment {} is replaced twice", fragment_id);
    }
  }
  std::vector<DataFragment> fragments;
  for (auto& fragment : std::views::values(changed)) fragments.push_back(std::move(fragment));
  ARROW_ASSIGN_OR_RAISE(next.fragments, next.fragments.Replace(fragments));
  if (changed.empty()) return arrow::Status::OK();
  const auto ids = std::views::keys(changed);
  const auto& fields = operation.replacements.front().new_file.fields;
  return WithdrawCoverage(next, std::vector<uint64_t>(ids.begin(), ids.end()),
                          {fields.begin(), fields.end()});
}

}  // namespace glaive::table
