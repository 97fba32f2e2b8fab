#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nanobind/nanobind.h>

#include <arrow/type_fwd.h>

#include "glaive/columns.h"

#include "call.h"

namespace glaive::python {

// A ColumnFunction whose parts are Python's.
struct PythonFunction {
  nb::object function;
  std::shared_ptr<arrow::Schema> schema;
  std::optional<std::vector<std::string>> inputs;
  std::optional<uint64_t> batch_rows;
  nb::object checkpoint;  // None, or with the methods of a ColumnCheckpoint
};

// The last is anything that StreamFromPython takes.
using PythonColumns =
    std::variant<std::vector<ComputedColumn>, PythonFunction, NullColumns, nb::object>;

NewColumns NewColumnsFrom(const PythonColumns& columns, const Call& call);

}  // namespace glaive::python
