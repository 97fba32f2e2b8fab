#include "table/operation/apply_operations.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.h"
#include "table/operation/conflict.h"
#include "table/rows/row_ids.h"
#include "wire/relative_path.h"

namespace glaive::table {

using wire::DataFile;
using wire::DataFragment;

arrow::Status CheckFile(const DataFile& file) {
  if (!wire::StaysBelow(file.path)) {
    return InvalidInput("data file '{}' is not below the table's folder", file.path);
  }
  const bool names_columns = file.file_major_version >= 2;
  if (file.fields.empty() || (names_columns && file.fields.size() != file.column_indices.size())) {
    return InvalidInput("data file {} has {} fields in {} columns", file.path, file.fields.size(),
                        file.column_indices.size());
  }
  return arrow::Status::OK();
}

arrow::Result<std::vector<DataFragment>> WithIds(std::vector<DataFragment> fragments,
                                                 std::optional<uint32_t>& max_fragment_id) {
  uint64_t next_id = max_fragment_id ? uint64_t{*max_fragment_id} + 1 : 0;
  for (DataFragment& fragment : fragments) {
    for (const DataFile& file : fragment.files) ARROW_RETURN_NOT_OK(CheckFile(file));
    if (fragment.id == 0) fragment.id = next_id++;
    if (fragment.id > std::numeric_limits<uint32_t>::max()) {
      return Unsupported("more than 2^32 fragments in the life of a table");
    }
    const auto id = static_cast<uint32_t>(fragment.id);
    max_fragment_id = std::max(max_fragment_id.value_or(0), id);
  }
  return fragments;
}

arrow::Result<DataFragment> ParseExisting(const Manifest& manifest, uint64_t id) {
  const std::optional<Fragment> fragment = manifest.fragments.Find(id);
  if (!fragment) return InvalidInput("fragment {} is not in version {}", id, manifest.version);
  return fragment->Parse();
}

wire::RowSequence AllOfVersion(const DataFragment& fragment, uint64_t version) {
  const VersionRun run{fragment.physical_rows, version};
  return wire::InlineSequence{SerializeRowVersions({&run, 1})};
}

std::set<int32_t> LiveFields(const wire::Schema& schema) {
  std::set<int32_t> live = {-3, -4, -5};
  wire::CollectFieldIds(schema.fields, &live);
  return live;
}

bool DropDeadFiles(const std::set<int32_t>& live, DataFragment& fragment) {
  const auto is_dead = [&](const DataFile& file) {
    return std::ranges::none_of(file.fields, [&](int32_t id) { return live.contains(id); });
  };
  if (!std::ranges::all_of(fragment.files, is_dead)) {
    return std::erase_if(fragment.files, is_dead) > 0;
  }
  if (fragment.files.size() < 2) return false;
  const auto smallest = std::ranges::min_element(fragment.files, {}, [](const DataFile& file) {
    return std::pair(file.file_size_bytes == 0, file.file_size_bytes);
  });
  fragment.files = {DataFile(*smallest)};
  return true;
}

void KeepUnknownFields(const DataFragment& before, DataFragment& after) {
  if (after.unknown_fields.empty()) after.unknown_fields = before.unknown_fields;
  for (DataFile& file : after.files) {
    const auto old = std::ranges::find(before.files, file.path, &DataFile::path);
    if (old != before.files.end() && file.unknown_fields.empty()) {
      file.unknown_fields = old->unknown_fields;
    }
  }
  if (after.deletion_file && before.deletion_file &&
      after.deletion_file->id == before.deletion_file->id &&
      after.deletion_file->unknown_fields.empty()) {
    after.deletion_file->unknown_fields = before.deletion_file->unknown_fields;
  }
}

arrow::Status GiveRowIds(std::vector<DataFragment>& fragments, Manifest& next) {
  if (!next.has_stable_row_ids()) return arrow::Status::OK();
  for (DataFragment& fragment : fragments) {
    const uint64_t begin = next.next_row_id;
    if (fragment.physical_rows > std::numeric_limits<uint64_t>::max() - begin) {
      return Unsupported("more than 2^64 rows in the life of a table");
    }
    next.next_row_id += fragment.physical_rows;
    const RowRange ids{begin, next.next_row_id};
    fragment.row_ids = wire::InlineSequence{SerializeRowIds({&ids, 1})};
    fragment.last_updated_at_versions = AllOfVersion(fragment, next.version);
    fragment.created_at_versions = fragment.last_updated_at_versions;
  }
  return arrow::Status::OK();
}

arrow::Status ApplyTo(Manifest& next, const Append& append) {
  ARROW_ASSIGN_OR_RAISE(auto fragments, WithIds(EntriesOf(append.fragments), next.max_fragment_id));
  ARROW_RETURN_NOT_OK(GiveRowIds(fragments, next));
  ARROW_ASSIGN_OR_RAISE(next.fragments, next.fragments.Insert(fragments));
  return arrow::Status::OK();
}

// Takes the deletion file from the operation and nothing else: its fragments may be older than a
// column that was added since.
arrow::Status ApplyTo(Manifest& next, const Delete& deletion) {
  std::vector<DataFragment> updated;
  for (const DataFragment& theirs : deletion.updated_fragments | Entries) {
    ARROW_ASSIGN_OR_RAISE(DataFragment fragment, ParseExisting(next, theirs.id));
    fragment.deletion_file = theirs.deletion_file;
    updated.push_back(std::move(fragment));
  }
  ARROW_ASSIGN_OR_RAISE(next.fragments, next.fragments.Replace(updated));
  ARROW_ASSIGN_OR_RAISE(next.fragments, next.fragments.Remove(deletion.deleted_fragment_ids));
  return arrow::Status::OK();
}

// Ids go on from the old table's, so that an address never names two rows; what the caller put
// into `id` is of no account.
arrow::Status ApplyTo(Manifest& next, const Overwrite& overwrite, const CommitHints& hints) {
  std::vector<DataFragment> fragments = EntriesOf(overwrite.fragments);
  for (DataFragment& fragment : fragments) {
    if (fragment.deletion_file) {
      return InvalidInput("an overwrite takes new fragments; one of {} rows has a deletion file",
                          fragment.physical_rows);
    }
    fragment.id = 0;
  }
  if (next.max_allocated_field_id) {
    return Unsupported("overwriting a table with the feature flag {} (non-reusable field ids)",
                       feature::kNonReusableFieldIds);
  }
  ARROW_ASSIGN_OR_RAISE(fragments, WithIds(std::move(fragments), next.max_fragment_id));
  ARROW_RETURN_NOT_OK(GiveRowIds(fragments, next));
  ARROW_ASSIGN_OR_RAISE(next.fragments, FragmentTable().Insert(fragments));
  next.schema = StateOf(overwrite.schema)->schema;
  next.index_section.clear();
  for (const auto& [key, value] : overwrite.config_upserts) next.config[key] = value;
  if (hints.data_file_version) next.data_file_version = *hints.data_file_version;
  if (!overwrite.initial_bases.empty() && !next.base_paths.empty()) {
    return Unsupported("an overwrite that brings base paths to a table that has some");
  }
  if (next.base_paths.empty()) next.base_paths = overwrite.initial_bases;
  return arrow::Status::OK();
}

}  // namespace glaive::table
