#include "glaive/columns.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "call.h"

namespace glaive::python {

using namespace nb::literals;

void BindColumns(nb::module_& m) {
  nb::class_<ComputedColumn>(m, "ComputedColumn")
      .def(
          "__init__",
          [](ComputedColumn* self, std::string name, std::string sql) {
            new (self) ComputedColumn{std::move(name), std::move(sql)};
          },
          "name"_a, "sql"_a);
  m.def(
      "add_columns",
      [](const Dataset& dataset, const std::vector<ComputedColumn>& columns) {
        const Call call;
        const ColumnOptions options{.progress = call.PollSignals()};
        return call.Run([&] { return AddColumns(dataset, columns, options); });
      },
      "dataset"_a, "columns"_a);
  m.def(
      "drop_columns",
      [](const Dataset& dataset, const std::vector<std::string>& columns) {
        return Call().Run([&] { return DropColumns(dataset, columns); });
      },
      "dataset"_a, "columns"_a);
}

}  // namespace glaive::python
