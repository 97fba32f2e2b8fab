#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "glaive/scan.h"
#include "glaive/staged_columns.h"
#include "glaive/write.h"
#include "io/object_store.h"

// A small table whose columns are written in two steps.
namespace glaive::testing {

using Values = std::vector<std::optional<int32_t>>;
using Columns = std::map<std::string, Values>;

inline std::string ColumnTableUri() {
  return std::string("memory://column_table/") +
         ::testing::UnitTest::GetInstance()->current_test_info()->name();
}

inline std::shared_ptr<arrow::RecordBatchReader> ColumnStream(const Columns& columns,
                                                              bool nullable = true) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const auto& [name, values] : columns) {
    arrow::Int32Builder builder;
    for (const auto& value : values) {
      (void)(value ? builder.Append(*value) : builder.AppendNull());
    }
    fields.push_back(arrow::field(name, arrow::int32(), nullable));
    arrays.push_back(builder.Finish().ValueOrDie());
  }
  const auto batch =
      arrow::RecordBatch::Make(arrow::schema(fields), arrays.front()->length(), arrays);
  return arrow::RecordBatchReader::Make({batch}, batch->schema()).ValueOrDie();
}

// Fragments 0 and 1 of three rows each: id = 0..5, v = 10 * id, w = 100 * id; fields 0, 1, 2.
inline Dataset MakeColumnTable(bool stable_row_ids = false) {
  const auto rows = ColumnStream({{"id", {0, 1, 2, 3, 4, 5}},
                                  {"v", {0, 10, 20, 30, 40, 50}},
                                  {"w", {0, 100, 200, 300, 400, 500}}});
  return WriteDataset(rows, ColumnTableUri(),
                      {.limits = {.max_rows_per_file = 3}, .enable_stable_row_ids = stable_row_ids})
      .ValueOrDie()
      .dataset;
}

// Columns that the table has, or new ones.
inline arrow::Result<StagedColumns> Stage(const Dataset& dataset, uint64_t fragment_id,
                                          const Columns& columns, bool nullable = true,
                                          const StageOptions& options = {}) {
  auto stream = ColumnStream(columns, nullable);
  const bool is_known = dataset.schema()->GetFieldByName(columns.begin()->first) != nullptr;
  ARROW_ASSIGN_OR_RAISE(const TableSchema schema,
                        is_known ? ColumnSchema(dataset, *stream->schema())
                                 : NewColumnSchema(dataset, *stream->schema()));
  return StageColumns(dataset, fragment_id, std::move(stream), schema, options);
}

inline arrow::Result<Dataset> CommitAll(const Dataset& dataset,
                                        const std::vector<StagedColumns>& staged,
                                        const CommitColumnsOptions& options = {}) {
  return CommitColumns(dataset, staged, options);
}

inline Dataset NewestColumnTable() { return Dataset::Open(ColumnTableUri()).ValueOrDie(); }

// What the newest version has in a column of integers.
inline Values ReadColumn(const std::string& name) {
  auto stream = Scan(NewestColumnTable(), {.columns = {{name}}}).ValueOrDie();
  const auto table = ToReader(std::move(stream))->ToTable().ValueOrDie();
  Values values;
  for (const auto& chunk : table->column(0)->chunks()) {
    const auto& array = static_cast<const arrow::Int32Array&>(*chunk);
    for (int64_t row = 0; row < array.length(); ++row) {
      values.push_back(array.IsNull(row) ? std::nullopt : std::optional(array.Value(row)));
    }
  }
  return values;
}

inline size_t NumDataFiles() {
  const auto place = io::Resolve(ColumnTableUri()).ValueOrDie();
  return place.store->ListRecursive(place.path + "/data").ValueOrDie().size();
}

}  // namespace glaive::testing
