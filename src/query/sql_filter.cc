#include <string>
#include <utility>

#include <arrow/record_batch.h>

#include "query/bound_filter.h"
#include "query/selection.h"
#include "query/sql_parser.h"

namespace glaive::query {

arrow::Result<std::vector<uint32_t>> BoundFilter::Select(const arrow::RecordBatch& batch) const {
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum passes, bound_.expression->Evaluate(batch));
  return SelectTrue(passes, batch.num_rows());
}

arrow::Result<std::shared_ptr<const Filter>> Filter::FromSql(std::string_view text,
                                                             const arrow::Schema& schema) {
  ARROW_ASSIGN_OR_RAISE(const auto expression, sql::Parse(text));
  ARROW_ASSIGN_OR_RAISE(BoundValue bound, BindFilter(*expression, schema, /*strict=*/true));
  return std::make_shared<BoundFilter>(std::string(text), std::move(bound));
}

}  // namespace glaive::query
