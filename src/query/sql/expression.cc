#include "query/sql/expression.h"

#include <algorithm>
#include <utility>

namespace glaive::query::sql {
namespace {

int DepthOf(const ExpressionPtr& expression) { return expression ? expression->depth : 0; }
int DepthOf(const std::vector<ExpressionPtr>& list) {
  int depth = 0;
  for (const ExpressionPtr& item : list) depth = std::max(depth, DepthOf(item));
  return depth;
}
int DepthOf(const Literal&) { return 0; }
int DepthOf(const Column&) { return 0; }
int DepthOf(const Unary& node) { return DepthOf(node.operand); }
int DepthOf(const Binary& node) { return std::max(DepthOf(node.left), DepthOf(node.right)); }
int DepthOf(const Logical& node) { return DepthOf(node.operands); }
int DepthOf(const In& node) { return std::max(DepthOf(node.operand), DepthOf(node.list)); }
int DepthOf(const Between& node) {
  return std::max({DepthOf(node.operand), DepthOf(node.low), DepthOf(node.high)});
}
int DepthOf(const Like& node) { return std::max(DepthOf(node.operand), DepthOf(node.pattern)); }
int DepthOf(const Cast& node) { return DepthOf(node.operand); }
int DepthOf(const Call& node) { return DepthOf(node.arguments); }
int DepthOf(const Element& node) { return std::max(DepthOf(node.operand), DepthOf(node.key)); }
int DepthOf(const Case& node) {
  int depth = std::max(DepthOf(node.operand), DepthOf(node.otherwise));
  for (const Case::Branch& branch : node.branches) {
    depth = std::max({depth, DepthOf(branch.when), DepthOf(branch.then)});
  }
  return depth;
}

}  // namespace

ExpressionPtr Make(Node node) {
  const int depth = std::visit([](const auto& value) { return DepthOf(value); }, node) + 1;
  return std::make_shared<const Expression>(Expression{std::move(node), depth});
}

}  // namespace glaive::query::sql
