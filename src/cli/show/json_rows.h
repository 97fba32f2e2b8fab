#pragma once

#include <string>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace glaive::cli {

// Rows as text; docs/command.md has how each type is written. In CSV values are as in JSON, lists,
// structs and maps being JSON in a quoted field; null is an empty field without quotes.
arrow::Result<std::string> JsonLines(const arrow::RecordBatch& batch);
std::string CsvHeader(const arrow::Schema& schema);
arrow::Result<std::string> CsvLines(const arrow::RecordBatch& batch);

}  // namespace glaive::cli
