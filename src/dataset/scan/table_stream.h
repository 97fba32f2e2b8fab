#pragma once

#include <memory>
#include <utility>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/table.h>

#include "glaive/scan.h"

namespace glaive::dataset {

// A result that is in memory already, in batches.
class TableStream final : public ScanStream {
 public:
  TableStream(std::shared_ptr<arrow::Table> table, int64_t batch_rows)
      : table_(std::move(table)), reader_(table_) {
    reader_.set_chunksize(batch_rows);
  }

  std::shared_ptr<arrow::Schema> schema() const override { return table_->schema(); }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    std::shared_ptr<arrow::RecordBatch> batch;
    ARROW_RETURN_NOT_OK(reader_.ReadNext(&batch));
    return batch;
  }

 private:
  std::shared_ptr<arrow::Table> table_;
  arrow::TableBatchReader reader_;
};

// All that is left of a scan.
inline arrow::Result<arrow::RecordBatchVector> ReadBatches(ScanStream& stream) {
  arrow::RecordBatchVector batches;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(auto batch, stream.Next());
    if (batch == nullptr) return batches;
    batches.push_back(std::move(batch));
  }
}

inline arrow::Result<std::shared_ptr<arrow::Table>> ReadAll(ScanStream& stream) {
  ARROW_ASSIGN_OR_RAISE(auto batches, ReadBatches(stream));
  return arrow::Table::FromRecordBatches(stream.schema(), std::move(batches));
}

}  // namespace glaive::dataset
