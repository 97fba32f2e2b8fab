#include "query/sql/arrow_expression.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>
#include <arrow/scalar.h>

#include "core/error.h"

namespace glaive::query {
namespace {

namespace cp = arrow::compute;
using sql::BinaryOperator;
using sql::ExpressionPtr;
using sql::Make;
using sql::UnaryOperator;

constexpr int kMaxDepth = 256;

struct BinaryName {
  std::string_view function;
  BinaryOperator op;
};
constexpr std::array<BinaryName, 14> kBinary = {{
    {"equal", BinaryOperator::kEqual},
    {"not_equal", BinaryOperator::kNotEqual},
    {"less", BinaryOperator::kLess},
    {"less_equal", BinaryOperator::kLessEqual},
    {"greater", BinaryOperator::kGreater},
    {"greater_equal", BinaryOperator::kGreaterEqual},
    {"add", BinaryOperator::kAdd},
    {"add_checked", BinaryOperator::kAdd},
    {"subtract", BinaryOperator::kSubtract},
    {"subtract_checked", BinaryOperator::kSubtract},
    {"multiply", BinaryOperator::kMultiply},
    {"multiply_checked", BinaryOperator::kMultiply},
    {"divide", BinaryOperator::kDivide},
    {"divide_checked", BinaryOperator::kDivide},
}};

struct SqlName {
  std::string_view function;
  std::string_view sql;
};
constexpr std::array<SqlName, 10> kFunctions = {{
    {"is_nan", "isnan"},
    {"abs", "abs"},
    {"abs_checked", "abs"},
    {"sqrt", "sqrt"},
    {"sqrt_checked", "sqrt"},
    {"exp", "exp"},
    {"power", "power"},
    {"power_checked", "power"},
    {"coalesce", "coalesce"},
    {"is_valid", "is_valid"},
}};

class Converter {
 public:
  arrow::Result<ExpressionPtr> Convert(const cp::Expression& expression) {
    if (++depth_ > kMaxDepth) {
      return InvalidInput("the filter is nested more than {} levels deep", kMaxDepth);
    }
    ARROW_ASSIGN_OR_RAISE(auto converted, ConvertAny(expression));
    --depth_;
    return converted;
  }

 private:
  arrow::Result<ExpressionPtr> ConvertAny(const cp::Expression& expression) {
    if (const arrow::Datum* literal = expression.literal()) {
      if (!literal->is_scalar()) return nullptr;
      return Make(sql::Literal{literal->scalar()});
    }
    if (const arrow::FieldRef* ref = expression.field_ref()) return Column(*ref);
    return ConvertCall(*expression.call());
  }

  static ExpressionPtr Column(const arrow::FieldRef& ref) {
    sql::Column column{{}, /*in_function=*/true};
    const std::vector<arrow::FieldRef> alone = {ref};
    for (const arrow::FieldRef& part : ref.nested_refs() != nullptr ? *ref.nested_refs() : alone) {
      if (part.name() == nullptr) return nullptr;
      column.path.push_back({*part.name(), /*quoted=*/true});
    }
    return Make(std::move(column));
  }

  arrow::Result<ExpressionPtr> ConvertCall(const cp::Expression::Call& call) {
    const std::string& name = call.function_name;
    if (name == "and_kleene" || name == "or_kleene") return Chain(call);
    if (name == "cast") return Cast(call);
    if (name == "is_in") return IsIn(call);
    if (name == "starts_with" || name == "ends_with" || name == "match_substring") {
      return Test(call);
    }
    std::vector<ExpressionPtr> arguments;
    for (const cp::Expression& argument : call.arguments) {
      ARROW_ASSIGN_OR_RAISE(auto converted, Convert(argument));
      if (converted == nullptr) return nullptr;
      arguments.push_back(std::move(converted));
    }
    const auto* binary = std::ranges::find(kBinary, name, &BinaryName::function);
    if (binary != kBinary.end() && arguments.size() == 2) {
      return Make(sql::Binary{binary->op, std::move(arguments[0]), std::move(arguments[1])});
    }
    if (arguments.size() == 1) {
      if (name == "invert") return Unary(UnaryOperator::kNot, std::move(arguments[0]));
      if (name == "is_null") return Unary(UnaryOperator::kIsNull, std::move(arguments[0]));
      if (name == "negate" || name == "negate_checked") {
        return Unary(UnaryOperator::kNegate, std::move(arguments[0]));
      }
    }
    if (name == "if_else" && arguments.size() == 3) {
      sql::Case result{nullptr, {{std::move(arguments[0]), std::move(arguments[1])}}, nullptr};
      result.otherwise = std::move(arguments[2]);
      return Make(std::move(result));
    }
    const auto* function = std::ranges::find(kFunctions, name, &SqlName::function);
    if (function == kFunctions.end()) return nullptr;
    return Make(sql::Call{std::string(function->sql), std::move(arguments)});
  }

  static ExpressionPtr Unary(UnaryOperator op, ExpressionPtr operand) {
    return Make(sql::Unary{op, std::move(operand)});
  }

  // Chains lean to the left, however long they are.
  arrow::Result<ExpressionPtr> Chain(const cp::Expression::Call& call) {
    std::vector<const cp::Expression*> operands;
    const cp::Expression::Call* at = &call;
    while (true) {
      for (size_t i = at->arguments.size(); i > 1; --i) operands.push_back(&at->arguments[i - 1]);
      const cp::Expression::Call* next = at->arguments.front().call();
      if (next == nullptr || next->function_name != call.function_name) {
        operands.push_back(&at->arguments.front());
        break;
      }
      at = next;
    }
    std::ranges::reverse(operands);
    std::vector<ExpressionPtr> converted;
    for (const cp::Expression* operand : operands) {
      ARROW_ASSIGN_OR_RAISE(auto one, Convert(*operand));
      if (one == nullptr) return nullptr;
      converted.push_back(std::move(one));
    }
    const bool is_and = call.function_name == "and_kleene";
    if (!is_and) {
      if (auto in = AsSet(operands, converted)) return in;
    }
    return Make(sql::Logical{is_and, std::move(converted)});
  }

  // x = 1 OR x = 2 OR ..., which is how isin() arrives.
  static ExpressionPtr AsSet(const std::vector<const cp::Expression*>& operands,
                             const std::vector<ExpressionPtr>& converted) {
    if (operands.size() < 3) return nullptr;
    sql::In in{nullptr, {}};
    const cp::Expression* column = nullptr;
    for (size_t i = 0; i < operands.size(); ++i) {
      const auto* equal = std::get_if<sql::Binary>(&converted[i]->node);
      if (equal == nullptr || equal->op != BinaryOperator::kEqual ||
          !std::holds_alternative<sql::Literal>(equal->right->node)) {
        return nullptr;
      }
      const cp::Expression& left = operands[i]->call()->arguments[0];
      if (column != nullptr && !column->Equals(left)) return nullptr;
      column = &left;
      in.operand = equal->left;
      in.list.push_back(equal->right);
    }
    return Make(std::move(in));
  }

  arrow::Result<ExpressionPtr> Cast(const cp::Expression::Call& call) {
    const auto* options = dynamic_cast<const cp::CastOptions*>(call.options.get());
    if (options == nullptr || options->to_type.type == nullptr) return nullptr;
    ARROW_ASSIGN_OR_RAISE(auto operand, Convert(call.arguments[0]));
    if (operand == nullptr) return nullptr;
    return Make(sql::Cast{std::move(operand), options->to_type.GetSharedPtr(), /*is_try=*/false});
  }

  // Of values that null is one of like any other: x IN (1, NULL) is true or unknown.
  arrow::Result<ExpressionPtr> IsIn(const cp::Expression::Call& call) {
    const auto* options = dynamic_cast<const cp::SetLookupOptions*>(call.options.get());
    if (options == nullptr || !options->value_set.is_array() ||
        options->null_matching_behavior != cp::SetLookupOptions::INCONCLUSIVE) {
      return nullptr;
    }
    ARROW_ASSIGN_OR_RAISE(auto operand, Convert(call.arguments[0]));
    if (operand == nullptr) return nullptr;
    const auto values = options->value_set.make_array();
    sql::In in{std::move(operand), {}};
    for (int64_t i = 0; i < values->length(); ++i) {
      ARROW_ASSIGN_OR_RAISE(auto value, values->GetScalar(i));
      in.list.push_back(Make(sql::Literal{std::move(value)}));
    }
    return Make(std::move(in));
  }

  arrow::Result<ExpressionPtr> Test(const cp::Expression::Call& call) {
    const auto* options = dynamic_cast<const cp::MatchSubstringOptions*>(call.options.get());
    if (options == nullptr || options->ignore_case) return nullptr;
    ARROW_ASSIGN_OR_RAISE(auto operand, Convert(call.arguments[0]));
    if (operand == nullptr) return nullptr;
    const std::string function =
        call.function_name == "match_substring" ? "contains" : call.function_name;
    return Make(
        sql::Call{function,
                  {std::move(operand),
                   Make(sql::Literal{std::make_shared<arrow::StringScalar>(options->pattern)})}});
  }

  int depth_ = 0;
};

}  // namespace

arrow::Result<sql::ExpressionPtr> FromArrow(const cp::Expression& expression) {
  return Converter().Convert(expression);
}

}  // namespace glaive::query
