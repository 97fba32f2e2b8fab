#include "glaive/rows.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind_version_options.h"
#include "bindings.h"
#include "call.h"

namespace glaive::python {

using namespace nb::literals;

namespace {

using Assignments = std::vector<std::pair<std::string, std::string>>;

std::vector<ColumnUpdate> ToUpdates(const Assignments& updates) {
  std::vector<ColumnUpdate> columns;
  for (const auto& [column, sql] : updates) columns.push_back({column, sql});
  return columns;
}

UpdateResult UpdateRows(const Dataset& dataset, const Assignments& updates,
                        const std::optional<Predicate>& where, UpdateOptions options,
                        const PythonVersion* version) {
  const Call call;
  options.version = PythonVersion::For(version, call);
  const auto columns = ToUpdates(updates);
  return call.Run([&] { return Update(dataset, columns, where, options); });
}

}  // namespace

void BindUpdate(nb::module_& m) {
  nb::class_<UpdateOptions>(m, "UpdateOptions")
      .def(nb::init<>())
      .def_rw("conflict_retries", &UpdateOptions::conflict_retries)
      .def_rw("retry_timeout_ms", &UpdateOptions::retry_timeout_ms)
      .def_rw("data_storage_version", &UpdateOptions::data_storage_version, nb::arg().none());
  nb::class_<UpdateResult>(m, "UpdateResult")
      .def_ro("dataset", &UpdateResult::dataset)
      .def_ro("num_updated_rows", &UpdateResult::num_updated_rows);
  m.def(
      "check_update",
      [](const Dataset& dataset, const Assignments& updates,
         const std::optional<Predicate>& where) {
        Call().Run([&]() -> arrow::Result<bool> {
          ARROW_RETURN_NOT_OK(CheckUpdate(dataset, ToUpdates(updates), where));
          return true;
        });
      },
      "dataset"_a, "updates"_a, "where"_a.none());
  m.def("update", &UpdateRows, "dataset"_a, "updates"_a, "where"_a.none(), "options"_a,
        "version"_a = nb::none());
}

}  // namespace glaive::python
