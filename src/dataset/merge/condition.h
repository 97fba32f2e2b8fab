#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "query/bind/filter.h"

namespace glaive::dataset {

// Which matched rows are updated: SQL over `source.x` and `target.x`. Immutable.
class MergeCondition {
 public:
  // Errors: InvalidInput for names that neither side has, and for bare ones that both have.
  static arrow::Result<MergeCondition> Bind(std::string_view sql, const arrow::Schema& source,
                                            const arrow::Schema& target);

  // Columns of the table, or dotted paths below structs, that a batch of it must hold.
  const std::vector<std::string>& target_columns() const { return target_columns_; }

  // Positions at which the condition is true of the rows of both sides, which lie side by side.
  arrow::Result<std::vector<uint32_t>> Select(const arrow::RecordBatch& source,
                                              const arrow::RecordBatch& target) const;

 private:
  std::shared_ptr<const query::Filter> filter_;
  std::vector<std::string> target_columns_;
};

}  // namespace glaive::dataset
