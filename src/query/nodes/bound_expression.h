#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/datum.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "query/sql/expression.h"

namespace glaive::query {

// An expression whose names are columns and whose types fit. Immutable.
class BoundExpression {
 public:
  explicit BoundExpression(std::shared_ptr<arrow::DataType> type) : type_(std::move(type)) {}
  virtual ~BoundExpression() = default;

  const std::shared_ptr<arrow::DataType>& type() const { return type_; }

  // An array as long as the batch, or a scalar. Each part is evaluated once for all rows; where one
  // fails, once more for those rows alone that the parts before it leave open: in "x <> 0 AND
  // 1 / x > 2" the rows where x is 0 are decided already.
  arrow::Result<arrow::Datum> Evaluate(const arrow::RecordBatch& batch) const;

  // Whether rows that are decided are left out.
  enum class Rows : uint8_t { kAll, kOpen };
  // For a node that evaluates its parts: as Evaluate(), in one of the two ways.
  virtual arrow::Result<arrow::Datum> EvaluateOnce(const arrow::RecordBatch& batch,
                                                   Rows rows) const = 0;

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
