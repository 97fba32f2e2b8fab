#include "query/values/select_rows.h"

#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "query/values/array_rows.h"
#include "query/values/select_lists.h"

namespace glaive::query {

arrow::Result<std::shared_ptr<arrow::RecordBatch>> SelectRows(
    const std::shared_ptr<arrow::RecordBatch>& batch, std::span<const uint32_t> positions) {
  const auto count = static_cast<int64_t>(positions.size());
  if (batch->num_columns() == 0)
    return arrow::RecordBatch::Make(batch->schema(), count, arrow::ArrayVector{});
  // Borrows the positions: the indices do not leave this function.
  const arrow::UInt32Array indices(
      count, std::make_shared<arrow::Buffer>(reinterpret_cast<const uint8_t*>(positions.data()),
                                             count * static_cast<int64_t>(sizeof(uint32_t))));
  arrow::ArrayDataVector columns;
  for (const auto& column : batch->column_data()) {
    std::shared_ptr<arrow::ArrayData> selected;
    if (AreListsOfValues(*column)) {
      ARROW_ASSIGN_OR_RAISE(selected, SelectLists(*column, positions));
    }
    if (selected == nullptr) {
      ARROW_ASSIGN_OR_RAISE(const auto taken, TakeKnownRows(*arrow::MakeArray(column), indices));
      selected = taken->data();
    }
    columns.push_back(std::move(selected));
  }
  return arrow::RecordBatch::Make(batch->schema(), count, std::move(columns));
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> SelectRows(const arrow::RecordBatch& batch,
                                                              std::span<const uint32_t> positions) {
  return SelectRows(batch.Slice(0), positions);
}

arrow::Result<std::shared_ptr<arrow::Array>> SelectValues(
    const std::shared_ptr<arrow::Array>& values, std::span<const uint32_t> positions) {
  const auto batch = arrow::RecordBatch::Make(arrow::schema({arrow::field("", values->type())}),
                                              values->length(), {values});
  ARROW_ASSIGN_OR_RAISE(const auto selected, SelectRows(batch, positions));
  return selected->column(0);
}

}  // namespace glaive::query
