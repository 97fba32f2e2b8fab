#pragma once

#include <memory>
#include <utility>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "wire/schema.h"

namespace glaive::dataset {

// The fields of `table` that rows of schema `input` have, in the table's order, with their ids.
// Errors: InvalidInput for a column that the table lacks, that has another type there, or that is
// not in `input` though it has no nulls.
arrow::Result<wire::Schema> FieldsToAppend(const wire::Schema& table, const arrow::Schema& input);

// Rows in the types that the format keeps: views as plain strings, extension types as their
// storage, dictionaries decoded where the table's column is not a dictionary.
class StoredForm {
 public:
  // Of batches of schema `input` for `kept`: the table's schema, or the part of it that is written.
  static arrow::Result<StoredForm> Make(const arrow::Schema& input, const wire::Schema& kept);

  // Of the batches given out.
  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }

  // REQUIRES: a batch of the input's schema.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Convert(
      std::shared_ptr<arrow::RecordBatch> batch) const;

 private:
  std::shared_ptr<arrow::Schema> schema_;
  bool converts_ = false;
};

// A stream of such rows.
class InputStream {
 public:
  // `schema` is the table's, or the part of it that is written.
  static arrow::Result<InputStream> Make(std::shared_ptr<arrow::RecordBatchReader> reader,
                                         const wire::Schema& schema);

  // Of the batches given out.
  const std::shared_ptr<arrow::Schema>& schema() const { return form_.schema(); }

  // The next batch; null at the end. An error of the stream comes as it is.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next();

 private:
  InputStream(std::shared_ptr<arrow::RecordBatchReader> reader, StoredForm form)
      : reader_(std::move(reader)), form_(std::move(form)) {}

  std::shared_ptr<arrow::RecordBatchReader> reader_;
  StoredForm form_;
};

}  // namespace glaive::dataset
