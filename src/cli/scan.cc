#include <unistd.h>
#include <memory>
#include <string>
#include <utility>

#include <arrow/csv/writer.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>

#include "cli/json_rows.h"
#include "cli/standard_output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "glaive/dataset.h"
#include "glaive/scan.h"

namespace glaive::cli {
namespace {

arrow::Status WriteJson(ScanStream& rows, StandardOutput& out) {
  while (true) {
    ARROW_RETURN_NOT_OK(CheckInterrupt());
    ARROW_ASSIGN_OR_RAISE(const auto batch, rows.Next());
    if (batch == nullptr) break;
    ARROW_ASSIGN_OR_RAISE(const std::string lines, JsonLines(*batch));
    ARROW_RETURN_NOT_OK(out.Write(lines));
  }
  return arrow::Status::OK();
}

arrow::Status WriteBatches(ScanStream& rows, arrow::ipc::RecordBatchWriter& writer) {
  while (true) {
    ARROW_RETURN_NOT_OK(CheckInterrupt());
    ARROW_ASSIGN_OR_RAISE(const auto batch, rows.Next());
    if (batch == nullptr) return writer.Close();
    ARROW_RETURN_NOT_OK(writer.WriteRecordBatch(*batch));
  }
}

arrow::Result<std::shared_ptr<arrow::ipc::RecordBatchWriter>> MakeWriter(
    RowFormat format, arrow::io::OutputStream* out, const std::shared_ptr<arrow::Schema>& schema) {
  if (format == RowFormat::kCsv) return arrow::csv::MakeCSVWriter(out, schema);
  if (isatty(STDOUT_FILENO) != 0) {
    return arrow::Status::Invalid("Arrow's stream is no text: send it to a file or a program");
  }
  return arrow::ipc::MakeStreamWriter(out, schema);
}

arrow::Status Write(RowFormat format, ScanStream& rows) {
  StandardOutput out;
  if (format == RowFormat::kJsonLines) return WriteJson(rows, out);
  ARROW_ASSIGN_OR_RAISE(const auto writer, MakeWriter(format, &out, rows.schema()));
  return WriteBatches(rows, *writer);
}

}  // namespace

arrow::Status ScanRows(const ScanVerbOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset,
                        Dataset::Open(options.uri, {.version = options.version}));
  ScanOptions scan;
  if (!options.columns.empty()) scan.columns = options.columns;
  if (!options.filter.empty()) scan.filter = Predicate::Sql(options.filter);
  scan.limit = options.limit;
  scan.offset = options.offset;
  ARROW_ASSIGN_OR_RAISE(const auto rows, Scan(dataset, scan));
  return Write(options.format, *rows);
}

}  // namespace glaive::cli
