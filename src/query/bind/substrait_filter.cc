#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/builder.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/exec.h>
#include <arrow/compute/expression.h>
#include <arrow/engine/substrait/serde.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "core/error.h"
#include "query/bind/bound_filter.h"
#include "query/bind/filter.h"
#include "query/sql/arrow_expression.h"
#include "query/values/selection.h"
#include "wire/substrait_lists.h"

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

// A list of at most so many values stays a chain of comparisons.
constexpr size_t kMostCompared = 64;

// Whether a value is in a list. Errors: Unsupported where the list is not of literals of one type.
arrow::Result<cp::Expression> IsIn(cp::Expression value,
                                   std::span<const arrow::engine::NamedExpression> list) {
  std::unique_ptr<arrow::ArrayBuilder> builder;
  for (const auto& item : list) {
    const arrow::Datum* literal = item.expression.literal();
    if (literal == nullptr || !literal->is_scalar() ||
        (builder != nullptr && !builder->type()->Equals(literal->type()))) {
      return Unsupported("a filter by a list of {} values that are not literals of one type",
                         list.size());
    }
    if (builder == nullptr) {
      ARROW_ASSIGN_OR_RAISE(builder, arrow::MakeBuilder(literal->type()));
    }
    ARROW_RETURN_NOT_OK(builder->AppendScalar(*literal->scalar()));
  }
  ARROW_ASSIGN_OR_RAISE(auto values, builder->Finish());
  return cp::call(
      "is_in", {std::move(value)},
      cp::SetLookupOptions(arrow::Datum(std::move(values)), cp::SetLookupOptions::INCONCLUSIVE));
}

// References by position are turned into such by name: positions are those of the schema that the
// sender had, and a batch here holds fewer columns. Those behind that schema are `lists`.
arrow::Result<cp::Expression> ByName(const cp::Expression& expression, const arrow::Schema& sent,
                                     std::span<const cp::Expression> lists) {
  if (const arrow::FieldRef* ref = expression.field_ref()) {
    if (ref->IsName()) return expression;
    const arrow::FieldPath* path = ref->field_path();
    if (path == nullptr || path->indices().empty()) {
      return Unsupported("a filter that refers to '{}'", ref->ToString());
    }
    const size_t list = static_cast<size_t>(path->indices().front()) -
                        (static_cast<size_t>(sent.num_fields()) - lists.size());
    if (path->indices().size() == 1 && list < lists.size()) return lists[list];
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
    ARROW_ASSIGN_OR_RAISE(auto by_name, ByName(argument, sent, lists));
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
  // Arrow makes a tree of a list that is as deep as the list is long.
  ARROW_ASSIGN_OR_RAISE(const auto parts, wire::TakeLongLists(message, kMostCompared));
  const arrow::Buffer buffer(parts.message);
  ARROW_ASSIGN_OR_RAISE(const auto bound, arrow::engine::DeserializeExpressions(buffer));
  size_t num_expressions = 1;
  for (const size_t size : parts.sizes) num_expressions += 1 + size;
  if (bound.named_expressions.size() != num_expressions) {
    return InvalidInput("a filter is one expression, not {}",
                        bound.named_expressions.size() - (num_expressions - 1));
  }
  std::span<const arrow::engine::NamedExpression> rest = bound.named_expressions;
  rest = rest.subspan(1);
  std::vector<cp::Expression> lists(parts.sizes.size());
  for (size_t i = 0; i < lists.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto value, ByName(rest.front().expression, *bound.schema, lists));
    ARROW_ASSIGN_OR_RAISE(lists[i], IsIn(std::move(value), rest.subspan(1, parts.sizes[i])));
    rest = rest.subspan(1 + parts.sizes[i]);
  }
  ARROW_ASSIGN_OR_RAISE(cp::Expression expression,
                        ByName(bound.named_expressions.front().expression, *bound.schema, lists));
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
