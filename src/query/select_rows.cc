#include "query/select_rows.h"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

namespace glaive::query {

arrow::Result<std::shared_ptr<arrow::RecordBatch>> SelectRows(
    const std::shared_ptr<arrow::RecordBatch>& batch, std::span<const uint32_t> positions) {
  const auto count = static_cast<int64_t>(positions.size());
  if (batch->num_columns() == 0)
    return arrow::RecordBatch::Make(batch->schema(), count, arrow::ArrayVector{});
  // Borrows the positions: the indices do not leave this function.
  const auto indices = std::make_shared<arrow::UInt32Array>(
      count, std::make_shared<arrow::Buffer>(reinterpret_cast<const uint8_t*>(positions.data()),
                                             count * static_cast<int64_t>(sizeof(uint32_t))));
  arrow::compute::ExecContext context;
  context.set_use_threads(false);
  ARROW_ASSIGN_OR_RAISE(
      const auto taken,
      arrow::compute::Take(batch, indices, arrow::compute::TakeOptions::NoBoundsCheck(), &context));
  return taken.record_batch();
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> SelectRows(const arrow::RecordBatch& batch,
                                                              std::span<const uint32_t> positions) {
  return SelectRows(batch.Slice(0), positions);
}

}  // namespace glaive::query
