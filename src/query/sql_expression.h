#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <arrow/type_fwd.h>

// A predicate as it is written: names are not resolved and types not known. Plain values.
namespace glaive::query::sql {

struct Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

// An int64, uint64 where that is too small, double, utf8, binary, bool or null scalar.
struct Literal {
  std::shared_ptr<arrow::Scalar> value;
};

struct Column {
  struct Part {
    std::string name;
    bool quoted = false;  // then its case counts
  };
  std::vector<Part> path;
};

enum class UnaryOperator : uint8_t {
  kNot,
  kNegate,
  kIsNull,
  kIsTrue,
  kIsFalse,
};

struct Unary {
  UnaryOperator op;
  ExpressionPtr operand;
};

enum class BinaryOperator : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kNotDistinct,  // equal, or both null
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
};

struct Binary {
  BinaryOperator op;
  ExpressionPtr left;
  ExpressionPtr right;
};

// AND or OR of two or more: long chains are no deep trees.
struct Logical {
  bool is_and;
  std::vector<ExpressionPtr> operands;
};

struct In {
  ExpressionPtr operand;
  std::vector<ExpressionPtr> list;
};

// Both ends belong to it.
struct Between {
  ExpressionPtr operand;
  ExpressionPtr low;
  ExpressionPtr high;
};

struct Like {
  ExpressionPtr operand;
  ExpressionPtr pattern;
  bool ignore_case;
};

struct Expression {
  std::variant<Literal, Column, Unary, Binary, Logical, In, Between, Like> node;
  int depth = 1;  // of the tree below, itself included
};

}  // namespace glaive::query::sql
