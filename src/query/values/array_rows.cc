#include "query/values/array_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/datum.h>
#include <arrow/extension_type.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include "core/error.h"

namespace glaive::query {
namespace {

using ArrayDataPtr = std::shared_ptr<arrow::ArrayData>;
using arrow::bit_util::GetBit;

const arrow::DataType& StorageOf(const arrow::DataType& type) {
  const arrow::DataType* storage = &type;
  while (storage->id() == arrow::Type::EXTENSION) {
    storage = static_cast<const arrow::ExtensionType&>(*storage).storage_type().get();
  }
  return *storage;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> Validity(const arrow::ArrayData& data) {
  if (!data.MayHaveNulls()) return nullptr;
  return arrow::internal::CopyBitmap(arrow::default_memory_pool(), data.buffers[0]->data(),
                                     data.offset, data.length);
}

arrow::Result<ArrayDataPtr> SettleChildren(const ArrayDataPtr& data) {
  ArrayDataPtr settled = data;
  for (size_t i = 0; i < data->child_data.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto child, Settle(data->child_data[i]));
    if (child == data->child_data[i]) continue;
    if (settled == data) settled = data->Copy();
    settled->child_data[i] = std::move(child);
  }
  return settled;
}

// With `width` slots of the children for each; the children are sliced instead.
arrow::Result<ArrayDataPtr> SettleSlice(const ArrayDataPtr& data, int64_t width) {
  if (data->offset == 0) return SettleChildren(data);
  ArrayDataPtr settled = data->Copy();
  ARROW_ASSIGN_OR_RAISE(settled->buffers[0], Validity(*data));
  if (settled->buffers[0] == nullptr) settled->null_count = 0;
  settled->offset = 0;
  for (ArrayDataPtr& child : settled->child_data) {
    ARROW_ASSIGN_OR_RAISE(child, Settle(child->Slice(data->offset * width, data->length * width)));
  }
  return settled;
}

bool HoldsFixedSizeList(const arrow::DataType& type) {
  const arrow::DataType& storage = StorageOf(type);
  if (storage.id() == arrow::Type::FIXED_SIZE_LIST) return true;
  return storage.id() == arrow::Type::STRUCT &&
         std::ranges::any_of(storage.fields(),
                             [](const auto& field) { return HoldsFixedSizeList(*field->type()); });
}

// Replaces indices of null words by nulls and the others by those that are left once the nulls are
// gone.
template <typename Index>
arrow::Status Renumber(const arrow::ArrayData& words, const std::vector<int64_t>& ranks,
                       arrow::ArrayData* indices) {
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<arrow::Buffer> renumbered,
      arrow::AllocateBuffer(indices->length * static_cast<int64_t>(sizeof(Index))));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> validity,
                        arrow::AllocateEmptyBitmap(indices->length));
  const Index* from = indices->GetValues<Index>(1);
  auto* to = reinterpret_cast<Index*>(renumbered->mutable_data());
  const bool may_be_null = indices->MayHaveNulls();
  int64_t num_nulls = 0;
  for (int64_t i = 0; i < indices->length; ++i) {
    to[i] = 0;
    bool valid = !may_be_null || GetBit(indices->buffers[0]->data(), indices->offset + i);
    if (valid) {
      const auto word = static_cast<uint64_t>(from[i]);
      if (word >= ranks.size()) {
        return InvalidInput("a dictionary of {} values does not have the value at {}", words.length,
                            from[i]);
      }
      valid = ranks[word] >= 0;
      if (valid) to[i] = static_cast<Index>(ranks[word]);
    }
    arrow::bit_util::SetBitTo(validity->mutable_data(), i, valid);
    num_nulls += valid ? 0 : 1;
  }
  indices->buffers = {std::move(validity), std::move(renumbered)};
  indices->offset = 0;
  indices->null_count = num_nulls;
  return arrow::Status::OK();
}

arrow::Result<ArrayDataPtr> SettleDictionary(const ArrayDataPtr& data,
                                             const arrow::DictionaryType& type) {
  ArrayDataPtr settled = data->Copy();
  ARROW_ASSIGN_OR_RAISE(settled->dictionary, Settle(data->dictionary));
  const auto words = arrow::MakeArray(settled->dictionary);
  if (words->null_count() == 0) return settled;
  std::vector<int64_t> ranks;
  arrow::Int64Builder kept;
  for (int64_t i = 0; i < words->length(); ++i) {
    ranks.push_back(words->IsNull(i) ? -1 : kept.length());
    if (words->IsValid(i)) ARROW_RETURN_NOT_OK(kept.Append(i));
  }
  ARROW_ASSIGN_OR_RAISE(const auto positions, kept.Finish());
  ARROW_ASSIGN_OR_RAISE(const auto left, TakeKnownRows(*words, *positions));
  settled->dictionary = left->data();
  const auto renumber = [&]<typename Index>(Index /*of this type*/) {
    return Renumber<Index>(*words->data(), ranks, settled.get());
  };
  arrow::Status renumbered;
  switch (type.index_type()->id()) {
    case arrow::Type::INT8: renumbered = renumber(int8_t{}); break;
    case arrow::Type::UINT8: renumbered = renumber(uint8_t{}); break;
    case arrow::Type::INT16: renumbered = renumber(int16_t{}); break;
    case arrow::Type::UINT16: renumbered = renumber(uint16_t{}); break;
    case arrow::Type::INT32: renumbered = renumber(int32_t{}); break;
    case arrow::Type::UINT32: renumbered = renumber(uint32_t{}); break;
    case arrow::Type::INT64: renumbered = renumber(int64_t{}); break;
    default: renumbered = renumber(uint64_t{}); break;
  }
  ARROW_RETURN_NOT_OK(renumbered);
  return settled;
}

// MakeEmptyArray builds no lists and structs of extension types.
arrow::Result<std::shared_ptr<arrow::Array>> NoRows(const std::shared_ptr<arrow::DataType>& type) {
  return arrow::MakeArrayOfNull(type, 0);
}

arrow::Result<ArrayDataPtr> SettleEmpty(const ArrayDataPtr& data, const arrow::DataType& storage) {
  ARROW_ASSIGN_OR_RAISE(const auto empty, NoRows(storage.GetSharedPtr()));
  if (data->type->id() != arrow::Type::EXTENSION) return empty->data();
  ArrayDataPtr settled = empty->data()->Copy();
  settled->type = data->type;
  return settled;
}

arrow::Result<std::shared_ptr<arrow::Array>> TakeBy(const arrow::Array& values,
                                                    const arrow::Array& positions,
                                                    const arrow::compute::TakeOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto settled, Settle(values.data()));
  arrow::compute::ExecContext context;
  context.set_use_threads(false);
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum taken,
                        arrow::compute::Take(arrow::Datum(settled), arrow::Datum(positions.data()),
                                             options, &context));
  return taken.make_array();
}

}  // namespace

arrow::Result<ArrayDataPtr> Settle(const ArrayDataPtr& data) {
  const arrow::DataType& type = StorageOf(*data->type);
  if (data->length == 0) return SettleEmpty(data, type);
  switch (type.id()) {
    case arrow::Type::FIXED_SIZE_LIST:
      return SettleSlice(data, static_cast<const arrow::FixedSizeListType&>(type).list_size());
    // A struct's offset would be handed down to them.
    case arrow::Type::STRUCT:
      return HoldsFixedSizeList(type) ? SettleSlice(data, 1) : SettleChildren(data);
    case arrow::Type::DICTIONARY:
      return SettleDictionary(data, static_cast<const arrow::DictionaryType&>(type));
    default: return SettleChildren(data);
  }
}

arrow::Result<std::shared_ptr<arrow::Array>> TakeRows(const arrow::Array& values,
                                                      const arrow::Array& positions) {
  return TakeBy(values, positions, arrow::compute::TakeOptions::BoundsCheck());
}

arrow::Result<std::shared_ptr<arrow::Array>> TakeKnownRows(const arrow::Array& values,
                                                           const arrow::Array& positions) {
  return TakeBy(values, positions, arrow::compute::TakeOptions::NoBoundsCheck());
}

arrow::Result<std::shared_ptr<arrow::Array>> JoinRows(const arrow::ArrayVector& pieces) {
  if (pieces.size() == 1) return pieces.front();
  arrow::ArrayVector settled;
  for (const auto& piece : pieces) {
    ARROW_ASSIGN_OR_RAISE(const auto data, Settle(piece->data()));
    settled.push_back(arrow::MakeArray(data));
  }
  return arrow::Concatenate(settled);
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> JoinRows(
    const std::shared_ptr<arrow::Schema>& schema, const arrow::RecordBatchVector& pieces) {
  if (pieces.size() == 1) return pieces.front();
  int64_t num_rows = 0;
  for (const auto& piece : pieces) num_rows += piece->num_rows();
  arrow::ArrayVector columns;
  for (int i = 0; i < schema->num_fields(); ++i) {
    arrow::ArrayVector parts;
    for (const auto& piece : pieces) parts.push_back(piece->column(i));
    if (parts.empty()) {
      ARROW_ASSIGN_OR_RAISE(parts.emplace_back(), NoRows(schema->field(i)->type()));
    }
    ARROW_ASSIGN_OR_RAISE(columns.emplace_back(), JoinRows(parts));
  }
  return arrow::RecordBatch::Make(schema, num_rows, std::move(columns));
}

}  // namespace glaive::query
