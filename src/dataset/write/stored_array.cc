#include "dataset/write/stored_array.h"

#include <utility>

#include <arrow/array/array_dict.h>
#include <arrow/array/util.h>
#include <arrow/compute/cast.h>
#include <arrow/datum.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>

#include "query/values/array_rows.h"

namespace glaive::dataset {
namespace {

using TypePtr = std::shared_ptr<arrow::DataType>;
using ArrayDataPtr = std::shared_ptr<arrow::ArrayData>;

// Null where there is none that is kept.
TypePtr KeptChild(const arrow::DataType& kept, const arrow::Field& child, int index) {
  if (kept.id() != arrow::Type::STRUCT) return kept.field(index)->type();
  const auto found = static_cast<const arrow::StructType&>(kept).GetFieldByName(child.name());
  return found == nullptr ? nullptr : found->type();
}

TypePtr WithChildren(const arrow::DataType& type, const arrow::FieldVector& children) {
  switch (type.id()) {
    case arrow::Type::STRUCT: return arrow::struct_(children);
    case arrow::Type::LIST: return arrow::list(children[0]);
    case arrow::Type::LARGE_LIST: return arrow::large_list(children[0]);
    case arrow::Type::FIXED_SIZE_LIST:
      return arrow::fixed_size_list(children[0],
                                    static_cast<const arrow::FixedSizeListType&>(type).list_size());
    case arrow::Type::MAP:
      return std::make_shared<arrow::MapType>(
          children[0], static_cast<const arrow::MapType&>(type).keys_sorted());
    default: return type.GetSharedPtr();
  }
}

}  // namespace

TypePtr StoredType(const TypePtr& input, const arrow::DataType& kept) {
  switch (input->id()) {
    case arrow::Type::STRING_VIEW: return kept.id() == arrow::Type::STRING ? arrow::utf8() : input;
    case arrow::Type::BINARY_VIEW:
      return kept.id() == arrow::Type::BINARY ? arrow::binary() : input;
    case arrow::Type::EXTENSION: {
      const auto& extension = static_cast<const arrow::ExtensionType&>(*input);
      return kept.id() == arrow::Type::EXTENSION ? input
                                                 : StoredType(extension.storage_type(), kept);
    }
    case arrow::Type::DICTIONARY:
      if (kept.id() == arrow::Type::DICTIONARY) return input;
      return StoredType(static_cast<const arrow::DictionaryType&>(*input).value_type(), kept);
    default: break;
  }
  if (input->num_fields() == 0 || input->id() != kept.id()) return input;
  arrow::FieldVector children = input->fields();
  bool same = true;
  for (int i = 0; i < input->num_fields(); ++i) {
    auto& child = children[static_cast<size_t>(i)];
    const TypePtr kept_child = KeptChild(kept, *child, i);
    if (kept_child == nullptr) continue;
    const TypePtr stored = StoredType(child->type(), *kept_child);
    if (stored == child->type()) continue;
    child = child->WithType(stored);
    same = false;
  }
  return same ? input : WithChildren(*input, children);
}

arrow::Result<ArrayDataPtr> ToStored(const ArrayDataPtr& data, const TypePtr& type) {
  if (data->type->Equals(*type)) return data;
  switch (data->type->id()) {
    case arrow::Type::EXTENSION: {
      ArrayDataPtr storage = data->Copy();
      storage->type = static_cast<const arrow::ExtensionType&>(*data->type).storage_type();
      return ToStored(storage, type);
    }
    case arrow::Type::DICTIONARY: {
      const arrow::DictionaryArray words(data);
      ARROW_ASSIGN_OR_RAISE(const auto values,
                            query::TakeRows(*words.dictionary(), *words.indices()));
      return ToStored(values->data(), type);
    }
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW: {
      ARROW_ASSIGN_OR_RAISE(const arrow::Datum plain,
                            arrow::compute::Cast(arrow::Datum(data), type));
      return plain.array();
    }
    default: break;
  }
  ArrayDataPtr stored = data->Copy();
  stored->type = type;
  for (int i = 0; i < type->num_fields(); ++i) {
    ArrayDataPtr& child = stored->child_data[static_cast<size_t>(i)];
    ARROW_ASSIGN_OR_RAISE(child, ToStored(child, type->field(i)->type()));
  }
  return stored;
}

}  // namespace glaive::dataset
