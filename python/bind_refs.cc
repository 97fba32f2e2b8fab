#include "glaive/refs.h"

#include <nanobind/nanobind.h>

#include "bindings.h"
#include "call.h"

namespace glaive::python {

using namespace nb::literals;

void BindRefs(nb::module_& m) {
  m.def(
      "restore",
      [](const Dataset& dataset) { return Call().Run([&] { return Restore(dataset); }); },
      "dataset"_a);
}

}  // namespace glaive::python
