#pragma once

#include <nanobind/nanobind.h>

#include "glaive/write.h"

#include "call.h"

namespace glaive::python {

// Of a FragmentWriteProgress, which is told in JSON; nothing for None.
FragmentEvents EventsFrom(nb::object progress, const Call& call);

}  // namespace glaive::python
