#include "glaive/index.h"

#include <map>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bind_version_options.h"
#include "bindings.h"
#include "call.h"

namespace glaive::python {

using namespace nb::literals;

void BindIndex(nb::module_& m) {
  nb::class_<IndexSegment>(m, "IndexSegment")
      .def_ro("uuid", &IndexSegment::uuid)
      .def_ro("dataset_version", &IndexSegment::dataset_version)
      .def_ro("format_version", &IndexSegment::format_version)
      .def_ro("fragment_ids", &IndexSegment::fragment_ids)
      .def_ro("created_at_ms", &IndexSegment::created_at_ms)
      .def_ro("size_bytes", &IndexSegment::size_bytes)
      .def_ro("base_id", &IndexSegment::base_id)
      .def_ro("covering_fields", &IndexSegment::covering_fields);
  nb::class_<Index>(m, "Index")
      .def_ro("name", &Index::name)
      .def_ro("type", &Index::type)
      .def_ro("type_url", &Index::type_url)
      .def_ro("field_ids", &Index::field_ids)
      .def_ro("field_names", &Index::field_names)
      .def_ro("num_rows_indexed", &Index::num_rows_indexed)
      .def_ro("segments", &Index::segments);
  m.def(
      "list_indices",
      [](const Dataset& dataset) { return Call().Run([&] { return ListIndices(dataset); }); },
      "dataset"_a);
  m.def(
      "drop_index",
      [](const Dataset& dataset, std::string_view name, const PythonVersion* version) {
        const Call call;
        const VersionOptions options = PythonVersion::For(version, call);
        return call.Run([&] { return DropIndex(dataset, name, options); });
      },
      "dataset"_a, "name"_a, "version"_a = nb::none());
}

}  // namespace glaive::python
