#include "query/values/row_pieces.h"

#include <utility>

#include <arrow/array/util.h>
#include <arrow/builder.h>
#include <arrow/type.h>

#include "core/error.h"
#include "query/values/array_rows.h"

namespace glaive::query {

arrow::Status RowPieces::Add(std::shared_ptr<arrow::Array> values, std::span<const uint32_t> rows) {
  if (values->length() != static_cast<int64_t>(rows.size())) {
    return Internal("{} values for {} rows", values->length(), rows.size());
  }
  for (const uint32_t row : rows) sources_[row] = size_++;
  pieces_.push_back(std::move(values));
  return arrow::Status::OK();
}

arrow::Result<arrow::Datum> RowPieces::Finish(const std::shared_ptr<arrow::DataType>& type) const {
  if (pieces_.empty()) {
    ARROW_ASSIGN_OR_RAISE(auto nulls,
                          arrow::MakeArrayOfNull(type, static_cast<int64_t>(sources_.size())));
    return arrow::Datum(std::move(nulls));
  }
  ARROW_ASSIGN_OR_RAISE(const auto values, JoinRows(pieces_));
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(static_cast<int64_t>(sources_.size())));
  for (const int64_t source : sources_) {
    if (source == kNone) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(source);
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto indices, builder.Finish());
  ARROW_ASSIGN_OR_RAISE(auto taken, TakeKnownRows(*values, *indices));
  return arrow::Datum(std::move(taken));
}

}  // namespace glaive::query
