#include "glaive/staged_columns.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bind_columns.h"
#include "bind_version_options.h"
#include "bindings.h"
#include "call.h"

namespace glaive::python {

using namespace nb::literals;

namespace {

arrow::Result<BackfillColumns> ColumnsFrom(const PythonColumns& columns, const Call& call) {
  NewColumns native = NewColumnsFrom(columns, call);
  if (auto* computed = std::get_if<std::vector<ComputedColumn>>(&native)) {
    return std::move(*computed);
  }
  if (auto* function = std::get_if<ColumnFunction>(&native)) return std::move(*function);
  return arrow::Status::TypeError("columns of expressions or of a function are wanted");
}

}  // namespace

void BindBackfill(nb::module_& m) {
  nb::class_<BackfillResult>(m, "BackfillResult")
      .def_ro("dataset", &BackfillResult::dataset)
      .def_ro("fragments_committed", &BackfillResult::fragments_committed)
      .def_ro("fragments_computed", &BackfillResult::fragments_computed)
      .def_ro("fragments_resumed", &BackfillResult::fragments_resumed)
      .def_ro("fragments_recomputed", &BackfillResult::fragments_recomputed)
      .def_ro("versions", &BackfillResult::versions);
  m.def(
      "backfill",
      [](const Dataset& dataset, const PythonColumns& columns,
         std::optional<std::string> checkpoint, uint64_t commit_every, bool overwrite,
         std::optional<uint64_t> num_threads, const PythonVersion* version) {
        const Call call;
        const BackfillOptions options{.checkpoint = std::move(checkpoint),
                                      .commit_every = commit_every,
                                      .overwrite = overwrite,
                                      .num_threads = num_threads,
                                      .version = PythonVersion::For(version, call)};
        auto native = ColumnsFrom(columns, call);
        return call.Run([&]() -> arrow::Result<BackfillResult> {
          ARROW_RETURN_NOT_OK(native.status());
          return Backfill(dataset, *native, options);
        });
      },
      "dataset"_a, "columns"_a, "checkpoint"_a = nb::none(), "commit_every"_a = 0,
      "overwrite"_a = false, "num_threads"_a = nb::none(), "version"_a = nb::none());
}

}  // namespace glaive::python
