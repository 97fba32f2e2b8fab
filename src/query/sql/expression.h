#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <arrow/type_fwd.h>

// An expression as it is written: names are not resolved and types not known. Plain values.
namespace glaive::query::sql {

struct Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

// An int64, uint64 where that is too small, double, utf8, binary, bool, interval or null scalar. Of
// any type where the expression was not written as SQL.
struct Literal {
  std::shared_ptr<arrow::Scalar> value;
};

struct Column {
  struct Part {
    std::string name;
    bool quoted = false;  // then its case counts
  };
  std::vector<Part> path;
  bool in_function = false;  // then the case of the first part counts too
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
  kConcat,
  kShiftLeft,  // from here on: of bits
  kShiftRight,
  kBitAnd,
  kBitOr,
  kBitXor,
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
  std::string escape;  // one character, or none: then it is the backslash
};

struct Cast {
  ExpressionPtr operand;
  std::shared_ptr<arrow::DataType> type;
  bool is_try;  // null where a value cannot be cast
};

struct Call {
  std::string function;  // in lower case
  std::vector<ExpressionPtr> arguments;
};

// Of a struct by name, or of a list by a position that counts from 1.
struct Element {
  ExpressionPtr operand;
  ExpressionPtr key;
};

struct Case {
  struct Branch {
    ExpressionPtr when;
    ExpressionPtr then;
  };
  ExpressionPtr operand;  // null: each `when` is a condition; else what they are compared to
  std::vector<Branch> branches;
  ExpressionPtr otherwise;  // null: null
};

using Node = std::variant<Literal, Column, Unary, Binary, Logical, In, Between, Like, Cast, Call,
                          Element, Case>;

struct Expression {
  Node node;
  int depth = 1;  // of the tree below, itself included
};

ExpressionPtr Make(Node node);

}  // namespace glaive::query::sql
