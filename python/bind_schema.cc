#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <arrow/type.h>

#include "glaive/schema.h"

#include "arrow_exchange.h"
#include "bindings.h"
#include "call.h"

namespace glaive::python {

using namespace nb::literals;

void BindSchema(nb::module_& m) {
  nb::class_<FieldInfo>(m, "FieldInfo")
      .def_ro("id", &FieldInfo::id)
      .def_prop_ro("name", [](const FieldInfo& info) { return info.field->name(); })
      .def_prop_ro("schema",
                   [](const FieldInfo& info) { return ToPython(arrow::schema({info.field})); })
      .def_ro("children", &FieldInfo::children);
  m.def(
      "fields", [](const Dataset& dataset) { return Call().Run([&] { return Fields(dataset); }); },
      "dataset"_a);
}

}  // namespace glaive::python
