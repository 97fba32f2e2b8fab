#include "glaive/maintain.h"

#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "bind_version_options.h"
#include "bindings.h"
#include "call.h"
#include "repr.h"

namespace glaive::python {

using namespace nb::literals;

void BindCanary(nb::module_& m) {
  nb::class_<CanaryReport>(m, "CanaryReport")
      .def_ro("rows", &CanaryReport::rows)
      .def_ro("old_fragments", &CanaryReport::old_fragments)
      .def_ro("new_fragments", &CanaryReport::new_fragments)
      .def("__repr__", Repr{"rows", "old_fragments", "new_fragments"});
  m.def(
      "check_rewrites",
      [](const Dataset& dataset, const std::vector<RewriteResult>& results) {
        const Call call;
        const ProgressCallback progress = call.PollSignals();
        return call.Run([&] { return CheckRewrites(dataset, results, progress); });
      },
      "dataset"_a, "results"_a);
  m.def(
      "compact_with_canary",
      [](const Dataset& dataset, CompactionOptions options, const PythonVersion* version) {
        const Call call;
        options.version = PythonVersion::For(version, call);
        return call.Run([&]() -> arrow::Result<CompactionResult> {
          ARROW_ASSIGN_OR_RAISE(auto checked, CompactWithCanary(dataset, options));
          return std::move(checked.compaction);
        });
      },
      "dataset"_a, "options"_a, "version"_a = nb::none());
}

}  // namespace glaive::python
