#include <string>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/compute/exec.h>
#include <arrow/compute/expression.h>
#include <arrow/engine/substrait/serde.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "query/arrow_expression.h"
#include "query/bound_filter.h"
#include "query/filter.h"
#include "query/selection.h"

namespace glaive::query {
namespace {

namespace cp = arrow::compute;

// Of functions that SQL has no counterpart of.
class SubstraitFilter final : public Filter {
 public:
  SubstraitFilter(cp::Expression expression, std::shared_ptr<arrow::Schema> schema,
                  std::vector<std::string> columns)
      : expression_(std::move(expression)),
        schema_(std::move(schema)),
        columns_(std::move(columns)) {}

  const std::vector<std::string>& columns() const override { return columns_; }

  arrow::Result<std::vector<uint32_t>> Select(const arrow::RecordBatch& batch) const override {
    // Bound by position, so the columns are put into the order of the schema it was bound to.
    arrow::ArrayVector arrays;
    for (const auto& field : schema_->fields()) {
      auto column = batch.GetColumnByName(field->name());
      if (column == nullptr) return Internal("a filter got no column '{}'", field->name());
      arrays.push_back(std::move(column));
    }
    const auto input = arrow::RecordBatch::Make(schema_, batch.num_rows(), std::move(arrays));
    cp::ExecContext context;
    context.set_use_threads(false);
    ARROW_ASSIGN_OR_RAISE(
        const arrow::Datum passes,
        cp::ExecuteScalarExpression(expression_, cp::ExecBatch(*input), &context));
    return SelectTrue(passes, batch.num_rows());
  }

  std::string ToString() const override { return expression_.ToString(); }

 private:
  cp::Expression expression_;
  std::shared_ptr<arrow::Schema> schema_;  // of the columns that it looks at
  std::vector<std::string> columns_;
};

// References by position are turned into such by name: positions are those of the schema that the
// sender had, and a batch here holds fewer columns.
arrow::Result<cp::Expression> ByName(const cp::Expression& expression, const arrow::Schema& sent) {
  if (const arrow::FieldRef* ref = expression.field_ref()) {
    if (ref->IsName()) return expression;
    const arrow::FieldPath* path = ref->field_path();
    if (path == nullptr || path->indices().empty()) {
      return Unsupported("a filter that refers to '{}'", ref->ToString());
    }
    std::vector<arrow::FieldRef> names;
    const arrow::FieldVector* fields = &sent.fields();
    for (const int index : path->indices()) {
      if (index < 0 || static_cast<size_t>(index) >= fields->size()) {
        return InvalidInput("the filter refers to field {}, which its schema does not have", index);
      }
      const auto& field = (*fields)[static_cast<size_t>(index)];
      names.emplace_back(field->name());
      fields = &field->type()->fields();
    }
    return names.size() == 1 ? cp::field_ref(names.front())
                             : cp::field_ref(arrow::FieldRef(std::move(names)));
  }
  const cp::Expression::Call* call = expression.call();
  if (call == nullptr) return expression;
  std::vector<cp::Expression> arguments;
  for (const cp::Expression& argument : call->arguments) {
    ARROW_ASSIGN_OR_RAISE(auto by_name, ByName(argument, sent));
    arguments.push_back(std::move(by_name));
  }
  return cp::call(call->function_name, std::move(arguments), call->options);
}

// The top-level columns; a path below one needs all of it.
std::vector<std::string> TopLevelColumns(const cp::Expression& expression) {
  std::vector<std::string> columns;
  for (const arrow::FieldRef& ref : cp::FieldsInExpression(expression)) {
    const std::string* name = ref.name();
    if (name == nullptr && ref.nested_refs() != nullptr) name = ref.nested_refs()->front().name();
    if (name != nullptr && std::ranges::find(columns, *name) == columns.end()) {
      columns.push_back(*name);
    }
  }
  return columns;
}

}  // namespace

arrow::Result<std::shared_ptr<const Filter>> Filter::FromSubstrait(std::string_view message,
                                                                   const arrow::Schema& schema) {
  const arrow::Buffer buffer(message);
  ARROW_ASSIGN_OR_RAISE(const auto bound, arrow::engine::DeserializeExpressions(buffer));
  if (bound.named_expressions.size() != 1) {
    return InvalidInput("a filter is one expression, not {}", bound.named_expressions.size());
  }
  ARROW_ASSIGN_OR_RAISE(cp::Expression expression,
                        ByName(bound.named_expressions[0].expression, *bound.schema));
  ARROW_ASSIGN_OR_RAISE(const auto as_sql, FromArrow(expression));
  if (as_sql != nullptr) {
    ARROW_ASSIGN_OR_RAISE(BoundValue value, BindFilter(*as_sql, schema, /*strict=*/false));
    return std::make_shared<BoundFilter>(expression.ToString(), std::move(value));
  }
  std::vector<std::string> columns = TopLevelColumns(expression);
  arrow::FieldVector fields;
  for (const std::string& column : columns) {
    auto field = schema.GetFieldByName(column);
    if (field == nullptr) return InvalidInput("No field named {} in the schema", column);
    fields.push_back(std::move(field));
  }
  auto own = arrow::schema(std::move(fields));
  ARROW_ASSIGN_OR_RAISE(expression, expression.Bind(*own));
  if (expression.type()->id() != arrow::Type::BOOL) {
    return InvalidInput("the filter does not return a boolean, but {}",
                        expression.type()->ToString());
  }
  return std::make_shared<SubstraitFilter>(std::move(expression), std::move(own),
                                           std::move(columns));
}

}  // namespace glaive::query
