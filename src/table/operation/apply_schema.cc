#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "table/manifest/overlays.h"
#include "table/operation/apply_operations.h"
#include "table/operation/index_coverage.h"

namespace glaive::table {
namespace {

using wire::DataFile;
using wire::DataFragment;

// A file that holds columns of fields, and of no other.
using FileIdentity = std::pair<std::string, std::optional<uint32_t>>;

std::map<int32_t, FileIdentity> FileOfEachField(const DataFragment& fragment) {
  std::map<int32_t, FileIdentity> files;
  for (const DataFile& file : fragment.files) {
    for (const int32_t id : file.fields) {
      if (id >= 0) files.emplace(id, FileIdentity(file.path, file.base_id));
    }
  }
  return files;
}

// Fields that have values from other files, or from one where they had none.
std::set<int32_t> RewrittenFields(const DataFragment& before, const DataFragment& after) {
  std::set<int32_t> fields;
  const auto then = FileOfEachField(before);
  for (const auto& [id, file] : FileOfEachField(after)) {
    const auto found = then.find(id);
    if (found == then.end() || found->second != file) fields.insert(id);
  }
  return fields;
}

// Sizes do not count: they may be filled in later.
bool SameColumns(const DataFile& left, const DataFile& right) {
  const auto columns = [](const DataFile& file) {
    return std::tie(file.path, file.base_id, file.fields, file.column_indices,
                    file.file_major_version, file.file_minor_version);
  };
  return columns(left) == columns(right);
}

// A fragment of the list that was there before: its rows are where they were, so their lineage is
// what it was, but that columns were written for all of them. What others put into its messages,
// and the caller did not hand back, stays.
DataFragment Merged(const Manifest& next, const DataFragment& before, const DataFragment& theirs) {
  DataFragment fragment = theirs;
  KeepUnknownFields(before, fragment);
  fragment.row_ids = before.row_ids;
  fragment.created_at_versions = before.created_at_versions;
  fragment.last_updated_at_versions = before.last_updated_at_versions;
  const bool rewritten = !std::ranges::equal(before.files, theirs.files, SameColumns);
  if (next.has_stable_row_ids() && rewritten) {
    fragment.last_updated_at_versions = AllOfVersion(fragment, next.version);
  }
  return fragment;
}

// The fragments of a merge, told apart: id 0 is fragment 0 where the table has one that was not
// named yet, and else a new fragment; so those that were there come first.
struct MergedFragments {
  std::vector<DataFragment> known;
  std::vector<DataFragment> added;
  std::map<std::set<int32_t>, std::vector<uint64_t>> rewritten;  // fields -> fragments
};

arrow::Status Add(const Manifest& next, const DataFragment& theirs, std::set<uint64_t>& named,
                  MergedFragments& merged) {
  for (const DataFile& file : theirs.files) ARROW_RETURN_NOT_OK(CheckFile(file));
  const std::optional<Fragment> view = next.fragments.Find(theirs.id);
  if (!view || named.contains(theirs.id)) {
    if (theirs.id != 0 && !named.insert(theirs.id).second) {
      return InvalidInput("a merge names fragment {} twice", theirs.id);
    }
    if (!std::holds_alternative<std::monostate>(theirs.row_ids)) {
      return InvalidInput(
          "a merge brings a new fragment (id {}) that has row ids already; they "
          "are given by the commit",
          theirs.id);
    }
    if (theirs.id > next.max_fragment_id.value_or(0)) {
      return InvalidInput("fragment {} is not in version {}, nor was the id reserved", theirs.id,
                          next.version - 1);
    }
    merged.added.push_back(theirs);
    return arrow::Status::OK();
  }
  if (!merged.added.empty()) {
    return InvalidInput(
        "a merge lists fragment {} behind a new one; those that the table has come "
        "first",
        theirs.id);
  }
  named.insert(theirs.id);
  ARROW_ASSIGN_OR_RAISE(const DataFragment before, view->Parse());
  if (theirs.physical_rows != before.physical_rows) {
    return InvalidInput("a merge makes {} rows of the {} of fragment {}", theirs.physical_rows,
                        before.physical_rows, before.id);
  }
  const auto fields = RewrittenFields(before, theirs);
  if (!fields.empty()) merged.rewritten[fields].push_back(before.id);
  merged.known.push_back(Merged(next, before, theirs));
  return arrow::Status::OK();
}

// Columns that left the schema take along the indices on them.
arrow::Status ChangeSchema(Manifest& next, const wire::Schema& schema,
                           const MergedFragments& merged) {
  const wire::Schema before = std::exchange(next.schema, schema);
  if (next.index_section.empty()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(IndexList indices, IndicesOf(next));
  for (const auto& [fields, fragment_ids] : merged.rewritten) {
    ARROW_RETURN_NOT_OK(Withdraw(indices, fragment_ids, RelatedFields(before, fields)));
  }
  DropIrrelevant(indices, next);
  return indices.Serialize().Value(&next.index_section);
}

bool HasAll(const std::set<int32_t>& left, const std::set<int32_t>& right) {
  return std::ranges::includes(left, right);
}

}  // namespace

arrow::Status ApplyTo(Manifest& next, const Merge& merge, const CommitHints& hints) {
  const wire::Schema& schema = StateOf(merge.schema)->schema;
  std::set<uint64_t> named;
  MergedFragments merged;
  for (const DataFragment& fragment : merge.fragments | Entries) {
    ARROW_RETURN_NOT_OK(Add(next, fragment, named, merged));
  }
  if (!hints.others && merged.known.size() != next.fragments.totals().num_fragments) {
    return InvalidInput("a merge names {} of the {} fragments of version {}", merged.known.size(),
                        next.fragments.totals().num_fragments, next.version - 1);
  }
  const std::set<int32_t> live = LiveFields(schema);
  for (DataFragment& fragment : merged.known) {
    ARROW_RETURN_NOT_OK(DropDeadOverlays(live, fragment, {next.path}).status());
  }
  ARROW_ASSIGN_OR_RAISE(next.fragments, next.fragments.Replace(merged.known));
  ARROW_ASSIGN_OR_RAISE(merged.added, WithIds(std::move(merged.added), next.max_fragment_id));
  ARROW_RETURN_NOT_OK(GiveRowIds(merged.added, next));
  ARROW_ASSIGN_OR_RAISE(next.fragments, next.fragments.Insert(merged.added));
  return ChangeSchema(next, schema, merged);
}

// Files that hold nothing but dropped columns go; the hidden row lineage counts as something.
arrow::Status ApplyTo(Manifest& next, const Project& project) {
  const wire::Schema& schema = StateOf(project.schema)->schema;
  std::set<int32_t> before;
  std::set<int32_t> after;
  wire::CollectFieldIds(next.schema.fields, &before);
  wire::CollectFieldIds(schema.fields, &after);
  if (!HasAll(after, before)) {
    const std::set<int32_t> live = LiveFields(schema);
    std::vector<DataFragment> changed;
    ARROW_RETURN_NOT_OK(next.fragments.Visit([&](const Fragment& view) {
      ARROW_ASSIGN_OR_RAISE(DataFragment fragment, view.Parse());
      const bool files = DropDeadFiles(live, fragment);
      ARROW_ASSIGN_OR_RAISE(const bool overlays, DropDeadOverlays(live, fragment, {next.path}));
      if (files || overlays) changed.push_back(std::move(fragment));
      return arrow::Status::OK();
    }));
    ARROW_ASSIGN_OR_RAISE(next.fragments, next.fragments.Replace(changed));
  }
  return ChangeSchema(next, schema, {});
}

}  // namespace glaive::table
