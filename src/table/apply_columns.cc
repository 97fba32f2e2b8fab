#include "table/apply_operations.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <utility>

#include "core/error.h"
#include "table/index_coverage.h"

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

// The schema changes under an index: which of its fields go is not looked at yet.
arrow::Status RefuseIndices(const Manifest& manifest) {
  if (manifest.index_section.empty()) return arrow::Status::OK();
  return Unsupported("changing the columns of a table that has indices");
}

std::vector<uint64_t> IdsBut(const FragmentTable& table, const std::set<uint64_t>& kept) {
  std::vector<uint64_t> ids;
  static_cast<void>(table.Visit([&](const Fragment& fragment) {
    if (!kept.contains(fragment.id())) ids.push_back(fragment.id());
    return arrow::Status::OK();
  }));
  return ids;
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
    if (!fragment.overlays.empty()) {
      return Unsupported("replacing columns of fragment {}, which has overlays", fragment_id);
    }
    ARROW_RETURN_NOT_OK(ReplaceColumns(fragment, new_file));
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

// Id 0 is fragment 0 where the table has one that was not named yet, and else a new fragment.
arrow::Status ApplyTo(Manifest& next, const Merge& merge) {
  ARROW_RETURN_NOT_OK(RefuseIndices(next));
  // Its fragments' rows would count as changed by this version.
  if (next.has_stable_row_ids()) {
    return Unsupported("adding columns to a table with stable row ids");
  }
  std::set<uint64_t> named;
  std::vector<DataFragment> known;
  std::vector<DataFragment> added;
  for (const DataFragment& fragment : merge.fragments) {
    if (next.fragments.Find(fragment.id) && named.insert(fragment.id).second) {
      known.push_back(fragment);
    } else if (fragment.id == 0) {
      added.push_back(fragment);
    } else {
      return InvalidInput("fragment {} is not in version {}, or is named twice", fragment.id,
                          next.version - 1);
    }
  }
  ARROW_ASSIGN_OR_RAISE(next.fragments, next.fragments.Remove(IdsBut(next.fragments, named)));
  ARROW_ASSIGN_OR_RAISE(next.fragments, next.fragments.Replace(known));
  ARROW_ASSIGN_OR_RAISE(added, WithIds(std::move(added), next.max_fragment_id));
  ARROW_ASSIGN_OR_RAISE(next.fragments, next.fragments.Insert(added));
  next.schema = merge.schema;
  return arrow::Status::OK();
}

// Files that hold nothing but dropped columns go; the hidden row lineage counts as something.
arrow::Status ApplyTo(Manifest& next, const Project& project) {
  ARROW_RETURN_NOT_OK(RefuseIndices(next));
  std::set<int32_t> ids = {-3, -4, -5};
  wire::CollectFieldIds(project.schema.fields, &ids);
  const auto is_dead = [&](const DataFile& file) {
    return std::ranges::none_of(file.fields, [&](int32_t id) { return ids.contains(id); });
  };
  std::vector<DataFragment> changed;
  ARROW_RETURN_NOT_OK(next.fragments.Visit([&](const Fragment& view) {
    ARROW_ASSIGN_OR_RAISE(DataFragment fragment, view.Parse());
    if (std::erase_if(fragment.files, is_dead) > 0) changed.push_back(std::move(fragment));
    return arrow::Status::OK();
  }));
  ARROW_ASSIGN_OR_RAISE(next.fragments, next.fragments.Replace(changed));
  next.schema = project.schema;
  return arrow::Status::OK();
}

}  // namespace glaive::table
