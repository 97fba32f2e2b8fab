#include "dataset/merge/keys.h"

#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/exec.h>
#include <arrow/compute/row/grouper.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "dataset/merge/key_bytes.h"
#include "query/values/array_rows.h"

namespace glaive::dataset {
namespace {

using TypePtr = std::shared_ptr<arrow::DataType>;

// Types that the hash table takes as they are; others are told to it as bytes.
bool IsPlain(const arrow::DataType& type) {
  return arrow::is_integer(type.id()) || arrow::is_temporal(type.id()) ||
         arrow::is_base_binary_like(type.id()) || arrow::is_decimal(type.id()) ||
         type.id() == arrow::Type::BOOL || type.id() == arrow::Type::FLOAT ||
         type.id() == arrow::Type::DOUBLE || type.id() == arrow::Type::FIXED_SIZE_BINARY;
}

TypePtr ValueType(const TypePtr& type) {
  if (type->id() != arrow::Type::DICTIONARY) return type;
  return static_cast<const arrow::DictionaryType&>(*type).value_type();
}

TypePtr HashedType(const TypePtr& type) {
  TypePtr value = ValueType(type);
  return IsPlain(*value) ? value : arrow::binary();
}

arrow::Result<std::shared_ptr<arrow::Array>> ToHashed(std::shared_ptr<arrow::Array> column) {
  const TypePtr type = ValueType(column->type());
  if (column->type_id() == arrow::Type::DICTIONARY) {
    const auto& words = static_cast<const arrow::DictionaryArray&>(*column);
    ARROW_ASSIGN_OR_RAISE(column, query::TakeRows(*words.dictionary(), *words.indices()));
  }
  if (IsPlain(*type)) return column;
  arrow::BinaryBuilder builder;
  std::string bytes;
  for (int64_t row = 0; row < column->length(); ++row) {
    if (column->IsNull(row)) {
      ARROW_RETURN_NOT_OK(builder.AppendNull());
      continue;
    }
    bytes.clear();
    AppendUniqueBytes(*column, row, &bytes);
    ARROW_RETURN_NOT_OK(builder.Append(bytes));
  }
  return builder.Finish();
}

}  // namespace

KeyIndex::KeyIndex(std::unique_ptr<arrow::compute::Grouper> grouper)
    : grouper_(std::move(grouper)) {}
KeyIndex::KeyIndex(KeyIndex&&) noexcept = default;
KeyIndex::~KeyIndex() = default;

arrow::Result<KeyIndex> KeyIndex::Make(const std::vector<TypePtr>& types) {
  std::vector<arrow::TypeHolder> hashed;
  for (const TypePtr& type : types) hashed.emplace_back(HashedType(type));
  ARROW_ASSIGN_OR_RAISE(auto grouper, arrow::compute::Grouper::Make(hashed));
  return KeyIndex(std::move(grouper));
}

uint32_t KeyIndex::num_keys() const { return grouper_->num_groups(); }

arrow::Result<std::vector<uint32_t>> KeyIndex::Add(const arrow::ArrayVector& columns) {
  return Number(columns, true);
}

arrow::Result<std::vector<uint32_t>> KeyIndex::Find(const arrow::ArrayVector& columns) {
  return Number(columns, false);
}

arrow::Result<std::vector<uint32_t>> KeyIndex::Number(const arrow::ArrayVector& columns, bool add) {
  const int64_t num_rows = columns.front()->length();
  if (num_rows == 0) return std::vector<uint32_t>();
  arrow::ArrayVector hashed;
  for (const auto& column : columns) {
    ARROW_ASSIGN_OR_RAISE(hashed.emplace_back(), ToHashed(column));
  }
  const arrow::compute::ExecBatch batch(std::vector<arrow::Datum>(hashed.begin(), hashed.end()),
                                        num_rows);
  const arrow::compute::ExecSpan span(batch);
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum groups,
                        add ? grouper_->Consume(span) : grouper_->Lookup(span));
  const auto numbers = groups.array_as<arrow::UInt32Array>();
  std::vector<uint32_t> keys(numbers->raw_values(), numbers->raw_values() + num_rows);
  if (numbers->null_count() > 0) {
    for (int64_t row = 0; row < num_rows; ++row) {
      if (numbers->IsNull(row)) keys[static_cast<size_t>(row)] = kNoKey;
    }
  }
  for (const auto& column : hashed) {
    if (column->null_count() == 0) continue;
    for (int64_t row = 0; row < num_rows; ++row) {
      if (column->IsNull(row)) keys[static_cast<size_t>(row)] = kNoKey;
    }
  }
  return keys;
}

}  // namespace glaive::dataset
