#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "core/file_version.h"
#include "dataset/merge/match.h"
#include "dataset/merge/source.h"
#include "dataset/write/fragment_writer.h"
#include "glaive/version_options.h"
#include "read/projection.h"
#include "read/snapshot.h"

namespace glaive::dataset {

// Makes rows of a table out of those of a source, which may lack columns: where they replace rows
// they keep those of the row replaced, elsewhere these are null. Immutable.
class MergedRows {
 public:
  // The source's columns are the table's, or parts of its structs.
  static arrow::Result<MergedRows> Make(read::Snapshot snapshot, MergeSource source);

  // All columns of the table, in its order; TooLarge (core/pieces.h) where several rows take more
  // than a batch should.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Replace(
      std::span<const MatchedRow> rows) const;
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Insert(std::span<const uint32_t> rows) const;

  // How many rows make a batch of a sensible size.
  size_t BatchRows() const;

 private:
  struct Column {
    int source = -1;  // of the source; -1: it does not have it
    int target = -1;  // of what is read of the table; -1: all is in the source
  };

  MergedRows(read::Snapshot snapshot, MergeSource source)
      : snapshot_(std::move(snapshot)), source_(std::move(source)) {}
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Assemble(
      const arrow::RecordBatch& source, const arrow::RecordBatch* target) const;

  read::Snapshot snapshot_;
  MergeSource source_;
  std::shared_ptr<arrow::Schema> schema_;         // the table's
  std::vector<Column> columns_;                   // of the table
  std::shared_ptr<const read::Projection> kept_;  // of the table; null: nothing is read
};

struct MergedWriteOptions {
  FileVersion version = FileVersion::k2_2;
  ProgressCallback progress;
};

// Writes the rows that replace others, in the order given, and then those that are new.
arrow::Result<WrittenFragments> WriteMergedRows(const read::Snapshot& snapshot,
                                                const MergedRows& rows,
                                                std::span<const MatchedRow> replacing,
                                                std::span<const uint32_t> inserted,
                                                const MergedWriteOptions& options);

}  // namespace glaive::dataset
