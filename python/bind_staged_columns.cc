#include "glaive/staged_columns.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrow_exchange.h"
#include "bind_version_options.h"
#include "bindings.h"
#include "call.h"

namespace glaive::python {

using namespace nb::literals;

namespace {

// A fragment's id, what StreamFromPython takes, and the schema.
using Item = std::tuple<uint64_t, nb::object, TableSchema>;

// Fragment, columns, rows.
using PythonRowsRead =
    std::tuple<uint64_t, std::vector<std::string>, std::optional<std::vector<uint32_t>>>;

std::vector<StagedColumns> Stage(const Dataset& dataset, const std::vector<Item>& items,
                                 bool live_rows_only, std::vector<std::string> reads) {
  const Call call;
  std::vector<FragmentColumns> columns;
  for (const auto& [fragment_id, source, schema] : items) {
    columns.push_back({fragment_id, StreamFromPython(source, call), schema});
  }
  const StageOptions options{
      .live_rows_only = live_rows_only, .reads = std::move(reads), .progress = call.PollSignals()};
  return call.Run([&] { return StageColumns(dataset, columns, options); });
}

void BindValue(nb::module_& m) {
  nb::class_<StagedColumns>(m, "StagedColumns")
      .def_static(
          "from_json",
          [](const std::string& json) { return ValueOrRaise(StagedColumns::FromJson(json)); },
          "json"_a)
      .def("to_json", &StagedColumns::ToJson)
      .def_prop_ro("fragment_id", &StagedColumns::fragment_id)
      .def_prop_ro("read_version", &StagedColumns::read_version)
      .def_prop_ro("physical_rows", &StagedColumns::physical_rows)
      .def_prop_ro("path", &StagedColumns::path)
      .def_prop_ro("size_bytes", &StagedColumns::size_bytes)
      .def_prop_ro("schema",
                   [](const StagedColumns& staged) { return ValueOrRaise(staged.schema()); })
      .def("__eq__",
           [](const StagedColumns& left, const StagedColumns& right) { return left == right; });
}

}  // namespace

void BindStagedColumns(nb::module_& m) {
  BindValue(m);
  m.def(
      "new_column_schema",
      [](const Dataset& dataset, nb::handle schema) {
        return ValueOrRaise(NewColumnSchema(dataset, *SchemaFromPython(schema)));
      },
      "dataset"_a, "schema"_a);
  m.def(
      "column_schema",
      [](const Dataset& dataset, nb::handle schema) {
        return ValueOrRaise(ColumnSchema(dataset, *SchemaFromPython(schema)));
      },
      "dataset"_a, "schema"_a);
  m.def("stage_columns", &Stage, "dataset"_a, "items"_a, "live_rows_only"_a, "reads"_a);
  m.def(
      "discard_staged_columns",
      [](const StagedColumns& staged) { Call().RunStatus([&] { return Discard(staged); }); },
      "staged"_a);
  m.def(
      "commit_columns",
      [](const Dataset& dataset, const std::vector<StagedColumns>& staged,
         std::vector<std::string> reads, const std::vector<PythonRowsRead>& row_reads,
         const PythonVersion* version) {
        const Call call;
        std::vector<RowsRead> rows_read;
        for (const auto& [fragment_id, columns, rows] : row_reads) {
          rows_read.push_back({fragment_id, columns, rows});
        }
        const CommitColumnsOptions options{.reads = std::move(reads),
                                           .row_reads = std::move(rows_read),
                                           .version = PythonVersion::For(version, call)};
        return call.Run([&] { return CommitColumns(dataset, staged, options); });
      },
      "dataset"_a, "staged"_a, "reads"_a, "row_reads"_a, "version"_a = nb::none());
}

}  // namespace glaive::python
