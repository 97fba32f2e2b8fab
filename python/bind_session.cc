#include <memory>

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include "glaive/session.h"

#include "bindings.h"

namespace glaive::python {

using namespace nb::literals;

void BindSession(nb::module_& m) {
  nb::class_<Session>(m, "Session")
      .def(nb::new_([](uint64_t bytes) { return std::make_shared<Session>(bytes); }),
           "metadata_cache_bytes"_a = Session::kDefaultMetadataCacheBytes)
      .def_static("default", [] { return Session::Default(); })
      .def("size_bytes", &Session::size_bytes);
}

}  // namespace glaive::python
