#include <algorithm>
#include <utility>

#include <arrow/array/array_nested.h>
#include <arrow/array/util.h>
#include <arrow/compute/api.h>

#include "core/error.h"
#include "query/cast/coercion.h"
#include "query/cast/kinds.h"
#include "query/values/array_rows.h"
#include "query/values/checked_array.h"
#include "query/values/list_values.h"

namespace glaive::query {
namespace {

using Id = arrow::Type;

arrow::Result<std::shared_ptr<arrow::Buffer>> ValidityOf(const arrow::Array& array) {
  if (array.null_count() == 0) return nullptr;
  arrow::TypedBufferBuilder<bool> bits;
  ARROW_RETURN_NOT_OK(bits.Reserve(array.length()));
  for (int64_t i = 0; i < array.length(); ++i) bits.UnsafeAppend(array.IsValid(i));
  return bits.Finish();
}

template <typename Offset>
arrow::Result<ArrayPtr> MakeLists(const TypePtr& type, const std::vector<int64_t>& ends,
                                  std::shared_ptr<arrow::Buffer> validity, const ArrayPtr& items) {
  if (ends.back() > std::numeric_limits<Offset>::max()) {
    return Unsupported(
        "lists of {} values do not fit into one batch of {}: read fewer rows at "
        "a time",
        ends.back(), TypeName(*type));
  }
  arrow::TypedBufferBuilder<Offset> offsets;
  ARROW_RETURN_NOT_OK(offsets.Reserve(static_cast<int64_t>(ends.size())));
  for (const int64_t end : ends) offsets.UnsafeAppend(static_cast<Offset>(end));
  ARROW_ASSIGN_OR_RAISE(auto buffer, offsets.Finish());
  return arrow::MakeArray(arrow::ArrayData::Make(type, static_cast<int64_t>(ends.size()) - 1,
                                                 {std::move(validity), std::move(buffer)},
                                                 {items->data()}));
}

// Lists of any kind that end so; those of a fixed size have their size each.
arrow::Result<ArrayPtr> MakeListsOf(const TypePtr& type, const std::vector<int64_t>& ends,
                                    std::shared_ptr<arrow::Buffer> validity,
                                    const ArrayPtr& items) {
  if (type->id() == Id::LIST) return MakeLists<int32_t>(type, ends, std::move(validity), items);
  if (type->id() == Id::LARGE_LIST) {
    return MakeLists<int64_t>(type, ends, std::move(validity), items);
  }
  return arrow::MakeArray(arrow::ArrayData::Make(type, static_cast<int64_t>(ends.size()) - 1,
                                                 {std::move(validity)}, {items->data()}));
}

// The items of the lists that are not null, one after the other: what lies hidden behind nulls is
// not cast. With a `size`, lists of another number of items are errors or null, and those that are
// null have so many null items.
arrow::Result<ArrayPtr> ListsToLists(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  ARROW_ASSIGN_OR_RAISE(const auto lists, ListValues::Make(arrow::Datum(array), array->length()));
  const bool is_fixed = type->id() == Id::FIXED_SIZE_LIST;
  const int64_t size =
      is_fixed ? static_cast<const arrow::FixedSizeListType&>(*type).list_size() : 0;
  arrow::Int64Builder positions;
  arrow::TypedBufferBuilder<bool> validity;
  ARROW_RETURN_NOT_OK(validity.Reserve(array->length()));
  std::vector<int64_t> ends = {0};
  ends.reserve(static_cast<size_t>(array->length()) + 1);
  bool is_in_order = true;  // the items are a slice of what is there
  const int64_t first = array->length() == 0 ? 0 : lists[0].begin;
  for (int64_t i = 0; i < array->length(); ++i) {
    const auto range = lists[i];
    const bool fits = !is_fixed || range.size() == size;
    if (!fits && array->IsValid(i) && !is_try) {
      return InvalidInput(
          "Cast error: Cannot cast to {}: the list of {} values in row {} has "
          "another size",
          TypeName(*type), range.size(), i);
    }
    const bool is_valid = array->IsValid(i) && fits;
    validity.UnsafeAppend(is_valid);
    if (is_valid) {
      is_in_order = is_in_order && range.begin == first + positions.length();
      ARROW_RETURN_NOT_OK(positions.Reserve(range.size()));
      for (int64_t item = range.begin; item < range.end; ++item) positions.UnsafeAppend(item);
    } else if (is_fixed) {
      is_in_order = false;
      ARROW_RETURN_NOT_OK(positions.AppendNulls(size));
    }
    ends.push_back(positions.length());
  }
  ArrayPtr items;
  if (is_in_order) {
    items = lists.values()->Slice(first, positions.length());
  } else {
    ARROW_ASSIGN_OR_RAISE(const auto taken, positions.Finish());
    ARROW_ASSIGN_OR_RAISE(items, TakeRows(*lists.values(), *taken));
  }
  ARROW_ASSIGN_OR_RAISE(items, CastArray(items, type->field(0)->type(), is_try));
  ARROW_ASSIGN_OR_RAISE(auto bits, validity.Finish());
  return MakeListsOf(type, ends, std::move(bits), items);
}

// Each value as the only item of a list.
arrow::Result<ArrayPtr> ValuesToLists(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  ARROW_ASSIGN_OR_RAISE(const auto items, CastArray(array, type->field(0)->type(), is_try));
  std::vector<int64_t> ends;
  for (int64_t i = 0; i <= array->length(); ++i) ends.push_back(i);
  return MakeListsOf(type, ends, nullptr, items);
}

// The only item of each list.
arrow::Result<ArrayPtr> ListsToValues(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  ARROW_ASSIGN_OR_RAISE(const auto lists, ListValues::Make(arrow::Datum(array), array->length()));
  arrow::Int64Builder positions;
  for (int64_t i = 0; i < array->length(); ++i) {
    ARROW_RETURN_NOT_OK(array->IsNull(i) ? positions.AppendNull()
                                         : positions.Append(lists[i].begin));
  }
  ARROW_ASSIGN_OR_RAISE(const auto taken, positions.Finish());
  ARROW_ASSIGN_OR_RAISE(const auto items, TakeRows(*lists.values(), *taken));
  return CastArray(items, type, is_try);
}

// By name; a field that the struct does not have is null.
arrow::Result<ArrayPtr> StructToStruct(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  const auto& from = static_cast<const arrow::StructType&>(*array->type());
  const auto& structs = ArrayAs<arrow::StructArray>(*array);
  ARROW_ASSIGN_OR_RAISE(auto validity, ValidityOf(*array));
  std::vector<std::shared_ptr<arrow::ArrayData>> children;
  for (const auto& field : type->fields()) {
    const int index = from.GetFieldIndex(field->name());
    ArrayPtr child;
    if (index < 0) {
      ARROW_ASSIGN_OR_RAISE(child, arrow::MakeArrayOfNull(field->type(), array->length()));
    } else {
      // Null where the struct is: what lies hidden there is not cast.
      ARROW_ASSIGN_OR_RAISE(child, structs.GetFlattenedField(index));
      ARROW_ASSIGN_OR_RAISE(child, CastArray(child, field->type(), is_try));
    }
    children.push_back(child->data());
  }
  return arrow::MakeArray(
      arrow::ArrayData::Make(type, array->length(), {std::move(validity)}, std::move(children)));
}

}  // namespace

arrow::Result<ArrayPtr> CastNested(const ArrayPtr& array, const TypePtr& type, bool is_try) {
  if (array->type_id() == Id::STRUCT) return StructToStruct(array, type, is_try);
  if (IsList(*array->type()) && IsList(*type)) return ListsToLists(array, type, is_try);
  if (IsList(*type)) return ValuesToLists(array, type, is_try);
  return ListsToValues(array, type, is_try);
}

}  // namespace glaive::query
