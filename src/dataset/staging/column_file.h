#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "core/ranges.h"
#include "dataset/handle/new_files.h"
#include "dataset/write/fragment_writer.h"
#include "read/snapshot.h"
#include "table/rows/deletion_vector.h"
#include "wire/fragment.h"
#include "wire/schema.h"

namespace glaive::dataset {

// A data file that is to lie beside the others of a fragment.
struct ColumnFile {
  std::optional<wire::DataFile> file;  // nothing for a fragment without rows
  NewFiles files;
};

// Writes some fields of all physical rows of a fragment into one new file. Values come for the live
// rows; deleted ones get nulls, or where those may not be, empty values of no size. Destroyed
// without Finish it leaves no file. Not thread safe.
class ColumnFileWriter {
 public:
  // `fields` with their ids; structs may be parts of the table's.
  static arrow::Result<ColumnFileWriter> Make(const read::Snapshot& snapshot, wire::Schema fields,
                                              table::DeletionVectorPtr deletions,
                                              uint64_t physical_rows);

  // Values of the live rows among the next `physical_rows`, in order. Errors: InvalidInput for
  // another number of rows, or columns that do not fit the fields.
  arrow::Status Write(uint64_t physical_rows, const std::shared_ptr<arrow::RecordBatch>& live);

  // Values of the next live rows, wherever they are. Errors: the same.
  arrow::Status WriteLive(const std::shared_ptr<arrow::RecordBatch>& live);

  uint64_t rows() const { return rows_; }  // that were given values

  // Errors: InvalidInput unless all rows were written.
  arrow::Result<ColumnFile> Finish() &&;

 private:
  ColumnFileWriter(FragmentWriter writer, wire::Schema fields, table::DeletionVectorPtr deletions,
                   uint64_t physical_rows);

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> WithDeleted(
      RowRange physical, const std::shared_ptr<arrow::RecordBatch>& live) const;
  arrow::Status WriteFilled(RowRange physical, const std::shared_ptr<arrow::RecordBatch>& live);
  arrow::Status WriteRange(RowRange physical, const std::shared_ptr<arrow::RecordBatch>& live);
  arrow::Status WriteDeleted(RowRange physical);

  FragmentWriter writer_;
  wire::Schema fields_;
  table::DeletionVectorPtr deletions_;
  uint64_t physical_rows_;
  uint64_t rows_ = 0;      // that are in the file
  uint64_t num_live_ = 0;  // of those that came as live ones
};

// `file` beside the other files of the fragment, whose columns of the same fields are dead from now
// on. What holds nothing else goes.
void AddFile(wire::DataFragment* fragment, const wire::DataFile& file);

}  // namespace glaive::dataset
