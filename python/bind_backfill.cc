#include "glaive/backfill.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bind_columns.h"
#include "bindings.h"
#include "call.h"
#include "callback.h"

namespace glaive::python {

using namespace nb::literals;

namespace {

// Tells a Python function of fragments done, fragments in all, and rows computed.
ProgressCallback ProgressTo(nb::object function, const Call& call) {
  if (function.is_none()) return call.PollSignals();
  return [held = Held(std::move(function)), kept = call.kept(),
          poll = call.PollSignals()](const Progress& progress) -> arrow::Status {
    ARROW_RETURN_NOT_OK(poll(progress));
    return CallBack(kept,
                    [&] {
                      (*held)(progress.tasks, progress.total_tasks, progress.rows);
                      return true;
                    })
        .status();
  };
}

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
         std::optional<uint64_t> num_threads,
         std::map<std::string, std::string> transaction_properties,
         std::optional<std::string> commit_message, nb::object progress) {
        const Call call;
        const BackfillOptions options{.checkpoint = std::move(checkpoint),
                                      .commit_every = commit_every,
                                      .overwrite = overwrite,
                                      .num_threads = num_threads,
                                      .transaction_properties = std::move(transaction_properties),
                                      .commit_message = std::move(commit_message),
                                      .progress = ProgressTo(std::move(progress), call)};
        auto native = ColumnsFrom(columns, call);
        return call.Run([&]() -> arrow::Result<BackfillResult> {
          ARROW_RETURN_NOT_OK(native.status());
          return Backfill(dataset, *native, options);
        });
      },
      "dataset"_a, "columns"_a, "checkpoint"_a = nb::none(), "commit_every"_a = 0,
      "overwrite"_a = false, "num_threads"_a = nb::none(),
      "transaction_properties"_a = std::map<std::string, std::string>(),
      "commit_message"_a = nb::none(), "progress"_a = nb::none());
}

}  // namespace glaive::python
