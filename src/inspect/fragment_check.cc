#include "inspect/fragment_check.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "dataset/refs/file_references.h"
#include "file/file_reader.h"
#include "read/fragment_reader.h"
#include "read/row_pieces.h"
#include "table/rows/deletion_vector.h"
#include "table/rows/row_ids.h"

namespace glaive::inspect {
namespace {

constexpr uint64_t kDecodedBytes = uint64_t{16} << 20;  // about, at a time

class Checker {
 public:
  Checker(const read::Snapshot& snapshot, const wire::DataFragment& fragment)
      : snapshot_(snapshot), fragment_(fragment) {}

  arrow::Result<FragmentCheck> Run(const std::shared_ptr<const read::Projection>& columns) {
    ARROW_RETURN_NOT_OK(Note(CheckEntry()));
    ARROW_ASSIGN_OR_RAISE(const auto files, dataset::FilesOf(fragment_, snapshot_.manifest->path));
    check_.num_data_files = files.size();
    check_.physical_rows = fragment_.physical_rows;
    for (size_t i = 0; i < files.size(); ++i) {
      ARROW_RETURN_NOT_OK(Note(CheckDataFile(files[i], i >= fragment_.files.size())));
    }
    const bool are_rows_known = check_.physical_rows != 0;
    if (are_rows_known) ARROW_RETURN_NOT_OK(Note(CheckDeletions()));
    if (!check_.findings.empty()) return std::move(check_);
    ARROW_RETURN_NOT_OK(Note(CheckLineage()));
    // Which file has which column, and whether any has what must not be null.
    const auto reader = read::FragmentReader::Open(snapshot_, fragment_, columns);
    ARROW_RETURN_NOT_OK(Note(reader.status()));
    return std::move(check_);
  }

 private:
  // Keeps an error as a finding; passes on one that ends the check.
  arrow::Status Note(const arrow::Status& status) {
    if (status.ok()) return status;
    if (EndsCheck(status)) return status;
    check_.findings.push_back(FindingOf(status, fragment_.id));
    return arrow::Status::OK();
  }

  // Each column of a file has a field, and no field that is alive has two columns.
  arrow::Status CheckEntry() const {
    std::map<int32_t, std::string> owners;
    for (const wire::DataFile& file : fragment_.files) {
      if (!file.column_indices.empty() && file.column_indices.size() != file.fields.size()) {
        return Corrupt({snapshot_.manifest->path}, "{} has {} fields in {} columns", file.path,
                       file.fields.size(), file.column_indices.size());
      }
      for (const int32_t field : file.fields) {
        if (field < 0) continue;
        const auto [owner, is_new] = owners.emplace(field, file.path);
        if (is_new || owner->second == file.path) continue;
        return Corrupt({snapshot_.manifest->path}, "field {} lies in {} and in {}", field,
                       owner->second, file.path);
      }
    }
    return arrow::Status::OK();
  }

  arrow::Status CheckDataFile(const wire::DataFile& file, bool is_overlay) {
    ARROW_ASSIGN_OR_RAISE(const table::FilePlace place,
                          table::PlaceOf(snapshot_.location, *snapshot_.manifest,
                                         table::FileKind::kData, file.path, file.base_id));
    ARROW_ASSIGN_OR_RAISE(const auto info, place.store->Head(place.path));
    if (!info) return FileNotFound({place.path}, "the data file is not there");
    if (file.file_size_bytes != 0 && info->size_bytes != file.file_size_bytes) {
      return Corrupt({place.path}, "it has {} bytes, expected {} as the manifest says",
                     info->size_bytes, file.file_size_bytes);
    }
    ARROW_ASSIGN_OR_RAISE(const auto reader, read::OpenDataFile(snapshot_, file));
    const file::FileMetadata& metadata = reader->metadata();
    if (check_.physical_rows == 0 && !is_overlay) check_.physical_rows = metadata.num_rows;
    if (!is_overlay && metadata.num_rows != check_.physical_rows) {
      return Corrupt({place.path}, "it holds {} rows, expected {}", metadata.num_rows,
                     check_.physical_rows);
    }
    for (const int32_t column : file.column_indices) {
      if (column < static_cast<int32_t>(metadata.columns.size())) continue;
      return Corrupt({place.path}, "it has {} columns, the manifest names column {}",
                     metadata.columns.size(), column);
    }
    return arrow::Status::OK();
  }

  arrow::Status CheckDeletions() {
    check_.live_rows = check_.physical_rows;
    if (!fragment_.deletion_file) return arrow::Status::OK();
    ++check_.num_deletion_files;
    ARROW_ASSIGN_OR_RAISE(deletions_, read::Deletions(snapshot_, fragment_, check_.physical_rows));
    const uint64_t expected = fragment_.deletion_file->num_deleted_rows;
    if (expected != 0 && expected != deletions_->size()) {
      return Corrupt({table::DeletionFilePath(fragment_.id, *fragment_.deletion_file)},
                     "it deletes {} rows, expected {} as the manifest says", deletions_->size(),
                     expected);
    }
    check_.live_rows -= deletions_->size();
    return arrow::Status::OK();
  }

  arrow::Status CheckLineage() {
    ARROW_ASSIGN_OR_RAISE(const auto ids,
                          read::StableRowIds(snapshot_, fragment_, check_.physical_rows));
    if (!ids) return arrow::Status::OK();
    const Location where = {snapshot_.manifest->path};
    for (const wire::RowSequence* versions :
         {&fragment_.created_at_versions, &fragment_.last_updated_at_versions}) {
      const auto* sequence = std::get_if<wire::InlineSequence>(versions);
      if (sequence == nullptr) continue;
      ARROW_RETURN_NOT_OK(table::ParseRowVersions(std::as_bytes(std::span(sequence->bytes)),
                                                  check_.physical_rows, where)
                              .status());
    }
    CollectLiveIds(*ids);
    return arrow::Status::OK();
  }

  void CollectLiveIds(const table::RowIdSequence& ids) {
    const table::DeletionVector nothing;
    const table::DeletionVector& deletions = deletions_ != nullptr ? *deletions_ : nothing;
    const std::vector<RowRange> live = deletions.LiveRanges({0, check_.physical_rows});
    auto range = live.begin();
    for (const auto& run : ids.runs()) {
      const uint64_t end = run.offset + run.length;
      while (range != live.end() && range->end <= run.offset) ++range;
      for (auto part = range; part != live.end() && part->begin < end; ++part) {
        const uint64_t first = std::max(part->begin, run.offset) - run.offset + run.first;
        const uint64_t last = std::min(part->end, end) - run.offset + run.first;
        check_.live_row_ids.push_back({first, last});
      }
    }
  }

  const read::Snapshot& snapshot_;
  const wire::DataFragment& fragment_;
  FragmentCheck check_;
  table::DeletionVectorPtr deletions_;
};

arrow::Status CheckColumn(const arrow::Field& field, const arrow::Array& values, uint64_t id,
                          RowRange rows) {
  const arrow::Status valid = values.ValidateFull();
  if (!valid.ok()) {
    return Corrupt({"fragment " + std::to_string(id)}, "column '{}', rows {} to {}: {}",
                   field.name(), rows.begin, rows.end, valid.message());
  }
  if (!field.nullable() && values.null_count() > 0) {
    return Corrupt({"fragment " + std::to_string(id)},
                   "column '{}' must not be null, but {} of rows {} to {} are", field.name(),
                   values.null_count(), rows.begin, rows.end);
  }
  return arrow::Status::OK();
}

}  // namespace

bool EndsCheck(const arrow::Status& status) {
  const ErrorKind kind = KindOf(status);
  return kind == ErrorKind::kCancelled || kind == ErrorKind::kOutOfMemory;
}

Finding FindingOf(const arrow::Status& status, std::optional<uint64_t> fragment_id) {
  const ErrorDetail* detail = ErrorDetail::Of(status);
  Finding finding = {
      .kind = KindOf(status), .fragment_id = fragment_id, .message = status.message()};
  if (detail != nullptr) finding.path = detail->path();
  if (finding.kind == ErrorKind::kUnsupported) finding.severity = Severity::kWarning;
  return finding;
}

arrow::Result<FragmentCheck> CheckFragment(const read::Snapshot& snapshot,
                                           const wire::DataFragment& fragment,
                                           const std::shared_ptr<const read::Projection>& columns) {
  return Checker(snapshot, fragment).Run(columns);
}

arrow::Status DecodeRows(const read::Snapshot& snapshot, const wire::DataFragment& fragment,
                         const std::shared_ptr<const read::Projection>& columns, RowRange rows,
                         std::vector<Finding>* findings) {
  const auto decode = [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const auto reader,
                          read::FragmentReader::Open(snapshot, fragment, columns));
    read::RowPieces pieces(*reader, {rows}, {.bytes = kDecodedBytes});
    while (!pieces.at_end()) {
      const uint64_t begin = rows.begin + pieces.done();
      ARROW_ASSIGN_OR_RAISE(const auto batch,
                            pieces.Next([](std::shared_ptr<arrow::RecordBatch> read) {
                              return arrow::Result(std::move(read));
                            }));
      const RowRange piece{begin, rows.begin + pieces.done()};
      for (int i = 0; i < batch->num_columns(); ++i) {
        ARROW_RETURN_NOT_OK(
            CheckColumn(*batch->schema()->field(i), *batch->column(i), fragment.id, piece));
      }
    }
    return arrow::Status::OK();
  };
  const arrow::Status status = decode();
  if (status.ok()) return status;
  if (EndsCheck(status)) return status;
  findings->push_back(FindingOf(status, fragment.id));
  return arrow::Status::OK();
}

}  // namespace glaive::inspect
