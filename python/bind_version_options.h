#pragma once

#include <nanobind/nanobind.h>

#include "glaive/version_options.h"

#include "call.h"

namespace glaive::python {

// VersionOptions as Python gives them: `progress` is None or a function that is given a Progress.
struct PythonVersion {
  VersionOptions options;
  nb::object progress;

  // For one call, which Ctrl-C ends too. `version` may be null: the defaults.
  static VersionOptions For(const PythonVersion* version, const Call& call);
};

}  // namespace glaive::python
