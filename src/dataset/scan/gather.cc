#include "dataset/scan/gather.h"

#include <algorithm>

#include <arrow/array.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "dataset/scan/array_bytes.h"
#include "query/values/array_rows.h"
#include "query/values/select_rows.h"

namespace glaive::dataset {

size_t CountGatherable(const arrow::RecordBatchVector& batches, std::span<const RowPlace> rows,
                       const GatherLimits& limits) {
  if (rows.empty()) return 0;
  const arrow::Schema& schema = *batches.front()->schema();
  uint64_t fixed_bits = 0;  // of a row
  std::vector<int> variable;
  for (int i = 0; i < schema.num_fields(); ++i) {
    const arrow::DataType& type = *schema.field(i)->type();
    if (arrow::is_fixed_width(type.id())) {
      fixed_bits += static_cast<uint64_t>(type.bit_width());
    } else {
      variable.push_back(i);
    }
  }
  std::vector<uint64_t> reach(variable.size());
  uint64_t bytes = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i == limits.max_rows) return i;
    const arrow::RecordBatch& batch = *batches[rows[i].batch];
    const int64_t row = rows[i].row;
    bytes += (fixed_bits + 7) / 8;
    bool is_too_far = false;
    for (size_t column = 0; column < variable.size(); ++column) {
      const arrow::ArrayData& array = *batch.column_data(variable[column]);
      bytes += ArrayBytes(array, row, row + 1);
      reach[column] += OffsetReach(array, row, row + 1);
      is_too_far = is_too_far || reach[column] > limits.reach;
    }
    if (i > 0 && (is_too_far || bytes > limits.bytes)) return i;
  }
  return rows.size();
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> GatherRows(
    const std::shared_ptr<arrow::Schema>& schema, const arrow::RecordBatchVector& batches,
    std::span<const RowPlace> rows) {
  if (schema->num_fields() == 0) {
    return arrow::RecordBatch::Make(schema, static_cast<int64_t>(rows.size()),
                                    arrow::ArrayVector{});
  }
  if (rows.empty()) return arrow::RecordBatch::MakeEmpty(schema);
  // Of each batch what is asked of it, then all of it in order.
  std::vector<std::vector<uint32_t>> of_batch(batches.size());
  std::vector<uint32_t> positions;  // among those of the batch
  positions.reserve(rows.size());
  for (const RowPlace& place : rows) {
    positions.push_back(static_cast<uint32_t>(of_batch[place.batch].size()));
    of_batch[place.batch].push_back(place.row);
  }
  arrow::RecordBatchVector parts;
  std::vector<uint32_t> first_of(batches.size());
  uint32_t num_rows = 0;
  for (size_t i = 0; i < batches.size(); ++i) {
    first_of[i] = num_rows;
    if (of_batch[i].empty()) continue;
    ARROW_ASSIGN_OR_RAISE(auto part, query::SelectRows(batches[i], of_batch[i]));
    num_rows += static_cast<uint32_t>(of_batch[i].size());
    parts.push_back(std::move(part));
  }
  if (parts.size() == 1) return parts.front();
  ARROW_ASSIGN_OR_RAISE(const auto joined, query::JoinRows(schema, parts));
  parts.clear();
  std::vector<uint32_t> order;
  order.reserve(rows.size());
  bool is_in_order = true;
  for (size_t i = 0; i < rows.size(); ++i) {
    order.push_back(first_of[rows[i].batch] + positions[i]);
    is_in_order = is_in_order && order.back() == i;
  }
  return is_in_order ? joined : query::SelectRows(joined, order);
}

}  // namespace glaive::dataset
