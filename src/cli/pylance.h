#pragma once

#include <memory>
#include <optional>
#include <string>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace glaive::cli {

// A table as pylance reads it, in a Python that runs beside this program and sends the rows
// through a pipe.
struct PylanceRows {
  uint64_t version = 0;
  std::shared_ptr<arrow::RecordBatchReader> rows;  // with _rowid and _rowaddr at the end
};

// Errors: InvalidInput where the Python cannot be started or has no pylance; what went wrong there
// is on standard error.
arrow::Result<PylanceRows> ReadByPylance(const std::string& python, const std::string& uri,
                                         std::optional<uint64_t> version);

}  // namespace glaive::cli
