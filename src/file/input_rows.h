#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "file/leaf_column.h"

namespace glaive::file {

// A batch as a file's leaf columns want it: matched, checked, pruned, nothing hidden behind nulls.
struct InputRows {
  int64_t num_rows = 0;
  std::vector<std::shared_ptr<arrow::ArrayData>>
      columns;  // one per leaf column, each num_rows long
};

// The way from batches into the leaf columns of a schema. Columns and the fields of structs are
// matched by name, in any order.
class InputMatcher {
 public:
  // Unsupported, by name, for types that are not written.
  static arrow::Result<InputMatcher> Make(std::shared_ptr<arrow::Schema> schema);

  const std::vector<LeafColumn>& columns() const { return columns_; }

  // Errors: InvalidInput naming the column that is missing, in excess, of another type, or null
  // where its field has no nulls; or for arrays that are malformed.
  arrow::Result<std::shared_ptr<const InputRows>> Match(const arrow::RecordBatch& batch);

 private:
  arrow::Status Bind(const std::shared_ptr<arrow::Schema>& input);

  std::shared_ptr<arrow::Schema> schema_;
  std::vector<LeafColumn> columns_;
  std::vector<int> first_leaf_;           // of each field, and one past the last
  std::shared_ptr<arrow::Schema> bound_;  // of the batch before
  std::vector<int> sources_;              // of each field: its column in such batches
};

}  // namespace glaive::file
