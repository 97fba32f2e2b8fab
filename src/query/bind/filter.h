#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace glaive::query {

// A predicate bound to a table's schema, ready to be evaluated on batches that hold its columns.
// Immutable. SQL's three-valued logic: a row passes where the predicate is true, not where null.
class Filter {
 public:
  // REQUIRES: arrow::compute was initialised (InitCompute()).
  static arrow::Result<std::shared_ptr<const Filter>> FromSql(std::string_view text,
                                                              const arrow::Schema& schema);
  // A Substrait ExtendedExpression, as pyarrow's Expression.to_substrait makes.
  static arrow::Result<std::shared_ptr<const Filter>> FromSubstrait(std::string_view message,
                                                                    const arrow::Schema& schema);

  virtual ~Filter() = default;

  // Top-level columns, or dotted paths below structs, that a batch must hold.
  virtual const std::vector<std::string>& columns() const = 0;

  // Row numbers of the batch that pass, ascending. The batch's columns are found by name.
  virtual arrow::Result<std::vector<uint32_t>> Select(const arrow::RecordBatch& batch) const = 0;

  // As SQL, for transactions and plans.
  virtual std::string ToString() const = 0;
};

// Makes the kernels of arrow::compute known; cheap, and safe to call more than once.
arrow::Status InitCompute();

}  // namespace glaive::query
