#include "query/bind/computed_value.h"

#include <utility>

#include <arrow/record_batch.h>

#include "query/nodes/bound_nodes.h"
#include "query/sql/sql_parser.h"

namespace glaive::query {
namespace {

class SqlValue final : public ComputedValue {
 public:
  explicit SqlValue(BoundValue bound) : bound_(std::move(bound)) {}

  const std::shared_ptr<arrow::DataType>& type() const override {
    return bound_.expression->type();
  }
  bool is_column() const override { return AsColumn(bound_.expression) != nullptr; }
  const std::vector<std::string>& columns() const override { return bound_.columns; }

  arrow::Result<std::shared_ptr<arrow::Array>> Evaluate(
      const arrow::RecordBatch& batch) const override {
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum value, bound_.expression->Evaluate(batch));
    return ToArray(value, batch.num_rows());
  }

 private:
  BoundValue bound_;
};

}  // namespace

arrow::Result<std::shared_ptr<const ComputedValue>> ComputedValue::FromSql(
    std::string_view text, const arrow::Schema& schema) {
  // The name of a column is that, whatever it looks like.
  const bool is_name = schema.GetFieldByName(std::string(text)) != nullptr;
  ARROW_ASSIGN_OR_RAISE(
      const auto expression,
      is_name ? sql::Make(sql::Column{{{std::string(text), true}}}) : sql::Parse(text));
  ARROW_ASSIGN_OR_RAISE(BoundValue bound, BindValue(*expression, schema, /*strict=*/true));
  return std::make_shared<SqlValue>(std::move(bound));
}

}  // namespace glaive::query
