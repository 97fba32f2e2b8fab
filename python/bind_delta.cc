#include "glaive/scan.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "call.h"

namespace glaive::python {

using namespace nb::literals;

void BindDelta(nb::module_& m) {
  m.def(
      "span_between",
      [](const Dataset& dataset, uint64_t version) {
        const VersionSpan span = SpanBetween(dataset, version);
        return nb::make_tuple(span.begin, span.end);
      },
      "dataset"_a, "version"_a);
  m.def(
      "versions_in",
      [](const Dataset& dataset, uint64_t begin, uint64_t end) {
        return Call().Run([&] { return VersionsIn(dataset, {begin, end}); });
      },
      "dataset"_a, "begin"_a, "end"_a);
  m.def(
      "inserted_rows",
      [](const Dataset& dataset, uint64_t begin, uint64_t end) {
        return InsertedRows(dataset, {begin, end});
      },
      "dataset"_a, "begin"_a, "end"_a);
  m.def(
      "updated_rows",
      [](const Dataset& dataset, uint64_t begin, uint64_t end) {
        return UpdatedRows(dataset, {begin, end});
      },
      "dataset"_a, "begin"_a, "end"_a);
  m.def(
      "deleted_row_ids",
      [](const Dataset& dataset, uint64_t begin, uint64_t end) {
        return Call().Run([&] { return DeletedRowIds(dataset, {begin, end}); });
      },
      "dataset"_a, "begin"_a, "end"_a);
}

}  // namespace glaive::python
