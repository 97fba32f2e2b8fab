#include "read/snapshot.h"

#include <span>
#include <utility>

#include "core/error.h"
#include "table/manifest/file_place.h"

namespace glaive::read {

arrow::Result<std::shared_ptr<file::FileReader>> OpenDataFile(const Snapshot& snapshot,
                                                              const wire::DataFile& file) {
  ARROW_ASSIGN_OR_RAISE(const table::FilePlace place,
                        table::PlaceOf(snapshot.location, *snapshot.manifest,
                                       table::FileKind::kData, file.path, file.base_id));
  std::optional<uint64_t> size_bytes;
  if (file.file_size_bytes != 0) size_bytes = file.file_size_bytes;
  return snapshot.cache->OpenFile(place.store, place.path, size_bytes);
}

arrow::Result<uint64_t> PhysicalRows(const Snapshot& snapshot, const wire::DataFragment& fragment) {
  if (fragment.physical_rows != 0 || fragment.files.empty()) return fragment.physical_rows;
  ARROW_ASSIGN_OR_RAISE(const auto file, OpenDataFile(snapshot, fragment.files.front()));
  return file->metadata().num_rows;
}

arrow::Result<table::DeletionVectorPtr> Deletions(const Snapshot& snapshot,
                                                  const wire::DataFragment& fragment,
                                                  uint64_t physical_rows) {
  if (!fragment.deletion_file) return std::make_shared<const table::DeletionVector>();
  return snapshot.cache->OpenDeletions(snapshot.location, *snapshot.manifest, fragment,
                                       physical_rows);
}

arrow::Result<uint64_t> LiveRows(const Snapshot& snapshot, const wire::DataFragment& fragment) {
  ARROW_ASSIGN_OR_RAISE(const uint64_t physical_rows, PhysicalRows(snapshot, fragment));
  if (!fragment.deletion_file) return physical_rows;
  uint64_t deleted = fragment.deletion_file->num_deleted_rows;
  if (deleted == 0) {
    ARROW_ASSIGN_OR_RAISE(const auto deletions, Deletions(snapshot, fragment, physical_rows));
    deleted = deletions->size();
  }
  if (deleted > physical_rows) {
    return Corrupt({snapshot.manifest->path}, "fragment {} has {} rows and {} deleted ones",
                   fragment.id, physical_rows, deleted);
  }
  return physical_rows - deleted;
}

arrow::Result<std::optional<table::RowIdSequence>> StableRowIds(const Snapshot& snapshot,
                                                                const wire::DataFragment& fragment,
                                                                uint64_t physical_rows) {
  const table::Manifest& manifest = *snapshot.manifest;
  if (!manifest.has_stable_row_ids()) return std::nullopt;
  if (std::holds_alternative<wire::ColumnSequence>(fragment.row_ids)) {
    return Unsupported("row ids of fragment {} lie in a data file, where they are not read",
                       fragment.id);
  }
  const auto* sequence = std::get_if<wire::InlineSequence>(&fragment.row_ids);
  if (sequence == nullptr) {
    return Corrupt({manifest.path}, "fragment {} has no row ids, on a table with stable ones",
                   fragment.id);
  }
  ARROW_ASSIGN_OR_RAISE(auto ids,
                        table::RowIdSequence::Parse(std::as_bytes(std::span(sequence->bytes)),
                                                    physical_rows, {manifest.path}));
  return ids;
}

}  // namespace glaive::read
