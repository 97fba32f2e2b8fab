#include "dataset/sorted_scan.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/chunked_array.h>
#include <arrow/compute/api.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "dataset/computed_output.h"
#include "dataset/scan_plan.h"
#include "dataset/sort_key.h"
#include "dataset/table_stream.h"
#include "dataset/take_by_address.h"

namespace glaive::dataset {
namespace {

namespace cp = arrow::compute;

constexpr int64_t kDefaultBatchRows = 8192;
// Rows that are wanted are picked one by one while they are at most that part of all.
constexpr uint64_t kFew = 16;

// The scan without what comes behind it.
ScanOptions Unsorted(const ScanOptions& options) {
  ScanOptions unsorted = options;
  unsorted.order_by.clear();
  unsorted.limit.reset();
  unsorted.offset = 0;
  unsorted.batch_size.reset();
  unsorted.ordered = true;
  return unsorted;
}

ScanOptions OnlyKeys(const ScanOptions& options) {
  ScanOptions keys = Unsorted(options);
  keys.computed.reset();
  keys.columns.emplace();
  for (const SortKey& key : options.order_by) {
    if (std::ranges::count(*keys.columns, key.column) == 0) keys.columns->push_back(key.column);
  }
  keys.with_row_id = false;
  keys.with_row_address = true;
  return keys;
}

// Which rows come first, second, ...
arrow::Result<std::shared_ptr<arrow::Array>> SortedPositions(const arrow::Table& keys,
                                                             const std::vector<SortKey>& order_by) {
  arrow::FieldVector fields;
  arrow::ChunkedArrayVector columns;
  std::vector<cp::SortKey> sort_keys;
  for (const SortKey& key : order_by) {
    // Below all values nulls are first, unless the order goes down.
    const bool nulls_low = key.nulls_first == key.ascending;
    ARROW_ASSIGN_OR_RAISE(auto column,
                          SortKeys(*keys.GetColumnByName(key.column), key.column, nulls_low));
    const std::string name = std::to_string(fields.size());
    fields.push_back(arrow::field(name, column->type()));
    columns.push_back(std::move(column));
    sort_keys.emplace_back(name,
                           key.ascending ? cp::SortOrder::Ascending : cp::SortOrder::Descending,
                           key.nulls_first ? cp::NullPlacement::AtStart : cp::NullPlacement::AtEnd);
  }
  const auto table =
      arrow::Table::Make(arrow::schema(std::move(fields)), std::move(columns), keys.num_rows());
  return cp::SortIndices(arrow::Datum(table), cp::SortOptions(std::move(sort_keys)));
}

arrow::Result<std::shared_ptr<arrow::Table>> TakePositions(
    const std::shared_ptr<arrow::Table>& table, const std::shared_ptr<arrow::Array>& positions) {
  if (table->num_columns() == 0) {
    return arrow::Table::Make(table->schema(), arrow::ChunkedArrayVector{}, positions->length());
  }
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum taken,
                        cp::Take(arrow::Datum(table), arrow::Datum(positions)));
  return taken.table();
}

// The scan's columns of the rows at some addresses, in that order.
arrow::Result<std::shared_ptr<arrow::Table>> TakeColumns(const Dataset& dataset,
                                                         const ScanOptions& options,
                                                         std::span<const uint64_t> addresses) {
  read::ProjectionRequest request{options.columns, options.with_row_id, options.with_row_address};
  if (!options.computed) return TakeByAddress(dataset, addresses, request);
  ARROW_ASSIGN_OR_RAISE(const auto output,
                        ComputedOutput::Make(*ExpressionSchema(dataset), options));
  request.columns = output->inputs();
  ARROW_ASSIGN_OR_RAISE(const auto table, TakeByAddress(dataset, addresses, request));
  ARROW_ASSIGN_OR_RAISE(const auto batch, table->CombineChunksToBatch());
  ARROW_ASSIGN_OR_RAISE(auto computed, output->Apply(*batch));
  return arrow::Table::FromRecordBatches(output->schema(), {std::move(computed)});
}

}  // namespace

arrow::Result<std::unique_ptr<ScanStream>> SortedScan(const Dataset& dataset,
                                                      const ScanOptions& options) {
  if (options.include_deleted_rows) {
    return InvalidInput("deleted rows cannot be sorted: order_by beside include_deleted_rows");
  }
  if (options.batch_size && *options.batch_size == 0) {
    return InvalidInput("batch_size must be greater than 0");
  }
  ARROW_RETURN_NOT_OK(ScanSchema(dataset, options).status());
  ARROW_ASSIGN_OR_RAISE(const auto key_scan, Scan(dataset, OnlyKeys(options)));
  ARROW_ASSIGN_OR_RAISE(const auto keys, ReadAll(*key_scan));
  ARROW_ASSIGN_OR_RAISE(auto positions, SortedPositions(*keys, options.order_by));
  const auto all = static_cast<uint64_t>(keys->num_rows());
  const uint64_t begin = std::min(options.offset, all);
  const uint64_t wanted = std::min(options.limit.value_or(UINT64_MAX), all - begin);
  positions = positions->Slice(static_cast<int64_t>(begin), static_cast<int64_t>(wanted));
  std::shared_ptr<arrow::Table> table;
  if (wanted * kFew <= all) {
    ARROW_ASSIGN_OR_RAISE(const auto picked, TakePositions(keys, positions));
    ARROW_ASSIGN_OR_RAISE(const auto batch, picked->CombineChunksToBatch());
    const auto& addresses =
        static_cast<const arrow::UInt64Array&>(*batch->column(batch->num_columns() - 1));
    ARROW_ASSIGN_OR_RAISE(
        table,
        TakeColumns(dataset, options, {addresses.raw_values(), static_cast<size_t>(wanted)}));
  } else {
    ARROW_ASSIGN_OR_RAISE(const auto scan, Scan(dataset, Unsorted(options)));
    ARROW_ASSIGN_OR_RAISE(const auto whole, ReadAll(*scan));
    ARROW_ASSIGN_OR_RAISE(table, TakePositions(whole, positions));
  }
  const auto batch_rows = static_cast<int64_t>(
      std::min<uint64_t>(options.batch_size.value_or(kDefaultBatchRows), INT64_MAX));
  ARROW_ASSIGN_OR_RAISE(table, table->CombineChunks());
  return std::make_unique<TableStream>(std::move(table), batch_rows);
}

}  // namespace glaive::dataset
