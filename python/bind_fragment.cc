#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "glaive/fragment.h"

#include "bind_error.h"
#include "bindings.h"

namespace glaive::python {

using namespace nb::literals;

void BindFragment(nb::module_& m) {
  nb::class_<FragmentMetadata>(m, "FragmentMetadata")
      .def_static(
          "from_json",
          [](const std::string& json) { return ValueOrRaise(FragmentMetadata::FromJson(json)); },
          "json"_a)
      .def("to_json", &FragmentMetadata::ToJson)
      .def_prop_ro("id", &FragmentMetadata::id)
      .def_prop_ro("physical_rows", &FragmentMetadata::physical_rows)
      .def_prop_ro("num_deletions", &FragmentMetadata::num_deletions)
      .def_prop_ro("num_rows", &FragmentMetadata::num_rows)
      .def_prop_ro("deletion_path",
                   [](const FragmentMetadata& fragment) -> nb::object {
                     const auto file = fragment.deletion_file();
                     return file.has_value() ? nb::cast(file->path) : nb::none();
                   })
      .def("__eq__", [](const FragmentMetadata& left, const FragmentMetadata& right) {
        return left == right;
      });
}

}  // namespace glaive::python
