#include "glaive/maintain.h"

#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "bind_version_options.h"
#include "bindings.h"
#include "call.h"
#include "repr.h"

namespace glaive::python {

using namespace nb::literals;

namespace {

void BindOptions(nb::module_& m) {
  using Options = MaintenanceOptions;
  nb::class_<Options>(m, "MaintenanceOptions")
      .def(nb::init<>())
      .def_rw("compact", &Options::compact)
      .def_rw("clean_up", &Options::clean_up)
      .def_rw("sweep", &Options::sweep)
      .def_rw("compaction", &Options::compaction)
      .def_rw("canary", &Options::canary)
      .def_rw("time_limit_ns", &Options::time_limit_ns, nb::arg().none())
      .def_rw("commit_interval_ns", &Options::commit_interval_ns)
      .def_rw("older_than_ns", &Options::older_than_ns, nb::arg().none())
      .def_rw("retain_versions", &Options::retain_versions, nb::arg().none())
      .def_rw("delete_rate_limit", &Options::delete_rate_limit, nb::arg().none())
      .def_rw("orphan_age_ns", &Options::orphan_age_ns)
      .def_rw("dry_run", &Options::dry_run);
}

void BindReport(nb::module_& m) {
  nb::class_<StepReport>(m, "StepReport")
      .def_prop_ro("outcome", [](const StepReport& step) { return NameOf(step.outcome); })
      .def_prop_ro("why", [](const StepReport& step) { return step.why.message(); })
      .def_ro("seconds", &StepReport::seconds);
  nb::class_<CompactionLoad>(m, "CompactionLoad")
      .def_ro("tasks", &CompactionLoad::tasks)
      .def_ro("fragments", &CompactionLoad::fragments)
      .def_ro("rows", &CompactionLoad::rows)
      .def_ro("bytes", &CompactionLoad::bytes)
      .def("__repr__", Repr{"tasks", "fragments", "rows", "bytes"});
  nb::class_<CompactionReport, StepReport>(m, "CompactionReport")
      .def_ro("done", &CompactionReport::done)
      .def_ro("left", &CompactionReport::left)
      .def_ro("commits", &CompactionReport::commits)
      .def_ro("metrics", &CompactionReport::metrics)
      .def_ro("written", &CompactionReport::written)
      .def_ro("canary", &CompactionReport::canary)
      .def("__repr__",
           Repr{"outcome", "why", "done", "left", "metrics.fragments_added", "commits", "seconds"});
  nb::class_<CleanupReport, StepReport>(m, "CleanupReport")
      .def_ro("removed", &CleanupReport::removed)
      .def_ro("tagged_versions", &CleanupReport::tagged_versions)
      .def_ro("branched_versions", &CleanupReport::branched_versions)
      .def("__repr__", Repr{"outcome", "why", "removed.old_versions", "removed.bytes_removed",
                            "tagged_versions", "branched_versions", "seconds"});
  nb::class_<SweepReport, StepReport>(m, "SweepReport")
      .def_ro("removed", &SweepReport::removed)
      .def_ro("young_files", &SweepReport::young_files)
      .def_ro("young_bytes", &SweepReport::young_bytes)
      .def("__repr__", Repr{"outcome", "why", "removed.data_files_removed", "removed.bytes_removed",
                            "young_files", "young_bytes", "seconds"});
  nb::class_<MaintenanceReport>(m, "MaintenanceReport")
      .def_ro("dataset", &MaintenanceReport::dataset)
      .def_ro("version_before", &MaintenanceReport::version_before)
      .def_prop_ro("version",
                   [](const MaintenanceReport& report) { return report.dataset.version(); })
      .def_ro("dry_run", &MaintenanceReport::dry_run)
      .def_ro("compaction", &MaintenanceReport::compaction)
      .def_ro("cleanup", &MaintenanceReport::cleanup)
      .def_ro("sweep", &MaintenanceReport::sweep)
      .def_ro("seconds", &MaintenanceReport::seconds)
      .def("__repr__", Repr{"version_before", "version", "dry_run", "compaction", "cleanup",
                            "sweep", "seconds"});
}

}  // namespace

void BindMaintain(nb::module_& m) {
  BindOptions(m);
  BindReport(m);
  m.def(
      "maintain",
      [](const Dataset& dataset, MaintenanceOptions options, const PythonVersion* version) {
        const Call call;
        options.version = PythonVersion::For(version, call);
        return call.Run([&]() -> arrow::Result<MaintenanceReport> {
          ARROW_ASSIGN_OR_RAISE(auto report, Maintain(dataset, options));
          ARROW_RETURN_NOT_OK(StatusOf(report));
          return report;
        });
      },
      "dataset"_a, "options"_a, "version"_a = nb::none());
}

}  // namespace glaive::python
