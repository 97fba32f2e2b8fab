#include "query/values/list_values.h"

#include <arrow/array/array_nested.h>
#include <arrow/array/util.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "core/error.h"
#include "query/values/checked_array.h"

namespace glaive::query {

arrow::Result<ListValues> ListValues::Make(const arrow::Datum& value, int64_t num_rows) {
  ListValues lists;
  lists.num_rows_ = num_rows;
  lists.is_scalar_ = value.is_scalar();
  if (value.is_scalar()) {
    ARROW_ASSIGN_OR_RAISE(lists.lists_, arrow::MakeArrayFromScalar(*value.scalar(), 1));
  } else {
    lists.lists_ = value.make_array();
  }
  switch (lists.lists_->type_id()) {
    case arrow::Type::LIST:
      lists.values_ = ArrayAs<arrow::ListArray>(*lists.lists_).values();
      return lists;
    case arrow::Type::LARGE_LIST:
      lists.values_ = ArrayAs<arrow::LargeListArray>(*lists.lists_).values();
      return lists;
    case arrow::Type::FIXED_SIZE_LIST:
      lists.values_ = ArrayAs<arrow::FixedSizeListArray>(*lists.lists_).values();
      return lists;
    default: return Internal("{} is no list", lists.lists_->type()->ToString());
  }
}

ListValues::Range ListValues::operator[](int64_t row) const {
  if (is_scalar_) row = 0;
  switch (lists_->type_id()) {
    case arrow::Type::LIST: {
      const auto& lists = ArrayAs<arrow::ListArray>(*lists_);
      return {lists.value_offset(row), lists.value_offset(row + 1)};
    }
    case arrow::Type::LARGE_LIST: {
      const auto& lists = ArrayAs<arrow::LargeListArray>(*lists_);
      return {lists.value_offset(row), lists.value_offset(row + 1)};
    }
    default: {
      const auto& lists = ArrayAs<arrow::FixedSizeListArray>(*lists_);
      return {lists.value_offset(row), lists.value_offset(row + 1)};
    }
  }
}

}  // namespace glaive::query
