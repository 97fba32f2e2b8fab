#pragma once

#include <string>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace glaive::cli {

// The rows of a batch as JSON, one object and one line for each. Numbers are numbers, structs
// objects, lists arrays, maps arrays of pairs, binary values base64; what JSON has no word for
// (times, decimals) is text as Arrow prints it, NaN and infinities are null.
arrow::Result<std::string> JsonLines(const arrow::RecordBatch& batch);

}  // namespace glaive::cli
