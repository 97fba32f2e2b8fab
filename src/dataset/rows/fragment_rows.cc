#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/durability.h"
#include "dataset/handle/edited_fragment.h"
#include "glaive/columns.h"
#include "read/snapshot.h"
#include "table/manifest/fragment_metadata.h"
#include "table/rows/deletion_vector.h"

namespace glaive {
namespace {

// The fragment with `more` deleted as well; the deletion file names all of them.
arrow::Result<std::optional<FragmentMetadata>> WithDeleted(const Dataset& dataset,
                                                           wire::DataFragment fragment,
                                                           table::DeletionVector more,
                                                           const VersionOptions& options) {
  const read::Snapshot snapshot = dataset::SnapshotOf(dataset);
  ARROW_ASSIGN_OR_RAISE(const uint64_t rows, read::PhysicalRows(snapshot, fragment));
  ARROW_ASSIGN_OR_RAISE(const auto before, read::Deletions(snapshot, fragment, rows));
  if (!more.empty() && more.offsets().back() >= rows) {
    return InvalidInput("row {} is not one of the {} of fragment {}", more.offsets().back(), rows,
                        fragment.id);
  }
  const table::DeletionVector deleted = before->Union(more);
  if (deleted.size() == rows) return std::nullopt;
  if (deleted.size() == before->size()) return table::MakeFragmentMetadata(std::move(fragment));
  ARROW_ASSIGN_OR_RAISE(fragment.deletion_file,
                        table::WriteDeletionFile(snapshot.location, fragment.id,
                                                 snapshot.manifest->version, deleted));
  fragment.deletion_file->base_id.reset();
  dataset::NewFiles files(snapshot.location.store);
  files.Add(snapshot.location.Path(table::DeletionFilePath(fragment.id, *fragment.deletion_file)));
  ARROW_RETURN_NOT_OK(
      dataset::HandOver(*StateOf(dataset)->location.store, files, options.durability));
  return table::MakeFragmentMetadata(std::move(fragment));
}

}  // namespace

arrow::Result<std::optional<FragmentMetadata>> DeleteFromFragment(const Dataset& dataset,
                                                                  uint64_t fragment_id,
                                                                  const Predicate& predicate,
                                                                  const VersionOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto fragment, dataset::FragmentOf(dataset, fragment_id));
  ScanOptions scan;
  scan.columns = {{"_rowaddr"}};
  scan.filter = predicate;
  scan.fragment_ids = {{fragment_id}};
  ARROW_ASSIGN_OR_RAISE(const auto hits, Scan(dataset, scan));
  std::vector<uint32_t> offsets;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, hits->Next());
    if (batch == nullptr) break;
    const auto& addresses = static_cast<const arrow::UInt64Array&>(*batch->column(0));
    for (int64_t row = 0; row < addresses.length(); ++row) {
      offsets.push_back(static_cast<uint32_t>(addresses.Value(row)));
    }
    if (options.progress) ARROW_RETURN_NOT_OK(options.progress({.rows = offsets.size()}));
  }
  return WithDeleted(dataset, std::move(fragment), table::DeletionVector(std::move(offsets)),
                     options);
}

arrow::Result<std::optional<FragmentMetadata>> DeleteFragmentRows(const Dataset& dataset,
                                                                  uint64_t fragment_id,
                                                                  std::span<const uint64_t> offsets,
                                                                  const VersionOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto fragment, dataset::FragmentOf(dataset, fragment_id));
  std::vector<uint32_t> sorted;
  for (const uint64_t offset : offsets) {
    if (offset > UINT32_MAX) {
      return InvalidInput("row {} is not one of fragment {}", offset, fragment_id);
    }
    sorted.push_back(static_cast<uint32_t>(offset));
  }
  std::ranges::sort(sorted);
  const auto repeated = std::ranges::unique(sorted);
  sorted.erase(repeated.begin(), repeated.end());
  return WithDeleted(dataset, std::move(fragment), table::DeletionVector(std::move(sorted)),
                     options);
}

arrow::Result<FragmentRows> RowsOfFragment(const Dataset& dataset,
                                           const FragmentMetadata& fragment) {
  const wire::DataFragment& entry = StateOf(fragment)->fragment;
  const read::Snapshot snapshot = dataset::SnapshotOf(dataset);
  FragmentRows rows;
  ARROW_ASSIGN_OR_RAISE(rows.physical, read::PhysicalRows(snapshot, entry));
  ARROW_ASSIGN_OR_RAISE(const uint64_t live, read::LiveRows(snapshot, entry));
  rows.deleted = rows.physical - live;
  return rows;
}

}  // namespace glaive
