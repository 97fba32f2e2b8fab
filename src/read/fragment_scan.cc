#include "read/fragment_scan.h"

#include <algorithm>
#include <utility>

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "query/values/select_rows.h"
#include "read/row_ranges.h"

namespace glaive::read {
namespace {

// Reading a range of its own for each passing row pays off while there are few of them.
bool WorthPicking(size_t num_ranges, uint64_t num_rows) { return num_ranges * 16 <= num_rows; }

}  // namespace

arrow::Result<std::shared_ptr<const ScanColumns>> ScanColumns::Make(
    const wire::Schema& schema, const ProjectionRequest& request,
    std::shared_ptr<const query::Filter> filter) {
  auto columns = std::make_shared<ScanColumns>();
  ARROW_ASSIGN_OR_RAISE(columns->output, Projection::Make(schema, request));
  if (filter == nullptr) {
    columns->rest = columns->output;
    return columns;
  }
  ARROW_ASSIGN_OR_RAISE(columns->filtered,
                        Projection::Make(schema, {.columns = filter->columns()}));
  columns->filter = std::move(filter);
  std::vector<std::string> rest;
  for (const auto& field : columns->output->schema->fields()) {
    const int filtered = columns->filtered->schema->GetFieldIndex(field->name());
    if (filtered >= 0) {
      columns->sources.push_back({true, filtered});
    } else {
      columns->sources.push_back({false, static_cast<int>(rest.size())});
      rest.push_back(field->name());
    }
  }
  ARROW_ASSIGN_OR_RAISE(columns->rest, Projection::Make(schema, {.columns = std::move(rest)}));
  return columns;
}

arrow::Result<std::shared_ptr<const FragmentScan>> FragmentScan::Open(
    const Snapshot& snapshot, const wire::DataFragment& fragment,
    std::shared_ptr<const ScanColumns> columns, uint64_t first_live_row) {
  std::shared_ptr<FragmentScan> scan(new FragmentScan());
  if (columns->filter != nullptr) {
    ARROW_ASSIGN_OR_RAISE(scan->filtered_, FragmentReader::Open(snapshot, fragment,
                                                                columns->filtered, first_live_row));
  }
  ARROW_ASSIGN_OR_RAISE(scan->rest_,
                        FragmentReader::Open(snapshot, fragment, columns->rest, first_live_row));
  scan->columns_ = std::move(columns);
  return scan;
}

file::FileReader::RowSize FragmentScan::SizeFrom(uint64_t row) const {
  auto size = rest_->SizeFrom(row);
  if (filtered_ == nullptr) return size;
  const auto filtered = filtered_->SizeFrom(row);
  return {size.bytes + filtered.bytes, std::min(size.end, filtered.end)};
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> FragmentScan::Read(
    std::span<const RowRange> rows, uint64_t most_bytes) const {
  if (filtered_ == nullptr) return rest_->Read(rows, most_bytes);
  ARROW_ASSIGN_OR_RAISE(auto filtered, filtered_->Read(rows, most_bytes));
  const auto num_rows = static_cast<uint64_t>(filtered->num_rows());
  ARROW_ASSIGN_OR_RAISE(const auto passed, columns_->filter->Select(*filtered));
  if (passed.size() < num_rows) {
    ARROW_ASSIGN_OR_RAISE(filtered, query::SelectRows(filtered, passed));
  }
  ARROW_ASSIGN_OR_RAISE(const auto rest, ReadRest(rows, passed, num_rows, most_bytes));
  arrow::ArrayVector arrays;
  for (const ScanColumns::Source& source : columns_->sources) {
    arrays.push_back((source.from_filter ? filtered : rest)->column(source.column));
  }
  return arrow::RecordBatch::Make(columns_->output->schema, filtered->num_rows(),
                                  std::move(arrays));
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> FragmentScan::ReadRest(
    std::span<const RowRange> rows, std::span<const uint32_t> passed, uint64_t num_rows,
    uint64_t most_bytes) const {
  if (passed.empty() || columns_->rest->outputs.empty()) return rest_->Read({}, most_bytes);
  if (passed.size() == num_rows) return rest_->Read(rows, most_bytes);
  const std::vector<RowRange> picked = Pick(rows, passed);
  if (WorthPicking(picked.size(), num_rows)) return rest_->Read(picked, most_bytes);
  ARROW_ASSIGN_OR_RAISE(const auto whole, rest_->Read(rows, most_bytes));
  return query::SelectRows(whole, passed);
}

}  // namespace glaive::read
