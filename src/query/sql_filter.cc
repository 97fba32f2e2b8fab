#include <string>
#include <utility>

#include <arrow/record_batch.h>

#include "query/bound_expression.h"
#include "query/filter.h"
#include "query/selection.h"
#include "query/sql_parser.h"

namespace glaive::query {
namespace {

class SqlFilter final : public Filter {
 public:
  SqlFilter(std::string text, BoundValue bound)
      : text_(std::move(text)), bound_(std::move(bound)) {}

  const std::vector<std::string>& columns() const override { return bound_.columns; }

  arrow::Result<std::vector<uint32_t>> Select(const arrow::RecordBatch& batch) const override {
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum passes, bound_.expression->Evaluate(batch));
    return SelectTrue(passes, batch.num_rows());
  }

  std::string ToString() const override { return text_; }

 private:
  std::string text_;
  BoundValue bound_;
};

}  // namespace

arrow::Result<std::shared_ptr<const Filter>> Filter::FromSql(std::string_view text,
                                                             const arrow::Schema& schema) {
  ARROW_ASSIGN_OR_RAISE(const auto expression, sql::Parse(text));
  ARROW_ASSIGN_OR_RAISE(BoundValue bound, BindFilter(*expression, schema, /*strict=*/true));
  return std::make_shared<SqlFilter>(std::string(text), std::move(bound));
}

}  // namespace glaive::query
