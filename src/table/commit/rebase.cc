#include "table/commit/rebase.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "table/manifest/fragments_in.h"
#include "table/operation/field_identity.h"
#include "table/operation/index_coverage.h"
#include "table/rows/deletion_vector.h"
#include "table/sets/roaring.h"
#include "wire/fields.h"
#include "wire/index.h"

namespace glaive::table {
namespace {

// The offsets in one fragment of rows given by their addresses, which ascend.
DeletionVector OffsetsIn(uint64_t fragment_id, const std::vector<uint64_t>& addresses) {
  const uint64_t first = fragment_id << 32;
  std::vector<uint32_t> offsets;
  for (auto address = std::ranges::lower_bound(addresses, first);
       address != addresses.end() && *address >> 32 == fragment_id; ++address) {
    offsets.push_back(static_cast<uint32_t>(*address));
  }
  return DeletionVector(std::move(offsets));
}

bool Meet(const DeletionVector& left, const DeletionVector& right) {
  return std::ranges::any_of(left.offsets(),
                             [&](uint32_t offset) { return right.Contains(offset); });
}

arrow::Result<DeletionVectorPtr> CurrentDeletions(const TableLocation& table,
                                                  const Manifest& latest,
                                                  const wire::DataFragment& fragment) {
  if (!fragment.deletion_file) return std::make_shared<const DeletionVector>();
  constexpr uint64_t kMostRows = uint64_t{1} << 32;  // where an old writer did not say
  const uint64_t rows = fragment.physical_rows != 0 ? fragment.physical_rows : kMostRows;
  return ReadDeletionFile(table, latest, fragment.id, *fragment.deletion_file, rows);
}

// What becomes of one fragment of a delete: a new deletion file, or none if no row is left.
arrow::Result<std::optional<wire::DeletionFile>> MergedDeletions(const TableLocation& table,
                                                                 const Manifest& latest,
                                                                 const wire::DataFragment& current,
                                                                 const DeletionVector& ours) {
  ARROW_ASSIGN_OR_RAISE(const auto theirs, CurrentDeletions(table, latest, current));
  if (Meet(ours, *theirs)) {
    return CommitConflict(Retry::kYes, latest.version,
                          "rows of fragment {} that this change is to hide are gone", current.id);
  }
  const DeletionVector both = ours.Union(*theirs);
  if (both.size() == current.physical_rows) return std::nullopt;
  return WriteDeletionFile(table, current.id, latest.version, both);
}

// Fits a Delete or an Update, whose removed fragments are `removed`, to `latest`.
template <typename RowChange>
arrow::Status RebaseRows(const TableLocation& table, const Manifest& seen, const Manifest& latest,
                         RowChange& change, std::vector<uint64_t>& removed, RebasedFiles* files) {
  std::vector<FragmentMetadata> left;
  for (FragmentMetadata& fragment : change.updated_fragments) {
    const auto before = seen.fragments.Find(fragment.id());
    const auto now = latest.fragments.Find(fragment.id());
    if (!before || !now) return InvalidInput("fragment {} is not in the table", fragment.id());
    ARROW_ASSIGN_OR_RAISE(const wire::DataFragment read, before->Parse());
    ARROW_ASSIGN_OR_RAISE(const wire::DataFragment current, now->Parse());
    if (read.deletion_file == current.deletion_file) {
      left.push_back(std::move(fragment));
      continue;
    }
    wire::DataFragment ours = StateOf(fragment)->fragment;
    if (!change.affected_rows) {
      return CommitConflict(Retry::kYes, latest.version,
                            "other rows of fragment {} were deleted meanwhile", ours.id);
    }
    const DeletionVector offsets = OffsetsIn(ours.id, *change.affected_rows);
    ARROW_ASSIGN_OR_RAISE(const auto merged, MergedDeletions(table, latest, current, offsets));
    if (ours.deletion_file && !ours.deletion_file->base_id) {
      files->superseded.push_back(table.Path(DeletionFilePath(ours.id, *ours.deletion_file)));
    }
    if (!merged) {
      removed.push_back(ours.id);
      continue;
    }
    files->written.push_back(table.Path(DeletionFilePath(ours.id, *merged)));
    ours.deletion_file = merged;
    left.push_back(MakeFragmentMetadata(std::move(ours)));
  }
  change.updated_fragments = std::move(left);
  return arrow::Status::OK();
}

// Whether columns of `fields` lie in other files than they did, or have values laid over them.
arrow::Result<bool> WasWrittenAnew(const Fragment& before, const Fragment& now,
                                   const std::set<int32_t>& fields) {
  if (std::ranges::equal(before.message(), now.message())) return false;
  ARROW_ASSIGN_OR_RAISE(const wire::DataFragment read, before.Parse());
  ARROW_ASSIGN_OR_RAISE(const wire::DataFragment current, now.Parse());
  const auto columns = [&](const wire::DataFragment& fragment) {
    std::set<std::tuple<int32_t, std::string, std::optional<uint32_t>>> found;
    for (const wire::DataFile& file : fragment.files) {
      for (const int32_t id : file.fields) {
        if (fields.contains(id)) found.emplace(id, file.path, file.base_id);
      }
    }
    return found;
  };
  return columns(read) != columns(current);
}

// The entry without the fragments whose values it was not built from. Overlays say by themselves
// that they are newer.
arrow::Status RebaseIndex(const Manifest& seen, const Manifest& latest, IndexMetadata& entry) {
  ARROW_ASSIGN_OR_RAISE(Index index,
                        IndexList::ParseEntry(wire::Serialize(entry), {"(operation)"}));
  if (!index.covered || wire::IsSystem(entry)) return arrow::Status::OK();
  const std::set<int32_t> fields =
      RelatedFields(latest.schema, {index.entry.fields.begin(), index.entry.fields.end()});
  std::vector<uint64_t> stale;
  for (const uint64_t id : FragmentsIn(seen.fragments, index.covered->ranges())) {
    const auto now = latest.fragments.Find(id);
    if (!now) continue;
    ARROW_ASSIGN_OR_RAISE(const bool changed,
                          WasWrittenAnew(*seen.fragments.Find(id), *now, fields));
    if (changed) stale.push_back(id);
  }
  if (stale.empty()) return arrow::Status::OK();
  index.covered->Remove(std::move(stale));
  entry.fragment_bitmap = index.covered->Serialize();
  return arrow::Status::OK();
}

}  // namespace

arrow::Status Rebase(const TableLocation& table, const Manifest& seen, const Manifest& latest,
                     Operation* operation, RebasedFiles* files) {
  ARROW_RETURN_NOT_OK(CheckFieldsStand(seen, latest, *operation));
  if (auto* project = std::get_if<Project>(operation)) return CarryMetadata(seen, latest, project);
  if (auto* deletion = std::get_if<Delete>(operation)) {
    return RebaseRows(table, seen, latest, *deletion, deletion->deleted_fragment_ids, files);
  }
  if (auto* change = std::get_if<CreateIndex>(operation)) {
    for (IndexMetadata& index : change->new_indices) {
      ARROW_RETURN_NOT_OK(RebaseIndex(seen, latest, index));
    }
    return arrow::Status::OK();
  }
  auto* update = std::get_if<Update>(operation);
  if (update == nullptr) return arrow::Status::OK();
  return RebaseRows(table, seen, latest, *update, update->removed_fragment_ids, files);
}

arrow::Status CheckCoverage(const TableLocation& table, const Manifest& seen,
                            const Manifest& latest, const DataOverlay& overlay) {
  for (const auto& [fragment_id, overlays] : overlay.groups) {
    const auto before = seen.fragments.Find(fragment_id);
    const auto now = latest.fragments.Find(fragment_id);
    if (!before || !now) return InvalidInput("fragment {} is not in the table", fragment_id);
    ARROW_ASSIGN_OR_RAISE(const wire::DataFragment read, before->Parse());
    ARROW_ASSIGN_OR_RAISE(const wire::DataFragment current, now->Parse());
    if (read.deletion_file == current.deletion_file) continue;
    ARROW_ASSIGN_OR_RAISE(const auto old_rows, CurrentDeletions(table, seen, read));
    ARROW_ASSIGN_OR_RAISE(const auto rows, CurrentDeletions(table, latest, current));
    for (const OverlayFile& file : overlays) {
      for (const std::string& bitmap : file.offset_bitmaps) {
        ARROW_ASSIGN_OR_RAISE(const auto covered,
                              ParseRoaring(wire::AsBytes(bitmap), {"(operation)"}));
        const bool gone = std::ranges::any_of(rows->offsets(), [&](uint32_t offset) {
          return !old_rows->Contains(offset) &&
                 std::ranges::any_of(covered, [&](const RowRange& range) {
                   return range.begin <= offset && offset < range.end;
                 });
        });
        if (!gone) continue;
        return CommitConflict(Retry::kYes, latest.version,
                              "rows of fragment {} that overlay {} covers were moved", fragment_id,
                              file.data_file.path);
      }
    }
  }
  return arrow::Status::OK();
}

}  // namespace glaive::table
