#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/version_options.h"
#include "wire/schema.h"

namespace glaive::dataset {

// All rows of a merge's source, in memory. Immutable.
class MergeSource {
 public:
  // Reads the stream to its end. An error of the stream comes as it is.
  static arrow::Result<MergeSource> Read(const std::shared_ptr<arrow::RecordBatchReader>& stream,
                                         const ProgressCallback& progress);

  // The same rows with the columns of `fields` alone, in the types that the format keeps.
  arrow::Result<MergeSource> As(const wire::Schema& fields) const;

  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }
  const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches() const { return batches_; }
  uint64_t num_rows() const { return starts_.back(); }
  double BytesPerRow() const;

  // Some rows in the order asked, repeats allowed; TooLarge (core/pieces.h) where several take more
  // than a batch should. REQUIRES: InitCompute()
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(std::span<const uint32_t> rows) const;
  // The same of some columns.
  arrow::Result<MergeSource> Select(const std::vector<int>& columns) const;

 private:
  class Joiner;

  explicit MergeSource(std::shared_ptr<arrow::Schema> schema) : schema_(std::move(schema)) {}
  arrow::Status Append(std::shared_ptr<arrow::RecordBatch> batch);

  std::shared_ptr<arrow::Schema> schema_;
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches_;
  std::vector<uint64_t> starts_ = {0};  // rows before each batch, and of all
};

}  // namespace glaive::dataset
