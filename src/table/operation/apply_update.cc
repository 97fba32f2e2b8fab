#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "table/manifest/overlays.h"
#include "table/operation/apply_operations.h"
#include "table/operation/index_coverage.h"
#include "table/rows/row_lineage.h"
#include "table/rows/row_origins.h"
#include "table/sets/roaring.h"
#include "wire/fields.h"

namespace glaive::table {
namespace {

using wire::DataFile;
using wire::DataFragment;

constexpr Location kOperation = {"(operation)"};

// Rows that `offsets` names got their values from this version; the others keep theirs.
arrow::Result<wire::RowSequence> RefreshVersions(const DataFragment& fragment,
                                                 const std::string& offsets, uint64_t version) {
  const auto* inlined = std::get_if<wire::InlineSequence>(&fragment.last_updated_at_versions);
  if (inlined == nullptr) return fragment.last_updated_at_versions;
  ARROW_ASSIGN_OR_RAISE(const auto changed, ParseRoaring(wire::AsBytes(offsets), kOperation));
  if (!changed.empty() && changed.back().end > fragment.physical_rows) {
    return InvalidInput("an update of row {} of fragment {}, which has {} rows",
                        changed.back().end - 1, fragment.id, fragment.physical_rows);
  }
  ARROW_ASSIGN_OR_RAISE(const auto runs, ParseRowVersions(wire::AsBytes(inlined->bytes),
                                                          fragment.physical_rows, kOperation));
  return wire::InlineSequence{SerializeRowVersions(WithVersion(runs, changed, version))};
}

// Where the columns of live fields lie.
using Columns = std::map<int32_t, std::pair<std::string, std::optional<uint32_t>>>;

Columns ColumnsOf(const DataFragment& fragment, const std::set<int32_t>& live) {
  Columns columns;
  for (const DataFile& file : fragment.files) {
    for (const int32_t id : file.fields) {
      if (live.contains(id)) columns.emplace(id, std::pair(file.path, file.base_id));
    }
  }
  return columns;
}

// An update brings a fragment as it was read, with what it changed. Files that are not the table's
// any more were read from a version whose columns have been written anew since, and files of its
// own are columns that it does not say it rewrites: either would undo or lose values in silence.
arrow::Status CheckColumnsStand(const Manifest& next, const DataFragment& current,
                                const DataFragment& theirs, const std::set<int32_t>& live,
                                const std::set<int32_t>& fields_modified) {
  const auto place = [](const DataFile& file) {
    return std::tie(file.path, file.base_id, file.fields);
  };
  if (std::ranges::equal(current.files, theirs.files, {}, place, place)) return arrow::Status::OK();
  const std::set<int32_t> rewritten = RelatedFields(next.schema, fields_modified);
  const Columns now = ColumnsOf(current, live);
  for (const auto& [id, file] : ColumnsOf(theirs, live)) {
    const auto found = now.find(id);
    if (rewritten.contains(id) || (found != now.end() && found->second == file)) continue;
    return CommitConflict(Retry::kYes, next.version - 1,
                          "an update brings column {} of fragment {} in {}, where the table does "
                          "not have it, and does not say that it rewrites it",
                          id, current.id, file.first);
  }
  return arrow::Status::OK();
}

// Whether it brings files with other values, as callers say by the mode or by naming the fields.
bool WritesColumns(const Update& update) {
  return update.mode == Update::Mode::kRewriteColumns || !update.fields_modified.empty();
}

// What changes of a fragment are its deletions, and its files where columns are rewritten. Its
// lineage is that of its rows, which stay where they are, and overlays may have been laid since the
// operation was made.
arrow::Result<DataFragment> Updated(const Manifest& next, const Update& update,
                                    const std::set<int32_t>& live, const DataFragment& theirs) {
  ARROW_ASSIGN_OR_RAISE(DataFragment fragment, ParseExisting(next, theirs.id));
  for (const DataFile& file : theirs.files) ARROW_RETURN_NOT_OK(CheckFile(file));
  if (theirs.physical_rows != 0 && theirs.physical_rows != fragment.physical_rows) {
    return InvalidInput("an update leaves {} of the {} rows of fragment {}", theirs.physical_rows,
                        fragment.physical_rows, fragment.id);
  }
  std::set<int32_t> rewritten;
  for (const uint32_t id : update.fields_modified) rewritten.insert(static_cast<int32_t>(id));
  const bool in_place = update.mode == Update::Mode::kRewriteColumns;
  if (!in_place || !rewritten.empty()) {
    ARROW_RETURN_NOT_OK(CheckColumnsStand(next, fragment, theirs, live, rewritten));
  }
  const DataFragment before = fragment;
  fragment.deletion_file = theirs.deletion_file;
  if (in_place) ARROW_RETURN_NOT_OK(HideOverlays(fragment, rewritten, {next.path}));
  if (WritesColumns(update)) {
    fragment.files = theirs.files;
    DropDeadFiles(live, fragment);
  }
  KeepUnknownFields(before, fragment);
  ARROW_RETURN_NOT_OK(DropDeadOverlays(live, fragment, {next.path}).status());
  const auto offsets = update.updated_fragment_offsets.find(fragment.id);
  if (in_place && next.has_stable_row_ids() && offsets != update.updated_fragment_offsets.end()) {
    ARROW_ASSIGN_OR_RAISE(fragment.last_updated_at_versions,
                          RefreshVersions(fragment, offsets->second, next.version));
  }
  return fragment;
}

// The rows of a new fragment that come from somewhere: they come first and bring their ids.
arrow::Result<RowIdSequence> MovedRows(const DataFragment& fragment) {
  const auto* ids = std::get_if<wire::InlineSequence>(&fragment.row_ids);
  if (ids == nullptr) return RowIdSequence();
  return RowIdSequence::ParseFirst(wire::AsBytes(ids->bytes), fragment.physical_rows, kOperation);
}

// Rows behind those that moved are new and get ids now. All were changed here; those that moved
// were made when they were made.
arrow::Status GiveLineage(DataFragment& fragment, const RowIdSequence& moved,
                          const RowOrigins& origins, Manifest& next) {
  std::vector<VersionRun> created;
  for (const RowIdSequence::Run& run : moved.runs()) {
    if (run.first > next.next_row_id || run.length > next.next_row_id - run.first) {
      return InvalidInput("an update moves row {}, but the table has given ids up to {} only",
                          run.first + run.length - 1, next.next_row_id);
    }
    origins.Find(run.first, run.length, next.version, &created);
  }
  const uint64_t inserted = fragment.physical_rows - moved.size();
  if (inserted > 0) {
    std::vector<RowRange> ids;
    moved.AppendTo({0, moved.size()}, &ids);
    ids.push_back({next.next_row_id, next.next_row_id + inserted});
    created.push_back({inserted, next.version});
    next.next_row_id += inserted;
    fragment.row_ids = wire::InlineSequence{SerializeRowIds(ids)};
  }
  fragment.created_at_versions = wire::InlineSequence{SerializeRowVersions(created)};
  fragment.last_updated_at_versions = AllOfVersion(fragment, next.version);
  return arrow::Status::OK();
}

// Where the rows of a row-moving update came from and went to.
struct Moves {
  std::vector<uint64_t> from;
  std::vector<uint64_t> to;              // fragments that hold nothing but rows that moved
  std::map<int32_t, uint64_t> overlaid;  // fields of their old fragments, with the newest version
};

// An index that knows rows by their stable ids knows them where they moved to as well, if it knew
// them all where they came from and their values are what they were.
void CoverMovedRows(IndexList& indices, const Moves& moves, const std::set<int32_t>& changed,
                    const wire::Schema& schema) {
  for (Index& index : indices.indices()) {
    if (wire::IsSystem(index.entry) || wire::StoresRowAddresses(index.entry)) continue;
    if (!index.covered || index.HasField(changed)) continue;
    if (!index.covered->ContainsAll(moves.from)) continue;
    if (!IsOverlaid(index, moves.overlaid, schema)) index.covered->Add(moves.to);
  }
}

// Of a moving update that does not say which fields it changed, each may be.
arrow::Status UpdateIndices(Manifest& next, const Update& update, const Moves& moves) {
  if (next.index_section.empty()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(IndexList indices, IndicesOf(next));
  const auto related = [&](const std::vector<uint32_t>& fields) {
    return RelatedFields(next.schema, {fields.begin(), fields.end()});
  };
  if (!update.fields_modified.empty()) {
    std::vector<uint64_t> updated;
    for (const auto& fragment : update.updated_fragments) updated.push_back(fragment.id());
    ARROW_RETURN_NOT_OK(Withdraw(indices, updated, related(update.fields_modified)));
  }
  const auto& changed = update.fields_for_preserving_frag_bitmap;
  if (next.has_stable_row_ids() && update.mode == Update::Mode::kRewriteRows && !changed.empty()) {
    CoverMovedRows(indices, moves, related(changed), next.schema);
  }
  DropIrrelevant(indices, next);
  return indices.Serialize().Value(&next.index_section);
}

arrow::Result<RowOrigins> OriginsOf(const Manifest& manifest, const Moves& moves) {
  RowOrigins origins;
  for (const uint64_t id : moves.from) {
    ARROW_ASSIGN_OR_RAISE(const DataFragment source, ParseExisting(manifest, id));
    ARROW_RETURN_NOT_OK(origins.Add(source));
  }
  origins.Finish();
  return origins;
}

// The new fragments as they will be; which of them hold moved rows alone is noted.
arrow::Result<std::vector<DataFragment>> NewFragments(Manifest& next, const Update& update,
                                                      const std::set<int32_t>& live, Moves* moves) {
  ARROW_ASSIGN_OR_RAISE(auto added, WithIds(EntriesOf(update.new_fragments), next.max_fragment_id));
  RowOrigins origins;
  if (next.has_stable_row_ids()) {
    ARROW_ASSIGN_OR_RAISE(origins, OriginsOf(next, *moves));
  }
  for (DataFragment& fragment : added) {
    DropDeadFiles(live, fragment);
    if (!next.has_stable_row_ids()) {
      fragment.row_ids = std::monostate{};
      fragment.created_at_versions = std::monostate{};
      fragment.last_updated_at_versions = std::monostate{};
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(const RowIdSequence moved, MovedRows(fragment));
    const bool brings_all = std::holds_alternative<wire::InlineSequence>(fragment.row_ids) &&
                            moved.size() == fragment.physical_rows;
    if (brings_all) moves->to.push_back(fragment.id);
    ARROW_RETURN_NOT_OK(GiveLineage(fragment, moved, origins, next));
  }
  return added;
}

}  // namespace

arrow::Status ApplyTo(Manifest& next, const Update& update) {
  if (!update.compacted_sstables.empty()) {
    return Unsupported("an update that works off a write-ahead log");
  }
  const std::set<int32_t> live = LiveFields(next.schema);
  Moves moves{.from = update.removed_fragment_ids, .to = {}, .overlaid = {}};
  std::vector<DataFragment> updated;
  for (const DataFragment& theirs : update.updated_fragments | Entries) {
    ARROW_ASSIGN_OR_RAISE(updated.emplace_back(), Updated(next, update, live, theirs));
    moves.from.push_back(theirs.id);
  }
  for (const uint64_t id : moves.from) {
    ARROW_ASSIGN_OR_RAISE(const DataFragment source, ParseExisting(next, id));
    ARROW_RETURN_NOT_OK(CollectOverlaid(source, {next.path}, &moves.overlaid));
  }
  ARROW_ASSIGN_OR_RAISE(const auto added, NewFragments(next, update, live, &moves));
  ARROW_ASSIGN_OR_RAISE(next.fragments, next.fragments.Replace(updated));
  ARROW_ASSIGN_OR_RAISE(next.fragments, next.fragments.Remove(update.removed_fragment_ids));
  ARROW_ASSIGN_OR_RAISE(next.fragments, next.fragments.Insert(added));
  return UpdateIndices(next, update, moves);
}

}  // namespace glaive::table
