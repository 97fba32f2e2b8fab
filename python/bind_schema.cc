#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <arrow/type.h>

#include "glaive/schema.h"

#include "arrow_exchange.h"
#include "bind_error.h"
#include "bindings.h"

namespace glaive::python {

using namespace nb::literals;

void BindSchema(nb::module_& m) {
  nb::class_<FieldInfo>(m, "FieldInfo")
      .def_ro("id", &FieldInfo::id)
      .def_prop_ro("name", [](const FieldInfo& info) { return info.field->name(); })
      .def_prop_ro("schema",
                   [](const FieldInfo& info) { return ToPython(arrow::schema({info.field})); })
      .def_ro("children", &FieldInfo::children);
  nb::class_<TableSchema>(m, "TableSchema")
      .def_static(
          "from_arrow",
          [](nb::handle schema) {
            return ValueOrRaise(TableSchema::FromArrow(*SchemaFromPython(schema)));
          },
          "schema"_a)
      .def_static(
          "parse",
          [](nb::bytes bytes) {
            return ValueOrRaise(TableSchema::Parse({bytes.c_str(), bytes.size()}));
          },
          "bytes"_a)
      .def("serialize",
           [](const TableSchema& schema) {
             const std::string bytes = schema.Serialize();
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def_prop_ro("fields", &TableSchema::fields)
      .def_prop_ro("schema",
                   [](const TableSchema& schema) { return ToPython(schema.arrow_schema()); })
      .def("__eq__",
           [](const TableSchema& left, const TableSchema& right) { return left == right; });
  m.def(
      "schema_of", [](const Dataset& dataset) { return ValueOrRaise(SchemaOf(dataset)); },
      "dataset"_a);
}

}  // namespace glaive::python
