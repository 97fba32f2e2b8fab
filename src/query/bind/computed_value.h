#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace glaive::query {

// A value of each row, as an SQL expression over a schema's columns. Immutable.
class ComputedValue {
 public:
  // REQUIRES: InitCompute(). Errors: as of Filter::FromSql.
  static arrow::Result<std::shared_ptr<const ComputedValue>> FromSql(std::string_view text,
                                                                     const arrow::Schema& schema);
  virtual ~ComputedValue() = default;

  virtual const std::shared_ptr<arrow::DataType>& type() const = 0;
  // Whether it is a column, or a field below structs, as it is: the only one of columns().
  virtual bool is_column() const = 0;
  // Top-level columns, or dotted paths below structs, that a batch must hold.
  virtual const std::vector<std::string>& columns() const = 0;
  virtual arrow::Result<std::shared_ptr<arrow::Array>> Evaluate(
      const arrow::RecordBatch& batch) const = 0;
};

}  // namespace glaive::query
