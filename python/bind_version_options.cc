#include "bind_version_options.h"

#include <utility>

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "callback.h"
#include "repr.h"

namespace glaive::python {

VersionOptions PythonVersion::For(const PythonVersion* version, const Call& call) {
  if (version == nullptr) return {.progress = call.PollSignals()};
  VersionOptions options = version->options;
  options.progress = call.PollSignals();
  if (version->progress.is_none()) return options;
  options.progress = [held = Held(version->progress), kept = call.kept(),
                      poll = call.PollSignals()](const Progress& progress) -> arrow::Status {
    ARROW_RETURN_NOT_OK(poll(progress));
    return CallBack(kept,
                    [&] {
                      (*held)(nb::cast(progress));
                      return true;
                    })
        .status();
  };
  return options;
}

void BindVersionOptions(nb::module_& m) {
  nb::enum_<Durability>(m, "Durability")
      .value("default", Durability::kDefault)
      .value("none", Durability::kNone)
      .value("commit", Durability::kCommit);
  nb::class_<Progress>(m, "Progress")
      .def_ro("rows", &Progress::rows)
      .def_ro("total_rows", &Progress::total_rows)
      .def_ro("bytes", &Progress::bytes)
      .def_ro("total_bytes", &Progress::total_bytes)
      .def_ro("tasks", &Progress::tasks)
      .def_ro("total_tasks", &Progress::total_tasks)
      .def("__repr__", Repr{"rows", "total_rows", "bytes", "total_bytes", "tasks", "total_tasks"});
  nb::class_<PythonVersion>(m, "VersionOptions")
      .def("__init__",
           [](PythonVersion* self) {
             new (self) PythonVersion{{}, nb::none()};
           })
      .def_prop_rw(
          "durability", [](const PythonVersion& self) { return self.options.durability; },
          [](PythonVersion& self, Durability durability) { self.options.durability = durability; })
      .def_prop_rw(
          "transaction_properties",
          [](const PythonVersion& self) { return self.options.transaction_properties; },
          [](PythonVersion& self, std::map<std::string, std::string> properties) {
            self.options.transaction_properties = std::move(properties);
          })
      .def_prop_rw(
          "commit_message", [](const PythonVersion& self) { return self.options.commit_message; },
          [](PythonVersion& self, std::optional<std::string> message) {
            self.options.commit_message = std::move(message);
          },
          nb::for_setter(nb::arg("commit_message").none()))
      .def_rw("progress", &PythonVersion::progress, nb::arg().none());
}

}  // namespace glaive::python
