#include "dataset/columns/join_table.h"

#include <cstring>
#include <utility>

#include <arrow/array.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "dataset/write/input_stream.h"
#include "dataset/write/stored_array.h"
#include "query/bind/filter.h"
#include "query/values/array_rows.h"

namespace glaive::dataset {
namespace {

bool FitsWord(const arrow::DataType& type) {
  return arrow::is_fixed_width(type.id()) && type.bit_width() <= 64;
}

bool IsKey(const arrow::DataType& type) {
  return FitsWord(type) || arrow::is_base_binary_like(type.id()) ||
         type.id() == arrow::Type::FIXED_SIZE_BINARY || arrow::is_decimal(type.id());
}

// The value as a number: its bytes, zeros behind them.
class Words {
 public:
  explicit Words(const arrow::Array& array)
      : is_bool_(array.type_id() == arrow::Type::BOOL),
        width_(static_cast<size_t>(array.type()->bit_width()) / 8),
        offset_(array.offset()),
        data_(array.data()->buffers[1] == nullptr ? nullptr : array.data()->buffers[1]->data()) {}

  uint64_t operator[](int64_t row) const {
    const int64_t slot = offset_ + row;
    if (is_bool_) return data_[slot / 8] >> (slot % 8) & 1;
    uint64_t word = 0;
    std::memcpy(&word, data_ + static_cast<size_t>(slot) * width_, width_);
    return word;
  }

 private:
  bool is_bool_;
  size_t width_;
  int64_t offset_;
  const uint8_t* data_;
};

std::string_view BytesAt(const arrow::Array& array, int64_t row) {
  switch (array.type_id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY: return static_cast<const arrow::BinaryArray&>(array).GetView(row);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return static_cast<const arrow::LargeBinaryArray&>(array).GetView(row);
    default: return static_cast<const arrow::FixedSizeBinaryArray&>(array).GetView(row);
  }
}

// Dictionaries and views as the plain values that they stand for.
arrow::Result<std::shared_ptr<arrow::Array>> AsKey(const arrow::Array& array,
                                                   const arrow::DataType& left,
                                                   std::string_view name) {
  const auto type = StoredType(array.type(), left);
  if (!type->Equals(left)) {
    return InvalidInput("Index column type mismatch: expected {} as in the table, got {} in `{}`",
                        left.ToString(), array.type()->ToString(), name);
  }
  ARROW_ASSIGN_OR_RAISE(const auto key, ToStored(array.data(), type));
  return arrow::MakeArray(key);
}

}  // namespace

void JoinTable::Insert(const arrow::Array& keys) {
  const auto insert = [&](auto& map, const auto& key_at) {
    map.reserve(static_cast<size_t>(keys.length()));
    for (int64_t row = 0; row < keys.length(); ++row) {
      if (keys.IsNull(row)) {
        of_null_ = row;
      } else {
        map.insert_or_assign(key_at(row), row);
      }
    }
  };
  if (FitsWord(*keys.type())) {
    const Words words(keys);
    insert(by_word_, [&](int64_t row) { return words[row]; });
  } else {
    insert(by_bytes_, [&](int64_t row) { return BytesAt(keys, row); });
  }
}

arrow::Result<std::shared_ptr<const JoinTable>> JoinTable::Read(arrow::RecordBatchReader& stream,
                                                                std::string_view key,
                                                                const arrow::DataType& left,
                                                                const wire::Schema& kept) {
  ARROW_RETURN_NOT_OK(query::InitCompute());
  const auto indices = stream.schema()->GetAllFieldIndices(std::string(key));
  if (indices.size() != 1) {
    return InvalidInput("Column {} {} in the rows to join", key,
                        indices.empty() ? "does not exist" : "is there more than once");
  }
  if (!IsKey(left)) return Unsupported("joining on `{}`, a column of {}", key, left.ToString());
  ARROW_ASSIGN_OR_RAISE(const auto schema, stream.schema()->RemoveField(indices.front()));
  ARROW_ASSIGN_OR_RAISE(const auto form, StoredForm::Make(*schema, kept));
  ARROW_ASSIGN_OR_RAISE(arrow::RecordBatchVector batches, stream.ToRecordBatches());
  if (batches.empty()) {
    ARROW_ASSIGN_OR_RAISE(batches.emplace_back(), query::JoinRows(stream.schema(), {}));
  }
  arrow::ArrayVector keys;
  for (auto& batch : batches) {
    ARROW_ASSIGN_OR_RAISE(keys.emplace_back(), AsKey(*batch->column(indices.front()), left, key));
    ARROW_ASSIGN_OR_RAISE(batch, batch->RemoveColumn(indices.front()));
    ARROW_ASSIGN_OR_RAISE(batch, form.Convert(batch));
  }
  std::shared_ptr<JoinTable> made(new JoinTable());
  ARROW_ASSIGN_OR_RAISE(made->keys_, query::JoinRows(keys));
  ARROW_ASSIGN_OR_RAISE(made->values_, query::JoinRows(form.schema(), batches));
  made->Insert(*made->keys_);
  return made;
}

arrow::Result<std::shared_ptr<arrow::Array>> JoinTable::Find(const arrow::Array& keys) const {
  arrow::Int64Builder rows;
  ARROW_RETURN_NOT_OK(rows.Reserve(keys.length()));
  const auto find = [&](const auto& map, const auto& key_at) {
    for (int64_t row = 0; row < keys.length(); ++row) {
      if (keys.IsNull(row)) {
        of_null_ ? rows.UnsafeAppend(*of_null_) : rows.UnsafeAppendNull();
        continue;
      }
      const auto found = map.find(key_at(row));
      found != map.end() ? rows.UnsafeAppend(found->second) : rows.UnsafeAppendNull();
    }
  };
  if (FitsWord(*keys.type())) {
    const Words words(keys);
    find(by_word_, [&](int64_t row) { return words[row]; });
  } else {
    find(by_bytes_, [&](int64_t row) { return BytesAt(keys, row); });
  }
  return rows.Finish();
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> TakeJoined(
    const arrow::RecordBatch& values, const std::shared_ptr<arrow::Array>& rows) {
  arrow::ArrayVector columns;
  for (const auto& column : values.columns()) {
    ARROW_ASSIGN_OR_RAISE(columns.emplace_back(), query::TakeKnownRows(*column, *rows));
  }
  return arrow::RecordBatch::Make(values.schema(), rows->length(), std::move(columns));
}

}  // namespace glaive::dataset
