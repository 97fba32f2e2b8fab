#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "table/operation/apply_operations.h"
#include "table/rows/row_lineage.h"
#include "table/sets/roaring.h"
#include "wire/fields.h"
#include "wire/overlay.h"

namespace glaive::table {
namespace {

using wire::DataFragment;
using wire::DataOverlayFile;

constexpr Location kOperation = {"(operation)"};

// Readers of today refuse a table with overlays unless this is set, so it has to be for whoever
// makes one.
constexpr const char* kEnabled = "LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES";

arrow::Result<std::vector<RowRange>> CoveredRows(const DataOverlayFile& overlay) {
  std::vector<RowRange> all;
  for (const std::string& bitmap : overlay.offset_bitmaps) {
    ARROW_ASSIGN_OR_RAISE(const auto ranges, ParseRoaring(wire::AsBytes(bitmap), kOperation));
    all.insert(all.end(), ranges.begin(), ranges.end());
  }
  std::ranges::sort(all, {}, &RowRange::begin);
  std::vector<RowRange> covered;
  for (const RowRange& range : all) {
    if (!covered.empty() && range.begin <= covered.back().end) {
      covered.back().end = std::max(covered.back().end, range.end);
    } else {
      covered.push_back(range);
    }
  }
  return covered;
}

arrow::Status CheckOverlay(const Manifest& next, const DataFragment& fragment,
                           const DataOverlayFile& overlay, const std::vector<RowRange>& covered) {
  const wire::DataFile& file = overlay.data_file;
  ARROW_RETURN_NOT_OK(CheckFile(file));
  if (overlay.offset_bitmaps.size() != (overlay.per_field ? file.fields.size() : 1)) {
    return InvalidInput("overlay {} covers {} fields with {} sets of rows", file.path,
                        file.fields.size(), overlay.offset_bitmaps.size());
  }
  std::set<int32_t> known;
  wire::CollectFieldIds(next.schema.fields, &known);
  for (const int32_t id : file.fields) {
    if (id == wire::kTombstoneFieldId || known.contains(id)) continue;
    return InvalidInput("overlay {} supplies field {}, which the table does not have", file.path,
                        id);
  }
  if (fragment.physical_rows != 0 && !covered.empty() &&
      covered.back().end > fragment.physical_rows) {
    return InvalidInput("overlay {} covers row {} of fragment {}, which has {} rows", file.path,
                        covered.back().end - 1, fragment.id, fragment.physical_rows);
  }
  return arrow::Status::OK();
}

// The rows covered count as changed by this version.
arrow::Status Refresh(const Manifest& next, DataFragment& fragment,
                      const std::vector<RowRange>& covered) {
  if (!next.has_stable_row_ids() || covered.empty()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto versions, UpdatedVersionsOf(fragment, kOperation));
  fragment.last_updated_at_versions =
      wire::InlineSequence{SerializeRowVersions(WithVersion(versions, covered, next.version))};
  return arrow::Status::OK();
}

}  // namespace

// Laid over what the fragment has by now: the newest is the last.
arrow::Status ApplyTo(Manifest& next, const DataOverlay& operation) {
  if (next.fragments.totals().overlays == 0 && std::getenv(kEnabled) == nullptr) {
    return Unsupported(
        "the first overlay of a table, which most readers refuse then; set {} to "
        "allow it",
        kEnabled);
  }
  std::map<uint64_t, DataFragment> changed;
  for (const DataOverlay::Group& group : operation.groups) {
    if (!changed.contains(group.fragment_id)) {
      ARROW_ASSIGN_OR_RAISE(changed[group.fragment_id], ParseExisting(next, group.fragment_id));
    }
    DataFragment& fragment = changed[group.fragment_id];
    for (DataOverlayFile overlay : group.overlays) {
      ARROW_ASSIGN_OR_RAISE(const auto covered, CoveredRows(overlay));
      ARROW_RETURN_NOT_OK(CheckOverlay(next, fragment, overlay, covered));
      ARROW_RETURN_NOT_OK(Refresh(next, fragment, covered));
      overlay.committed_version = next.version;
      fragment.overlays.push_back(wire::Serialize(overlay));
    }
  }
  std::vector<DataFragment> fragments;
  for (auto& [id, fragment] : changed) fragments.push_back(std::move(fragment));
  return next.fragments.Replace(fragments).Value(&next.fragments);
}

}  // namespace glaive::table
