#include "simulation/read_rows.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "core/error.h"
#include "glaive/scan.h"

namespace glaive::simulation {
namespace {

constexpr const char* kCreatedAt = "_row_created_at_version";
constexpr const char* kUpdatedAt = "_row_last_updated_at_version";

uint64_t NumberAt(const arrow::RecordBatch& batch, const std::string& column, int64_t row) {
  const auto array = batch.GetColumnByName(column);
  return array == nullptr || array->IsNull(row)
             ? 0
             : static_cast<const arrow::UInt64Array&>(*array).Value(row);
}

std::optional<int64_t> ValueAt(const arrow::RecordBatch& batch, const std::string& column,
                               int64_t row) {
  const auto array = batch.GetColumnByName(column);
  if (array == nullptr || array->IsNull(row)) return std::nullopt;
  return static_cast<const arrow::Int64Array&>(*array).Value(row);
}

}  // namespace

arrow::Result<RowsRead> ReadRows(const Dataset& dataset) {
  RowsRead read;
  std::vector<std::string> columns = dataset.schema()->field_names();
  for (size_t i = 0; i < kNumColumns; ++i) {
    read.rows.has_column[i] = dataset.schema()->GetFieldIndex(kColumns[i]) >= 0;
  }
  if (dataset.has_stable_row_ids()) {
    columns.insert(columns.end(), {kCreatedAt, kUpdatedAt});
  }
  ARROW_ASSIGN_OR_RAISE(const auto stream,
                        Scan(dataset, {.columns = columns, .with_row_id = true}));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, stream->Next());
    if (batch == nullptr) return read;
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      const auto key = ValueAt(*batch, "k", i);
      if (!key) return Corrupt({dataset.uri()}, "a row has no key");
      Row row{.created_at = NumberAt(*batch, kCreatedAt, i),
              .updated_at = NumberAt(*batch, kUpdatedAt, i)};
      for (size_t column = 0; column < kNumColumns; ++column) {
        row.values[column] = ValueAt(*batch, kColumns[column], i);
      }
      const bool is_new = read.rows.by_key.emplace(*key, row).second;
      if (!is_new) return Corrupt({dataset.uri()}, "key {} is there twice", *key);
      read.row_ids[*key] = NumberAt(*batch, "_rowid", i);
    }
  }
}

}  // namespace glaive::simulation
