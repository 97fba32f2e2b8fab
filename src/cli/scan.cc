#include <unistd.h>

#include <string>

#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>

#include "cli/show/json_rows.h"
#include "cli/show/standard_output.h"
#include "cli/show/terminal.h"
#include "cli/verbs.h"
#include "glaive/dataset.h"
#include "glaive/scan.h"

namespace glaive::cli {
namespace {

arrow::Status WriteText(ScanStream& rows, RowFormat format, StandardOutput& out) {
  if (format == RowFormat::kCsv) ARROW_RETURN_NOT_OK(out.Write(CsvHeader(*rows.schema())));
  while (true) {
    ARROW_RETURN_NOT_OK(CheckInterrupt());
    ARROW_ASSIGN_OR_RAISE(const auto batch, rows.Next());
    if (batch == nullptr) break;
    ARROW_ASSIGN_OR_RAISE(const std::string lines,
                          format == RowFormat::kCsv ? CsvLines(*batch) : JsonLines(*batch));
    ARROW_RETURN_NOT_OK(out.Write(lines));
  }
  return arrow::Status::OK();
}

arrow::Status WriteArrow(ScanStream& rows, StandardOutput& out) {
  if (isatty(STDOUT_FILENO) != 0) {
    return arrow::Status::Invalid("Arrow's stream is no text: send it to a file or a program");
  }
  ARROW_ASSIGN_OR_RAISE(const auto writer, arrow::ipc::MakeStreamWriter(&out, rows.schema()));
  while (true) {
    ARROW_RETURN_NOT_OK(CheckInterrupt());
    ARROW_ASSIGN_OR_RAISE(const auto batch, rows.Next());
    if (batch == nullptr) return writer->Close();
    ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*batch));
  }
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
  StandardOutput out;
  return options.format == RowFormat::kArrow ? WriteArrow(*rows, out)
                                             : WriteText(*rows, options.format, out);
}

}  // namespace glaive::cli
