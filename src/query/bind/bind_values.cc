#include <utility>

#include <arrow/array.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "core/error.h"
#include "query/cast/cast.h"
#include "query/cast/coercion.h"
#include "query/nodes/binder.h"

namespace glaive::query {
namespace {

using TypePtr = std::shared_ptr<arrow::DataType>;

}  // namespace

arrow::Result<std::vector<BoundPtr>> Binder::BindAll(const std::vector<sql::ExpressionPtr>& list) {
  std::vector<BoundPtr> bound;
  bound.reserve(list.size());
  for (const sql::ExpressionPtr& item : list) {
    ARROW_ASSIGN_OR_RAISE(bound.emplace_back(), Bind(*item, /*strict=*/false));
  }
  return bound;
}

arrow::Result<BoundPtr> Binder::BindNode(const sql::Cast& cast, bool) {
  ARROW_ASSIGN_OR_RAISE(BoundPtr operand, Bind(*cast.operand, /*strict=*/false));
  if (!CanCast(*operand->type(), *cast.type)) return CannotCast(*operand->type(), *cast.type);
  const ColumnNode* column = AsColumn(operand);
  const auto field = column == nullptr ? nullptr : schema_.GetFieldByName(column->name());
  if (field != nullptr && field->type()->id() == arrow::Type::DICTIONARY &&
      operand->type()->Equals(*cast.type)) {
    // A column of its own, which would be scanned as the dictionary that is stored.
    const Kernel decoded = [](std::span<const arrow::Datum> values, int64_t) {
      return arrow::Result<arrow::Datum>(values[0]);
    };
    return MakeKernel(decoded, {std::move(operand)}, cast.type);
  }
  return MakeCast(std::move(operand), cast.type, cast.is_try);
}

arrow::Result<BoundPtr> Binder::BindNode(const sql::Call& call, bool) {
  if (call.function == "get_field" && call.arguments.size() == 2) {
    return BindNode(sql::Element{call.arguments[0], call.arguments[1]}, /*strict=*/false);
  }
  ARROW_ASSIGN_OR_RAISE(auto arguments, BindAll(call.arguments));
  return BindFunction(call.function, std::move(arguments));
}

arrow::Result<BoundPtr> Binder::BindNode(const sql::Element& element, bool) {
  // A field of a column is a column: nothing else of the struct is read, or counted as read.
  const std::vector<std::string> before = columns_;
  ARROW_ASSIGN_OR_RAISE(BoundPtr operand, Bind(*element.operand, /*strict=*/false));
  const auto* key = std::get_if<sql::Literal>(&element.key->node);
  if (operand->type()->id() == arrow::Type::STRUCT) {
    if (key == nullptr || !IsText(*key->value->type) || !key->value->is_valid) {
      return InvalidInput("a field of a struct is taken by its name");
    }
    if (AsColumn(operand) != nullptr) columns_ = before;
    return Field(std::move(operand), key->value->ToString());
  }
  ARROW_ASSIGN_OR_RAISE(BoundPtr position, Bind(*element.key, /*strict=*/false));
  return BindFunction("array_element", {std::move(operand), std::move(position)});
}

arrow::Result<BoundPtr> Binder::Field(BoundPtr operand, const std::string& name) {
  const auto& type = static_cast<const arrow::StructType&>(*operand->type());
  const int index = type.GetFieldIndex(name);
  if (index < 0) return InvalidInput("Field {} not found in struct", name);
  const TypePtr field = type.field(index)->type();
  if (const ColumnNode* column = AsColumn(operand)) {
    return ColumnOf(column->name() + "." + name, field, /*is_nested=*/true);
  }
  return MakeCall("struct_field", {std::move(operand)}, field,
                  std::make_shared<arrow::compute::StructFieldOptions>(std::vector<int>{index}));
}

arrow::Result<BoundPtr> Binder::BindNode(const sql::Case& node, bool) {
  if (node.operand == nullptr) return BindCase(node, nullptr);
  ARROW_ASSIGN_OR_RAISE(BoundPtr operand, Bind(*node.operand, /*strict=*/false));
  return Let(std::move(operand), [&](const BoundPtr& value) { return BindCase(node, value); });
}

arrow::Result<BoundPtr> Binder::BindCase(const sql::Case& node, const BoundPtr& operand) {
  std::vector<CaseNode::Branch> branches;
  TypePtr type = arrow::null();
  const auto meet = [&](const BoundPtr& value) -> arrow::Status {
    const TypePtr common = UnionType(type, value->type());
    if (common == nullptr) {
      return InvalidInput("Failed to coerce then ({}) and else ({}) to common types in CASE WHEN",
                          TypeName(*type), TypeName(*value->type()));
    }
    type = common;
    return arrow::Status::OK();
  };
  for (const sql::Case::Branch& branch : node.branches) {
    ARROW_ASSIGN_OR_RAISE(BoundPtr when, Bind(*branch.when, /*strict=*/false));
    if (operand != nullptr) {
      ARROW_ASSIGN_OR_RAISE(when,
                            Comparison(sql::BinaryOperator::kEqual, operand, std::move(when)));
    } else if (IsNumber(*when->type())) {
      when = MakeCast(std::move(when), arrow::boolean());
    }
    ARROW_ASSIGN_OR_RAISE(when, AsBoolean(std::move(when), "WHEN"));
    ARROW_ASSIGN_OR_RAISE(BoundPtr then, Bind(*branch.then, /*strict=*/false));
    branches.push_back({std::move(when), std::move(then)});
  }
  BoundPtr otherwise = MakeLiteral(std::make_shared<arrow::NullScalar>());
  if (node.otherwise != nullptr) {
    ARROW_ASSIGN_OR_RAISE(otherwise, Bind(*node.otherwise, /*strict=*/false));
    ARROW_RETURN_NOT_OK(meet(otherwise));
  }
  for (const CaseNode::Branch& branch : branches) ARROW_RETURN_NOT_OK(meet(branch.then));
  for (CaseNode::Branch& branch : branches) branch.then = MakeCast(std::move(branch.then), type);
  return std::make_shared<CaseNode>(std::move(branches), MakeCast(std::move(otherwise), type));
}

}  // namespace glaive::query
