#include <algorithm>
#include <utility>

#include <arrow/array/util.h>
#include <arrow/builder.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "query/bound_nodes.h"
#include "query/coercion.h"

namespace glaive::query {
namespace {

using sql::BinaryOperator;
using sql::UnaryOperator;
using TypePtr = std::shared_ptr<arrow::DataType>;

bool EqualIgnoringCase(std::string_view left, std::string_view right) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(left, right, [&](char a, char b) { return lower(a) == lower(b); });
}

const LiteralNode* AsLiteral(const BoundPtr& node) {
  return dynamic_cast<const LiteralNode*>(node.get());
}

bool IsColumn(const BoundPtr& node) {
  return dynamic_cast<const ColumnNode*>(node.get()) != nullptr;
}

bool IsNull(const BoundPtr& node) { return node->type()->id() == arrow::Type::NA; }

BoundPtr Call(std::string function, std::vector<BoundPtr> arguments, TypePtr type,
              std::shared_ptr<const arrow::compute::FunctionOptions> options = nullptr) {
  return std::make_shared<CallNode>(std::move(function), std::move(arguments), std::move(type),
                                    std::move(options));
}

// Only to types that hold more, but for floats of integers, which are rounded.
arrow::Result<BoundPtr> CastTo(BoundPtr node, const TypePtr& type) {
  if (type == nullptr || node->type()->Equals(*type)) return node;
  const auto options = arrow::is_floating(type->id()) ? arrow::compute::CastOptions::Unsafe(type)
                                                      : arrow::compute::CastOptions::Safe(type);
  if (const LiteralNode* literal = AsLiteral(node)) {
    ARROW_ASSIGN_OR_RAISE(const auto cast,
                          arrow::compute::Cast(arrow::Datum(literal->value()), options));
    return std::make_shared<LiteralNode>(cast.scalar());
  }
  return Call("cast", {std::move(node)}, type,
              std::make_shared<arrow::compute::CastOptions>(options));
}

class Binder {
 public:
  explicit Binder(const arrow::Schema& schema) : schema_(schema) {}

  arrow::Result<BoundPtr> Bind(const sql::Expression& expression) {
    return std::visit([this](const auto& node) { return BindNode(node); }, expression.node);
  }

  std::vector<std::string> columns() && { return std::move(columns_); }

 private:
  arrow::Result<BoundPtr> BindNode(const sql::Literal& literal) {
    return std::make_shared<LiteralNode>(literal.value);
  }

  arrow::Result<BoundPtr> BindNode(const sql::Column& column) {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Field> field, FindTop(column.path.front()));
    std::string name = field->name();
    for (size_t i = 1; i < column.path.size(); ++i) {
      const std::string& part = column.path[i].name;
      const bool is_struct = field->type()->id() == arrow::Type::STRUCT;
      const int child =
          is_struct ? static_cast<const arrow::StructType&>(*field->type()).GetFieldIndex(part)
                    : -1;
      if (child < 0) return InvalidInput("Field {} not found in struct '{}'", part, name);
      field = field->type()->field(child);
      name += "." + part;
    }
    if (std::ranges::find(columns_, name) == columns_.end()) columns_.push_back(name);
    auto node = std::make_shared<ColumnNode>(std::move(name), field->type());
    if (field->type()->id() != arrow::Type::DICTIONARY) return node;
    return CastTo(std::move(node),
                  static_cast<const arrow::DictionaryType&>(*field->type()).value_type());
  }

  // A bare name is looked for as it is, then in any case.
  arrow::Result<std::shared_ptr<arrow::Field>> FindTop(const sql::Column::Part& part) {
    if (auto field = schema_.GetFieldByName(part.name)) return field;
    for (const auto& field : schema_.fields()) {
      if (!part.quoted && EqualIgnoringCase(field->name(), part.name)) return field;
    }
    return InvalidInput("No field named {} in the schema. Valid fields are {}", part.name,
                        fmt::join(schema_.field_names(), ", "));
  }

  arrow::Result<BoundPtr> BindNode(const sql::Unary& unary) {
    ARROW_ASSIGN_OR_RAISE(BoundPtr operand, Bind(*unary.operand));
    const auto boolean = arrow::boolean();
    switch (unary.op) {
      case UnaryOperator::kNot: {
        ARROW_ASSIGN_OR_RAISE(operand, AsBoolean(std::move(operand), "NOT"));
        return Call("invert", {std::move(operand)}, boolean);
      }
      case UnaryOperator::kIsNull: return Call("is_null", {std::move(operand)}, boolean);
      case UnaryOperator::kIsTrue:
      case UnaryOperator::kIsFalse: {
        ARROW_ASSIGN_OR_RAISE(operand, AsBoolean(std::move(operand), "IS"));
        if (unary.op == UnaryOperator::kIsFalse) {
          operand = Call("invert", {std::move(operand)}, boolean);
        }
        return Call("coalesce",
                    {std::move(operand), std::make_shared<LiteralNode>(arrow::MakeScalar(false))},
                    boolean);
      }
      case UnaryOperator::kNegate: break;
    }
    const arrow::Type::type id = operand->type()->id();
    if (!arrow::is_signed_integer(id) && !arrow::is_floating(id) && !arrow::is_decimal(id)) {
      return InvalidInput("Negation only supports signed numbers, not {}",
                          TypeName(*operand->type()));
    }
    TypePtr type = operand->type();
    return Call("negate", {std::move(operand)}, std::move(type));
  }

  arrow::Result<BoundPtr> BindNode(const sql::Binary& binary) {
    ARROW_ASSIGN_OR_RAISE(BoundPtr left, Bind(*binary.left));
    ARROW_ASSIGN_OR_RAISE(BoundPtr right, Bind(*binary.right));
    switch (binary.op) {
      case BinaryOperator::kAdd:
      case BinaryOperator::kSubtract:
      case BinaryOperator::kMultiply:
      case BinaryOperator::kDivide:
      case BinaryOperator::kModulo: return Arithmetic(binary.op, std::move(left), std::move(right));
      case BinaryOperator::kNotDistinct: return NotDistinct(std::move(left), std::move(right));
      default: return Comparison(binary.op, std::move(left), std::move(right));
    }
  }

  arrow::Result<BoundPtr> BindNode(const sql::Logical& logical) {
    std::vector<BoundPtr> operands;
    for (const sql::ExpressionPtr& operand : logical.operands) {
      ARROW_ASSIGN_OR_RAISE(BoundPtr bound, Bind(*operand));
      ARROW_ASSIGN_OR_RAISE(bound, AsBoolean(std::move(bound), logical.is_and ? "AND" : "OR"));
      operands.push_back(std::move(bound));
    }
    return std::make_shared<LogicalNode>(logical.is_and, std::move(operands));
  }

  arrow::Result<BoundPtr> BindNode(const sql::Between& between) {
    ARROW_ASSIGN_OR_RAISE(BoundPtr operand, Bind(*between.operand));
    ARROW_ASSIGN_OR_RAISE(BoundPtr low, Bind(*between.low));
    ARROW_ASSIGN_OR_RAISE(BoundPtr high, Bind(*between.high));
    ARROW_RETURN_NOT_OK(Align(operand, low));
    ARROW_RETURN_NOT_OK(Align(operand, high));
    ARROW_RETURN_NOT_OK(Align(operand, low));  // again: the high end may have widened the operand
    return std::make_shared<BetweenNode>(std::move(operand), std::move(low), std::move(high));
  }

  arrow::Result<BoundPtr> BindNode(const sql::Like& like) {
    ARROW_ASSIGN_OR_RAISE(BoundPtr operand, Bind(*like.operand));
    ARROW_ASSIGN_OR_RAISE(const BoundPtr pattern, Bind(*like.pattern));
    const bool is_text = arrow::is_base_binary_like(operand->type()->id()) || IsNull(operand);
    const bool is_pattern = pattern->type()->id() == arrow::Type::STRING || IsNull(pattern);
    if (!is_text || !is_pattern) {
      return InvalidInput("There isn't a common type to coerce {} and {} in LIKE expression",
                          TypeName(*operand->type()), TypeName(*pattern->type()));
    }
    const LiteralNode* text = AsLiteral(pattern);
    if (text == nullptr) return Unsupported("LIKE takes a pattern that is a literal");
    if (IsNull(pattern) || IsNull(operand)) {
      return std::make_shared<LiteralNode>(arrow::MakeNullScalar(arrow::boolean()));
    }
    return Call("match_like", {std::move(operand)}, arrow::boolean(),
                std::make_shared<arrow::compute::MatchSubstringOptions>(text->value()->ToString(),
                                                                        like.ignore_case));
  }

  arrow::Result<BoundPtr> BindNode(const sql::In& in) {
    ARROW_ASSIGN_OR_RAISE(const BoundPtr operand, Bind(*in.operand));
    std::vector<BoundPtr> list;
    for (const sql::ExpressionPtr& item : in.list) {
      ARROW_ASSIGN_OR_RAISE(BoundPtr bound, Bind(*item));
      list.push_back(std::move(bound));
    }
    // Arrow's sets compare floats by their bits.
    const bool hashable =
        IsColumn(operand) && !arrow::is_floating(operand->type()->id()) &&
        std::ranges::all_of(list, [](const BoundPtr& item) { return AsLiteral(item) != nullptr; });
    if (hashable) return InSet(operand, list);
    std::vector<BoundPtr> equals;
    for (BoundPtr& item : list) {
      ARROW_ASSIGN_OR_RAISE(auto equal,
                            Comparison(BinaryOperator::kEqual, operand, std::move(item)));
      equals.push_back(std::move(equal));
    }
    if (equals.size() == 1) return equals.front();
    return std::make_shared<LogicalNode>(/*is_and=*/false, std::move(equals));
  }

  arrow::Result<BoundPtr> InSet(const BoundPtr& operand, const std::vector<BoundPtr>& list) {
    std::unique_ptr<arrow::ArrayBuilder> builder;
    ARROW_RETURN_NOT_OK(
        arrow::MakeBuilder(arrow::default_memory_pool(), operand->type(), &builder));
    for (const BoundPtr& item : list) {
      ARROW_ASSIGN_OR_RAISE(const auto value, LiteralAs(AsLiteral(item)->value(), operand->type()));
      ARROW_RETURN_NOT_OK(builder->AppendScalar(*value));
    }
    ARROW_ASSIGN_OR_RAISE(const auto values, builder->Finish());
    // As SQL has it: x IN (1, NULL) is true or unknown, never false.
    auto options = std::make_shared<arrow::compute::SetLookupOptions>(
        arrow::Datum(values), arrow::compute::SetLookupOptions::INCONCLUSIVE);
    return Call("is_in", {operand}, arrow::boolean(), std::move(options));
  }

  // Gives both sides one type.
  arrow::Status Align(BoundPtr& left, BoundPtr& right) {
    for (auto [column, other] : {std::pair{&left, &right}, std::pair{&right, &left}}) {
      const LiteralNode* literal = AsLiteral(*other);
      if (literal == nullptr || !IsColumn(*column)) continue;
      ARROW_ASSIGN_OR_RAISE(auto value, LiteralAs(literal->value(), (*column)->type()));
      *other = std::make_shared<LiteralNode>(std::move(value));
      return arrow::Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(const TypePtr type, ComparisonType(left->type(), right->type()));
    ARROW_ASSIGN_OR_RAISE(left, CastTo(std::move(left), type));
    ARROW_ASSIGN_OR_RAISE(right, CastTo(std::move(right), type));
    return arrow::Status::OK();
  }

  arrow::Result<BoundPtr> Comparison(BinaryOperator op, BoundPtr left, BoundPtr right) {
    ARROW_RETURN_NOT_OK(Align(left, right));
    if (IsNull(left)) return std::make_shared<LiteralNode>(arrow::MakeNullScalar(arrow::boolean()));
    if (arrow::is_nested(left->type()->id())) {
      return InvalidInput("values of type {} cannot be compared", TypeName(*left->type()));
    }
    return std::make_shared<CompareNode>(op, std::move(left), std::move(right));
  }

  arrow::Result<BoundPtr> NotDistinct(BoundPtr left, BoundPtr right) {
    const auto boolean = arrow::boolean();
    BoundPtr both_null = std::make_shared<LogicalNode>(
        true,
        std::vector<BoundPtr>{Call("is_null", {left}, boolean), Call("is_null", {right}, boolean)});
    ARROW_ASSIGN_OR_RAISE(BoundPtr equal,
                          Comparison(BinaryOperator::kEqual, std::move(left), std::move(right)));
    BoundPtr is_equal =
        Call("coalesce",
             {std::move(equal), std::make_shared<LiteralNode>(arrow::MakeScalar(false))}, boolean);
    return std::make_shared<LogicalNode>(
        false, std::vector<BoundPtr>{std::move(both_null), std::move(is_equal)});
  }

  arrow::Result<BoundPtr> Arithmetic(BinaryOperator op, BoundPtr left, BoundPtr right) {
    // A literal that a column of 64 bits without sign can hold does not make it anything else.
    if (op == BinaryOperator::kModulo && left->type()->id() == arrow::Type::UINT64) {
      if (const LiteralNode* literal = AsLiteral(right)) {
        ARROW_ASSIGN_OR_RAISE(auto value, LiteralAs(literal->value(), left->type()));
        right = std::make_shared<LiteralNode>(std::move(value));
      }
    }
    ARROW_ASSIGN_OR_RAISE(TypePtr type, ArithmeticType(op, left->type(), right->type()));
    ARROW_ASSIGN_OR_RAISE(left, CastTo(std::move(left), type));
    ARROW_ASSIGN_OR_RAISE(right, CastTo(std::move(right), type));
    switch (op) {
      case BinaryOperator::kModulo: return std::make_shared<ModuloNode>(left, right);
      case BinaryOperator::kAdd: return Kernel("add", std::move(left), std::move(right));
      case BinaryOperator::kSubtract: return Kernel("subtract", std::move(left), std::move(right));
      case BinaryOperator::kMultiply: return Kernel("multiply", std::move(left), std::move(right));
      default: return Kernel("divide", std::move(left), std::move(right));
    }
  }

  // A result of decimals is wider than they are.
  BoundPtr Kernel(std::string function, BoundPtr left, BoundPtr right) {
    TypePtr type = left->type();
    if (type->id() == arrow::Type::DECIMAL256) {
      type = arrow::decimal256(function == "multiply" ? 41 : 21, 0);
    }
    return Call(std::move(function), {std::move(left), std::move(right)}, std::move(type));
  }

  arrow::Result<BoundPtr> AsBoolean(BoundPtr node, std::string_view op) {
    if (node->type()->id() == arrow::Type::BOOL) return node;
    if (IsNull(node)) {
      return std::make_shared<LiteralNode>(arrow::MakeNullScalar(arrow::boolean()));
    }
    return InvalidInput("{} needs a boolean, not {}", op, TypeName(*node->type()));
  }

  const arrow::Schema& schema_;
  std::vector<std::string> columns_;
};

}  // namespace

arrow::Result<BoundValue> BindValue(const sql::Expression& expression,
                                    const arrow::Schema& schema) {
  Binder binder(schema);
  ARROW_ASSIGN_OR_RAISE(BoundPtr bound, binder.Bind(expression));
  return BoundValue{std::move(bound), std::move(binder).columns()};
}

arrow::Result<BoundValue> BindFilter(const sql::Expression& expression,
                                     const arrow::Schema& schema) {
  ARROW_ASSIGN_OR_RAISE(BoundValue bound, BindValue(expression, schema));
  const arrow::DataType& type = *bound.expression->type();
  if (type.id() != arrow::Type::BOOL) {
    return InvalidInput("the filter does not return a boolean, but {}", TypeName(type));
  }
  return bound;
}

}  // namespace glaive::query
