#include "glaive/dataset.h"

#include <memory>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "glaive/history.h"
#include "glaive/schema.h"
#include "glaive/session.h"

#include "arrow_exchange.h"
#include "bindings.h"
#include "call.h"

namespace glaive::python {

using namespace nb::literals;

void BindDataset(nb::module_& m) {
  nb::class_<VersionInfo>(m, "VersionInfo")
      .def_ro("version", &VersionInfo::version)
      .def_ro("timestamp_ns", &VersionInfo::timestamp_ns)
      .def_ro("metadata", &VersionInfo::metadata);

  nb::class_<TransactionInfo>(m, "TransactionInfo")
      .def_ro("read_version", &TransactionInfo::read_version)
      .def_ro("uuid", &TransactionInfo::uuid)
      .def_ro("operation", &TransactionInfo::operation)
      .def_ro("properties", &TransactionInfo::properties);

  nb::class_<DatasetSummary>(m, "DatasetSummary")
      .def_ro("num_fragments", &DatasetSummary::num_fragments)
      .def_ro("num_data_files", &DatasetSummary::num_data_files)
      .def_ro("num_deletion_files", &DatasetSummary::num_deletion_files)
      .def_ro("physical_rows", &DatasetSummary::physical_rows)
      .def_ro("deleted_rows", &DatasetSummary::deleted_rows)
      .def_ro("data_file_bytes", &DatasetSummary::data_file_bytes);

  nb::class_<Dataset>(m, "Dataset")
      .def_static(
          "open",
          [](const std::string& uri, std::optional<uint64_t> version,
             std::shared_ptr<Session> session) {
            const OpenOptions options{.version = version, .session = std::move(session)};
            return Call().Run([&] { return Dataset::Open(uri, options); });
          },
          "uri"_a, "version"_a = nb::none(), "session"_a = nb::none())
      .def_prop_ro("uri", &Dataset::uri)
      .def_prop_ro("version", &Dataset::version)
      .def("is_same_version_as", &IsSameVersion, "other"_a)
      .def_prop_ro("timestamp_ns",
                   [](const Dataset& dataset) { return VersionInfoOf(dataset).timestamp_ns; })
      .def_prop_ro("schema", [](const Dataset& dataset) { return ToPython(dataset.schema()); })
      .def_prop_ro("data_storage_version", &Dataset::data_storage_version)
      .def_prop_ro("max_field_id", &MaxFieldId)
      .def_prop_ro("has_stable_row_ids", &Dataset::has_stable_row_ids)
      .def_prop_ro("config", &Dataset::config)
      .def_prop_ro("table_metadata", &Dataset::table_metadata)
      .def_prop_ro("session", &SessionOf)
      .def_prop_ro("summary", &Dataset::summary)
      .def_prop_ro("num_fragments", &Dataset::num_fragments)
      .def("fragments",
           [](const Dataset& dataset) { return Call().Run([&] { return dataset.Fragments(); }); })
      .def("fragment_ids", &FragmentIds)
      .def("count_small_fragments", &CountSmallFragments, "min_rows"_a)
      .def("position_of", &PositionOf, "id"_a)
      .def(
          "fragment_at",
          [](const Dataset& dataset, uint64_t position) {
            return Call().Run([&] { return FragmentAt(dataset, position); });
          },
          "position"_a)
      .def(
          "get_fragment",
          [](const Dataset& dataset, uint64_t id) {
            return Call().Run([&] { return dataset.GetFragment(id); });
          },
          "id"_a)
      .def(
          "latest_version",
          [](const Dataset& dataset) { return Call().Run([&] { return LatestVersion(dataset); }); })
      .def("versions",
           [](const Dataset& dataset) { return Call().Run([&] { return Versions(dataset); }); })
      .def("version_info", &VersionInfoOf)
      .def(
          "read_version_info",
          [](const Dataset& dataset, uint64_t version) {
            return Call().Run([&] { return ReadVersionInfo(dataset, version); });
          },
          "version"_a)
      .def("version_numbers",
           [](const Dataset& dataset) {
             return Call().Run([&] { return VersionNumbers(dataset); });
           })
      .def(
          "checkout",
          [](const Dataset& dataset, uint64_t version) {
            return Call().Run([&] { return dataset.Checkout(version); });
          },
          "version"_a)
      .def("checkout_latest",
           [](const Dataset& dataset) {
             return Call().Run([&] { return dataset.CheckoutLatest(); });
           })
      .def(
          "read_transaction",
          [](const Dataset& dataset, uint64_t version) {
            return Call().Run([&] { return ReadTransaction(dataset, version); });
          },
          "version"_a);
}

}  // namespace glaive::python
