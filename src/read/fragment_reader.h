#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "core/ranges.h"
#include "read/field_source.h"
#include "read/overlay_reader.h"
#include "read/projection.h"
#include "read/row_versions.h"
#include "read/snapshot.h"
#include "table/rows/row_ids.h"

namespace glaive::read {

// Reads the rows of one fragment. Immutable and thread safe.
class FragmentReader {
 public:
  // Opens the files that hold columns of the projection, and no others (but one at least).
  // `first_live_row` is how many live rows the fragments before this one have; only the row offset
  // column asks for it.
  static arrow::Result<std::shared_ptr<const FragmentReader>> Open(
      Snapshot snapshot, wire::DataFragment fragment, std::shared_ptr<const Projection> projection,
      uint64_t first_live_row = 0);

  // Physical rows, deleted ones too: their row ids are null then. Values of files, or of overlays,
  // that take more than `most_bytes` are TooLarge (core/pieces.h). REQUIRES: ascending ranges.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Read(std::span<const RowRange> rows,
                                                          uint64_t most_bytes) const;

  // About what a row takes decoded, from `row` on until the row where that changes.
  file::FileReader::RowSize SizeFrom(uint64_t row) const;

  uint64_t physical_rows() const { return physical_rows_; }
  const table::DeletionVector& deletions() const { return *deletions_; }
  std::vector<RowRange> LiveRanges() const { return deletions_->LiveRanges({0, physical_rows_}); }

 private:
  FragmentReader() = default;
  arrow::Status OpenFiles();
  arrow::Status OpenLineage();
  arrow::Result<std::shared_ptr<file::FileReader>> OpenFile(const wire::DataFile& data_file) const;
  arrow::Result<arrow::ArrayVector> ReadFields(std::span<const RowRange> rows,
                                               uint64_t most_bytes) const;
  arrow::Result<std::shared_ptr<arrow::Array>> SystemValues(SystemColumn column,
                                                            std::span<const RowRange> rows) const;
  void FillSystem(SystemColumn column, std::span<const RowRange> rows, uint64_t* out) const;
  void FillOffsets(std::span<const RowRange> rows, uint64_t* out) const;
  arrow::Result<std::shared_ptr<arrow::Buffer>> LiveBitmap(std::span<const RowRange> rows,
                                                           int64_t* deleted_count) const;

  Snapshot snapshot_;
  wire::DataFragment fragment_;
  std::shared_ptr<const Projection> projection_;
  std::vector<FieldSource> sources_;                      // of the projection's fields
  std::vector<std::shared_ptr<file::FileReader>> files_;  // of the fragment; null: not needed
  // What is read of each file, and for which field and leaf.
  struct FileReads {
    std::vector<file::ColumnRead> columns;
    std::vector<std::pair<size_t, size_t>> places;
  };
  std::vector<FileReads> reads_;
  OverlayReader overlays_;
  table::DeletionVectorPtr deletions_;
  std::optional<table::RowIdSequence> row_ids_;  // nothing: they are the addresses
  std::optional<RowVersions> created_at_;        // where the projection has them
  std::optional<RowVersions> last_updated_at_;
  uint64_t physical_rows_ = 0;
  uint64_t first_live_row_ = 0;
};

}  // namespace glaive::read
