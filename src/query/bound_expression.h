#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/datum.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "query/sql_expression.h"

namespace glaive::query {

// An expression whose names are columns and whose types fit. Immutable.
class BoundExpression {
 public:
  explicit BoundExpression(std::shared_ptr<arrow::DataType> type) : type_(std::move(type)) {}
  virtual ~BoundExpression() = default;

  const std::shared_ptr<arrow::DataType>& type() const { return type_; }

  // An array as long as the batch, or a scalar.
  virtual arrow::Result<arrow::Datum> Evaluate(const arrow::RecordBatch& batch) const = 0;

 private:
  std::shared_ptr<arrow::DataType> type_;
};
using BoundPtr = std::shared_ptr<const BoundExpression>;

struct BoundValue {
  BoundPtr expression;
  std::vector<std::string> columns;  // dotted paths that it looks at
};

// Errors: InvalidInput naming columns that are not there and types that do not meet; Unsupported
// for functions that are not built. `strict`: see Binder.
arrow::Result<BoundValue> BindValue(const sql::Expression& expression, const arrow::Schema& schema,
                                    bool strict);
// The same, and it is of type bool.
arrow::Result<BoundValue> BindFilter(const sql::Expression& expression, const arrow::Schema& schema,
                                     bool strict);

}  // namespace glaive::query
