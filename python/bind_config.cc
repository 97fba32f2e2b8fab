#include "glaive/config.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind_version_options.h"
#include "bindings.h"
#include "call.h"

namespace glaive::python {

using namespace nb::literals;

namespace {

using Entries = std::map<std::string, std::optional<std::string>>;
using Update = arrow::Result<Dataset> (*)(const Dataset&, const MetadataEdit&,
                                          const VersionOptions&);

void DefUpdate(nb::module_& m, const char* name, Update update) {
  m.def(
      name,
      [update](const Dataset& dataset, Entries entries, bool replace,
               const PythonVersion* version) {
        const Call call;
        const VersionOptions options = PythonVersion::For(version, call);
        const MetadataEdit edit{.entries = std::move(entries), .replace = replace};
        return call.Run([&] { return update(dataset, edit, options); });
      },
      "dataset"_a, "entries"_a, "replace"_a, "version"_a = nb::none());
}

}  // namespace

void BindConfig(nb::module_& m) {
  DefUpdate(m, "update_config", &UpdateConfig);
  DefUpdate(m, "update_table_metadata", &UpdateTableMetadata);
  DefUpdate(m, "update_schema_metadata", &UpdateSchemaMetadata);
  m.def(
      "update_field_metadata",
      [](const Dataset& dataset, const std::map<std::string, Entries>& fields, bool replace,
         const PythonVersion* version) {
        const Call call;
        const VersionOptions options = PythonVersion::For(version, call);
        std::map<std::string, MetadataEdit> edits;
        for (const auto& [path, entries] : fields) {
          edits[path] = {.entries = entries, .replace = replace};
        }
        return call.Run([&] { return UpdateFieldMetadata(dataset, edits, options); });
      },
      "dataset"_a, "fields"_a, "replace"_a, "version"_a = nb::none());

  m.def("base_paths", &BasePaths, "dataset"_a);
  m.def(
      "add_bases",
      [](const Dataset& dataset, const std::vector<DatasetBasePath>& bases,
         const PythonVersion* version) {
        const Call call;
        const VersionOptions options = PythonVersion::For(version, call);
        return call.Run([&] { return AddBases(dataset, bases, options); });
      },
      "dataset"_a, "bases"_a, "version"_a = nb::none());
}

}  // namespace glaive::python
