#include "glaive/write.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "glaive/session.h"

#include "arrow_exchange.h"
#include "bindings.h"
#include "call.h"

namespace glaive::python {

using namespace nb::literals;

void BindWriteTarget(nb::module_& m) {
  nb::class_<WriteTarget>(m, "WriteTarget")
      .def_static(
          "parse",
          [](const nb::bytes& bytes) {
            return Call().Run([&] { return WriteTarget::Parse({bytes.c_str(), bytes.size()}); });
          },
          "data"_a)
      .def("serialize",
           [](const WriteTarget& target) {
             const std::string bytes = target.Serialize();
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def_prop_ro("uri", &WriteTarget::uri)
      .def_prop_ro("version", &WriteTarget::version)
      .def_prop_ro("transaction_uuid", &WriteTarget::transaction_uuid)
      .def_prop_ro("schema", [](const WriteTarget& target) { return ToPython(target.schema()); })
      .def_prop_ro("data_storage_version", &WriteTarget::data_storage_version)
      .def_prop_ro("has_stable_row_ids", &WriteTarget::has_stable_row_ids)
      .def_prop_ro("config", &WriteTarget::config)
      .def_prop_ro("bases", &WriteTarget::bases)
      .def(
          "equals", [](const WriteTarget& self, const WriteTarget& other) { return self == other; },
          "other"_a);
  m.def(
      "write_target_of",
      [](const Dataset& dataset) { return Call().Run([&] { return WriteTargetOf(dataset); }); },
      "dataset"_a);
  m.def(
      "cached_write_target",
      [](const std::string& uri, std::optional<uint64_t> version,
         std::map<std::string, std::string> storage_options, std::shared_ptr<Session> session) {
        const CachedTargetOptions options = {version, std::move(storage_options),
                                             std::move(session)};
        return Call().Run([&] { return CachedWriteTarget(uri, options); });
      },
      "uri"_a, "version"_a = nb::none(), "storage_options"_a = std::map<std::string, std::string>(),
      "session"_a = nb::none());
  m.def(
      "close_cached_write_targets",
      [](const std::optional<std::string>& uri) { CloseCachedWriteTargets(uri); },
      "uri"_a = nb::none());
  nb::class_<CachedTargetStats>(m, "CachedTargetStats")
      .def_ro("num_targets", &CachedTargetStats::num_targets)
      .def_ro("size_bytes", &CachedTargetStats::size_bytes);
  m.def("stats_of_cached_write_targets", &StatsOfCachedWriteTargets);
}

}  // namespace glaive::python
