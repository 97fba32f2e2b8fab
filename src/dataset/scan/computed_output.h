#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "glaive/scan.h"
#include "query/bind/computed_value.h"

namespace glaive::dataset {

// Columns of a scan that are expressions, and the row ids behind them. Immutable.
class ComputedOutput {
 public:
  // `schema` is what they may name. REQUIRES: options.computed. Errors: InvalidInput for names that
  // come twice and expressions that cannot be.
  static arrow::Result<std::shared_ptr<const ComputedOutput>> Make(const arrow::Schema& schema,
                                                                   const ScanOptions& options);

  // What a batch must hold, dotted paths below structs included.
  const std::vector<std::string>& inputs() const { return inputs_; }
  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }

  // TooLarge (core/pieces.h) where functions make too much of several rows.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Apply(const arrow::RecordBatch& batch) const;
  // As many batches as it takes.
  arrow::Result<arrow::RecordBatchVector> ApplyInPieces(const arrow::RecordBatch& batch) const;

 private:
  ComputedOutput() = default;

  std::vector<std::string> inputs_;
  std::vector<std::shared_ptr<const query::ComputedValue>> values_;
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace glaive::dataset
