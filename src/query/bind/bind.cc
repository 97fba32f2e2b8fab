#include <algorithm>
#include <utility>

#include <arrow/builder.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "query/cast/coercion.h"
#include "query/nodes/binder.h"
#include "query/nodes/bound_expression.h"
#include "query/nodes/like.h"

namespace glaive::query {
namespace {

using sql::BinaryOperator;
using sql::UnaryOperator;
using TypePtr = std::shared_ptr<arrow::DataType>;

bool EqualIgnoringCase(std::string_view left, std::string_view right) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(left, right, [&](char a, char b) { return lower(a) == lower(b); });
}

BoundPtr NullBoolean() { return MakeLiteral(arrow::MakeNullScalar(arrow::boolean())); }

BoundPtr OrFalse(BoundPtr condition) {
  return MakeCall("coalesce", {std::move(condition), MakeLiteral(arrow::MakeScalar(false))},
                  arrow::boolean());
}

// Literals, and operators over nothing else.
bool IsOfLiterals(const sql::Expression& expression) {
  if (std::holds_alternative<sql::Literal>(expression.node)) return true;
  const auto* binary = std::get_if<sql::Binary>(&expression.node);
  return binary != nullptr && binary->op >= BinaryOperator::kAdd && IsOfLiterals(*binary->left) &&
         IsOfLiterals(*binary->right);
}

bool IsArrayLiteral(const sql::Expression& expression) {
  const auto* call = std::get_if<sql::Call>(&expression.node);
  return call != nullptr && call->function == "make_array" &&
         std::ranges::all_of(call->arguments,
                             [](const sql::ExpressionPtr& item) { return IsOfLiterals(*item); });
}

// Both zeros are one number, and Arrow's sets go by bits.
arrow::Status AppendToSet(const arrow::Scalar& value, arrow::ArrayBuilder* builder) {
  ARROW_RETURN_NOT_OK(builder->AppendScalar(value));
  if (!value.is_valid) return arrow::Status::OK();
  if (value.type->id() == arrow::Type::DOUBLE) {
    const double number = static_cast<const arrow::DoubleScalar&>(value).value;
    if (number == 0) return builder->AppendScalar(arrow::DoubleScalar(-number));
  } else if (value.type->id() == arrow::Type::FLOAT) {
    const float number = static_cast<const arrow::FloatScalar&>(value).value;
    if (number == 0) return builder->AppendScalar(arrow::FloatScalar(-number));
  }
  return arrow::Status::OK();
}

// No set and no comparison knows halves; as floats they are the same numbers.
BoundPtr Widened(BoundPtr node) {
  if (node->type()->id() != arrow::Type::HALF_FLOAT) return node;
  return MakeCast(std::move(node), arrow::float32());
}

// x = 1 OR x = 2 OR ... of a column and literals as the list that it is; else null.
std::unique_ptr<sql::In> AsList(const sql::Logical& logical) {
  if (logical.is_and || logical.operands.size() < 3) return nullptr;
  auto in = std::make_unique<sql::In>();
  const sql::Column* column = nullptr;
  for (const sql::ExpressionPtr& operand : logical.operands) {
    const auto* equal = std::get_if<sql::Binary>(&operand->node);
    if (equal == nullptr || equal->op != BinaryOperator::kEqual) return nullptr;
    const auto* left = std::get_if<sql::Column>(&equal->left->node);
    if (left == nullptr || left->path.size() != 1 ||
        !std::holds_alternative<sql::Literal>(equal->right->node)) {
      return nullptr;
    }
    if (column != nullptr && (left->path[0].name != column->path[0].name ||
                              left->path[0].quoted != column->path[0].quoted)) {
      return nullptr;
    }
    column = left;
    in->operand = equal->left;
    in->list.push_back(equal->right);
  }
  return in;
}

// regexp_match() returns the groups, and null without a match: as a condition it asks for those.
sql::ExpressionPtr MatchAsCondition(const sql::Expression& expression) {
  using sql::Make;
  if (const auto* call = std::get_if<sql::Call>(&expression.node)) {
    if (call->function != "regexp_match") return nullptr;
    return Make(
        sql::Unary{UnaryOperator::kNot, Make(sql::Unary{UnaryOperator::kIsNull, Make(*call)})});
  }
  if (const auto* unary = std::get_if<sql::Unary>(&expression.node)) {
    if (unary->op != UnaryOperator::kNot) return nullptr;
    auto operand = MatchAsCondition(*unary->operand);
    return operand == nullptr ? nullptr : Make(sql::Unary{UnaryOperator::kNot, std::move(operand)});
  }
  const auto* logical = std::get_if<sql::Logical>(&expression.node);
  if (logical == nullptr) return nullptr;
  sql::Logical copy = *logical;
  bool changed = false;
  for (sql::ExpressionPtr& operand : copy.operands) {
    if (auto condition = MatchAsCondition(*operand)) {
      operand = std::move(condition);
      changed = true;
    }
  }
  return changed ? Make(std::move(copy)) : nullptr;
}

std::string CommonTypeError(const BoundPtr& left, const BoundPtr& right) {
  return fmt::format("Cannot infer common argument type for comparison operation {} = {}",
                     TypeName(*left->type()), TypeName(*right->type()));
}

// A literal that a narrower column can hold exactly does not make the column any wider: then no
// value of the column can fail to be cast.
BoundPtr Narrowed(const BoundPtr& column, const BoundPtr& literal, const TypePtr& common) {
  if (AsColumn(column) == nullptr || AsLiteral(literal) == nullptr) return nullptr;
  const arrow::Type::type from = column->type()->id();
  if (from == arrow::Type::TIMESTAMP && !common->Equals(*column->type())) {
    auto instant = InstantAs(AsLiteral(literal)->value(), column->type(), *common);
    return instant == nullptr ? nullptr : MakeLiteral(std::move(instant));
  }
  const bool is_narrower = arrow::is_integer(from) && !common->Equals(*column->type()) &&
                           (arrow::is_integer(common->id()) || arrow::is_decimal(common->id()));
  if (!is_narrower || !arrow::is_integer(literal->type()->id())) return nullptr;
  auto value = LiteralAs(AsLiteral(literal)->value(), column->type());
  return value.ok() ? MakeLiteral(*std::move(value)) : nullptr;
}

}  // namespace

arrow::Result<BoundPtr> AsBoolean(BoundPtr node, std::string_view op) {
  if (node->type()->id() == arrow::Type::BOOL) return node;
  if (IsNull(node)) return NullBoolean();
  return InvalidInput("{} needs a boolean, not {}", op, TypeName(*node->type()));
}

arrow::Result<BoundPtr> Binder::Bind(const sql::Expression& expression, bool strict) {
  return std::visit([&](const auto& node) { return BindNode(node, strict); }, expression.node);
}

arrow::Result<BoundPtr> Binder::BindNode(const sql::Literal& literal, bool) {
  return MakeLiteral(literal.value);
}

arrow::Result<BoundPtr> Binder::BindNode(const sql::Column& column, bool) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Field> field,
                        FindTop(column.path.front(), column.in_function));
  std::string name = field->name();
  for (size_t i = 1; i < column.path.size(); ++i) {
    const std::string& part = column.path[i].name;
    const bool is_struct = field->type()->id() == arrow::Type::STRUCT;
    const int child =
        is_struct ? static_cast<const arrow::StructType&>(*field->type()).GetFieldIndex(part) : -1;
    if (child < 0) return InvalidInput("Field {} not found in struct '{}'", part, name);
    field = field->type()->field(child);
    name += "." + part;
  }
  return ColumnOf(std::move(name), field->type(), column.path.size() > 1);
}

BoundPtr Binder::ColumnOf(std::string name, const TypePtr& type, bool is_nested) {
  if (std::ranges::find(columns_, name) == columns_.end()) columns_.push_back(name);
  TypePtr decoded = type;
  if (type->id() == arrow::Type::DICTIONARY) {
    decoded = static_cast<const arrow::DictionaryType&>(*type).value_type();
  }
  return std::make_shared<ColumnNode>(std::move(name), std::move(decoded), is_nested);
}

// A bare name is looked for as it is, then in any case.
arrow::Result<std::shared_ptr<arrow::Field>> Binder::FindTop(const sql::Column::Part& part,
                                                             bool exactly) const {
  if (auto field = schema_.GetFieldByName(part.name)) return field;
  for (const auto& field : schema_.fields()) {
    if (!part.quoted && !exactly && EqualIgnoringCase(field->name(), part.name)) return field;
  }
  return InvalidInput("No field named {} in the schema. Valid fields are {}", part.name,
                      fmt::join(schema_.field_names(), ", "));
}

arrow::Result<BoundPtr> Binder::BindNode(const sql::Unary& unary, bool) {
  ARROW_ASSIGN_OR_RAISE(BoundPtr operand, Bind(*unary.operand, /*strict=*/false));
  const auto boolean = arrow::boolean();
  switch (unary.op) {
    case UnaryOperator::kNot: {
      ARROW_ASSIGN_OR_RAISE(operand, AsBoolean(std::move(operand), "NOT"));
      return MakeCall("invert", {std::move(operand)}, boolean);
    }
    case UnaryOperator::kIsNull: return MakeCall("is_null", {std::move(operand)}, boolean);
    case UnaryOperator::kIsTrue:
    case UnaryOperator::kIsFalse: {
      ARROW_ASSIGN_OR_RAISE(operand, AsBoolean(std::move(operand), "IS"));
      if (unary.op == UnaryOperator::kIsFalse) {
        operand = MakeCall("invert", {std::move(operand)}, boolean);
      }
      return OrFalse(std::move(operand));
    }
    case UnaryOperator::kNegate: break;
  }
  return BindNegation(std::move(operand));
}

arrow::Result<BoundPtr> Binder::BindBeside(const sql::Expression& node, const BoundPtr& column) {
  if (const auto* binary = std::get_if<sql::Binary>(&node.node)) {
    ARROW_ASSIGN_OR_RAISE(BoundPtr left, BindBeside(*binary->left, column));
    ARROW_ASSIGN_OR_RAISE(BoundPtr right, BindBeside(*binary->right, column));
    return BindArithmetic(binary->op, std::move(left), std::move(right));
  }
  ARROW_ASSIGN_OR_RAISE(BoundPtr bound, Bind(node, /*strict=*/false));
  const LiteralNode* literal = AsLiteral(bound);
  if (literal == nullptr || IsNull(bound)) return bound;
  ARROW_ASSIGN_OR_RAISE(auto value, LiteralAs(literal->value(), column->type()));
  return MakeLiteral(std::move(value));
}

arrow::Result<BoundPtr> Binder::BindNode(const sql::Binary& binary, bool strict) {
  ARROW_ASSIGN_OR_RAISE(BoundPtr left, Bind(*binary.left, /*strict=*/false));
  ARROW_ASSIGN_OR_RAISE(BoundPtr right, Bind(*binary.right, /*strict=*/false));
  const auto is_literal = [](const sql::Expression& side) {
    return std::holds_alternative<sql::Literal>(side.node) || IsArrayLiteral(side);
  };
  if (strict && AsColumn(left) != nullptr) {
    if (is_literal(*binary.right) || IsOfLiterals(*binary.right)) {
      ARROW_ASSIGN_OR_RAISE(right, BindBeside(*binary.right, left));
    }
  } else if (strict && AsColumn(right) != nullptr && is_literal(*binary.left)) {
    ARROW_ASSIGN_OR_RAISE(left, BindBeside(*binary.left, right));
  }
  if (binary.op == BinaryOperator::kNotDistinct) {
    return NotDistinct(std::move(left), std::move(right));
  }
  if (binary.op < BinaryOperator::kNotDistinct) {
    return Comparison(binary.op, std::move(left), std::move(right));
  }
  return BindArithmetic(binary.op, std::move(left), std::move(right));
}

arrow::Result<BoundPtr> Binder::BindNode(const sql::Logical& logical, bool strict) {
  if (strict) {
    if (const auto list = AsList(logical)) return BindNode(*list, strict);
  }
  std::vector<BoundPtr> operands;
  for (const sql::ExpressionPtr& operand : logical.operands) {
    ARROW_ASSIGN_OR_RAISE(BoundPtr bound, Bind(*operand, strict));
    ARROW_ASSIGN_OR_RAISE(bound, AsBoolean(std::move(bound), logical.is_and ? "AND" : "OR"));
    operands.push_back(std::move(bound));
  }
  return std::make_shared<LogicalNode>(logical.is_and, std::move(operands));
}

arrow::Result<BoundPtr> Binder::BindNode(const sql::Between& between, bool strict) {
  ARROW_ASSIGN_OR_RAISE(BoundPtr operand, Bind(*between.operand, /*strict=*/false));
  const bool fit = strict && AsColumn(operand) != nullptr;
  const auto bind_end = [&](const sql::Expression& end) {
    return fit && IsOfLiterals(end) ? BindBeside(end, operand) : Bind(end, /*strict=*/false);
  };
  ARROW_ASSIGN_OR_RAISE(BoundPtr low, bind_end(*between.low));
  ARROW_ASSIGN_OR_RAISE(BoundPtr high, bind_end(*between.high));
  if (operand->type()->id() == arrow::Type::TIMESTAMP) {
    // All three at once: a date beside a time by the clock of a zone is by that clock, too.
    const TypePtr of_low = ComparisonType(operand->type(), low->type());
    const TypePtr of_high = ComparisonType(operand->type(), high->type());
    const bool both = of_low != nullptr && of_high != nullptr;
    const TypePtr common = both ? ComparisonType(of_low, of_high) : nullptr;
    BoundPtr first = common == nullptr ? nullptr : Narrowed(operand, low, common);
    BoundPtr last = common == nullptr ? nullptr : Narrowed(operand, high, common);
    if (first != nullptr && last != nullptr) {
      low = std::move(first);
      high = std::move(last);
    } else if (common != nullptr && arrow::is_temporal(common->id())) {
      operand = MakeCast(std::move(operand), common);
      low = MakeCast(std::move(low), common);
      high = MakeCast(std::move(high), common);
    }
  }
  ARROW_RETURN_NOT_OK(Align(operand, low));
  ARROW_RETURN_NOT_OK(Align(operand, high));
  ARROW_RETURN_NOT_OK(Align(operand, low));  // again: the high end may have widened the operand
  if (IsNull(operand)) return NullBoolean();
  return std::make_shared<BetweenNode>(std::move(operand), std::move(low), std::move(high));
}

arrow::Result<BoundPtr> Binder::BindNode(const sql::Like& like, bool) {
  ARROW_ASSIGN_OR_RAISE(BoundPtr operand, Bind(*like.operand, /*strict=*/false));
  ARROW_ASSIGN_OR_RAISE(BoundPtr pattern, Bind(*like.pattern, /*strict=*/false));
  return BindLike(std::move(operand), std::move(pattern), like.ignore_case, like.escape);
}

arrow::Result<BoundPtr> Binder::BindNode(const sql::In& in, bool strict) {
  ARROW_ASSIGN_OR_RAISE(BoundPtr operand, Bind(*in.operand, /*strict=*/false));
  const ColumnNode* column = AsColumn(operand);
  const bool fit = strict && column != nullptr && !column->is_nested();
  std::vector<BoundPtr> list;
  list.reserve(in.list.size());
  for (const sql::ExpressionPtr& item : in.list) {
    ARROW_ASSIGN_OR_RAISE(BoundPtr bound, fit && IsOfLiterals(*item)
                                              ? BindBeside(*item, operand)
                                              : Bind(*item, /*strict=*/false));
    list.push_back(std::move(bound));
  }
  return InList(std::move(operand), std::move(list));
}

arrow::Result<BoundPtr> Binder::InList(BoundPtr operand, std::vector<BoundPtr> list) {
  TypePtr type = operand->type();
  for (const BoundPtr& item : list) {
    type = ComparisonType(type, item->type());
    if (type == nullptr) return InvalidInput("{}", CommonTypeError(operand, item));
  }
  if (type->id() == arrow::Type::NA) return NullBoolean();
  std::vector<BoundPtr> narrow;
  for (const BoundPtr& item : list) {
    const bool is_alike = item->type()->Equals(*operand->type());
    narrow.push_back(is_alike ? item : Narrowed(operand, item, type));
    if (narrow.back() == nullptr) break;
  }
  if (narrow.empty() || narrow.back() != nullptr) {
    type = operand->type();
    list = std::move(narrow);
  }
  operand = MakeCast(std::move(operand), type);
  const bool of_literals =
      std::ranges::all_of(list, [](const BoundPtr& item) { return AsLiteral(item) != nullptr; });
  if (of_literals && !arrow::is_nested(type->id())) {
    operand = Widened(std::move(operand));
    std::unique_ptr<arrow::ArrayBuilder> builder;
    ARROW_RETURN_NOT_OK(
        arrow::MakeBuilder(arrow::default_memory_pool(), operand->type(), &builder));
    for (const BoundPtr& item : list) {
      const BoundPtr value = Widened(MakeCast(item, type));
      if (AsLiteral(value) == nullptr) return InvalidInput("{}", CommonTypeError(operand, item));
      ARROW_RETURN_NOT_OK(AppendToSet(*AsLiteral(value)->value(), builder.get()));
    }
    ARROW_ASSIGN_OR_RAISE(auto values, builder->Finish());
    return InSetNode::Make(std::move(operand), std::move(values));
  }
  return Let(std::move(operand), [&](const BoundPtr& value) -> arrow::Result<BoundPtr> {
    std::vector<BoundPtr> equals;
    for (BoundPtr& item : list) {
      ARROW_ASSIGN_OR_RAISE(auto equal, Comparison(BinaryOperator::kEqual, value, std::move(item)));
      equals.push_back(std::move(equal));
    }
    if (equals.size() == 1) return equals.front();
    return std::make_shared<LogicalNode>(/*is_and=*/false, std::move(equals));
  });
}

// Gives both sides one type, which is a null's where neither has one.
arrow::Status Binder::Align(BoundPtr& left, BoundPtr& right) const {
  TypePtr type = ComparisonType(left->type(), right->type());
  if (type == nullptr) return InvalidInput("{}", CommonTypeError(left, right));
  if (BoundPtr literal = Narrowed(left, right, type)) {
    right = std::move(literal);
    return arrow::Status::OK();
  }
  if (BoundPtr literal = Narrowed(right, left, type)) {
    left = std::move(literal);
    return arrow::Status::OK();
  }
  left = MakeCast(std::move(left), type);
  right = MakeCast(std::move(right), type);
  return arrow::Status::OK();
}

arrow::Result<BoundPtr> Binder::Comparison(BinaryOperator op, BoundPtr left, BoundPtr right) const {
  ARROW_RETURN_NOT_OK(Align(left, right));
  if (IsNull(left)) return NullBoolean();
  if (arrow::is_nested(left->type()->id())) {
    return Unsupported("comparing values of type {} is not built", TypeName(*left->type()));
  }
  return std::make_shared<CompareNode>(op, std::move(left), std::move(right));
}

arrow::Result<BoundPtr> Binder::NotDistinct(BoundPtr left, BoundPtr right) {
  const auto boolean = arrow::boolean();
  return Let(std::move(left), [&](const BoundPtr& a) {
    return Let(std::move(right), [&](const BoundPtr& b) -> arrow::Result<BoundPtr> {
      BoundPtr both_null = std::make_shared<LogicalNode>(
          true, std::vector<BoundPtr>{MakeCall("is_null", {a}, boolean),
                                      MakeCall("is_null", {b}, boolean)});
      ARROW_ASSIGN_OR_RAISE(BoundPtr equal, Comparison(BinaryOperator::kEqual, a, b));
      return std::make_shared<LogicalNode>(
          false, std::vector<BoundPtr>{std::move(both_null), OrFalse(std::move(equal))});
    });
  });
}

arrow::Result<BoundValue> BindValue(const sql::Expression& expression, const arrow::Schema& schema,
                                    bool strict) {
  Binder binder(schema);
  ARROW_ASSIGN_OR_RAISE(BoundPtr bound, binder.Bind(expression, strict));
  return BoundValue{std::move(bound), std::move(binder).columns()};
}

arrow::Result<BoundValue> BindFilter(const sql::Expression& expression, const arrow::Schema& schema,
                                     bool strict) {
  const sql::ExpressionPtr condition = MatchAsCondition(expression);
  ARROW_ASSIGN_OR_RAISE(BoundValue bound,
                        BindValue(condition ? *condition : expression, schema, strict));
  const arrow::DataType& type = *bound.expression->type();
  if (type.id() != arrow::Type::BOOL) {
    return InvalidInput("the filter does not return a boolean, but {}", TypeName(type));
  }
  return bound;
}

}  // namespace glaive::query
