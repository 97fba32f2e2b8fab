#include "glaive/columns.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <arrow/record_batch.h>

#include "arrow_exchange.h"
#include "bind_columns.h"
#include "bind_write.h"
#include "bindings.h"
#include "call.h"

namespace glaive::python {

using namespace nb::literals;

namespace {

void BindColumnEdits(nb::module_& m) {
  nb::class_<WidenedFragment>(m, "WidenedFragment")
      .def_ro("fragment", &WidenedFragment::fragment)
      .def_ro("schema", &WidenedFragment::schema);
  nb::class_<RewrittenFragment>(m, "RewrittenFragment")
      .def_ro("fragment", &RewrittenFragment::fragment)
      .def_ro("fields_modified", &RewrittenFragment::fields_modified)
      .def_prop_ro("matched_offsets", [](const RewrittenFragment& result) {
        return nb::bytes(result.matched_offsets.data(), result.matched_offsets.size());
      });
  m.def(
      "add_fragment_columns",
      [](const Dataset& dataset, uint64_t fragment_id, const PythonColumns& columns) {
        const Call call;
        const VersionOptions options{.progress = call.PollSignals()};
        const NewColumns native = NewColumnsFrom(columns, call);
        return call.Run([&] { return AddFragmentColumns(dataset, fragment_id, native, options); });
      },
      "dataset"_a, "fragment_id"_a, "columns"_a);
  m.def(
      "merge_fragment_columns",
      [](const Dataset& dataset, uint64_t fragment_id, nb::handle source,
         const std::string& left_on, const std::string& right_on) {
        const Call call;
        const VersionOptions options{.progress = call.PollSignals()};
        auto stream = StreamFromPython(source, call);
        return call.Run([&] {
          return MergeFragmentColumns(dataset, fragment_id, std::move(stream), left_on, right_on,
                                      options);
        });
      },
      "dataset"_a, "fragment_id"_a, "source"_a, "left_on"_a, "right_on"_a);
  m.def(
      "update_fragment_columns",
      [](const Dataset& dataset, uint64_t fragment_id, nb::handle source,
         const std::string& left_on, const std::string& right_on) {
        const Call call;
        const VersionOptions options{.progress = call.PollSignals()};
        auto stream = StreamFromPython(source, call);
        return call.Run([&] {
          return UpdateFragmentColumns(dataset, fragment_id, std::move(stream), left_on, right_on,
                                       options);
        });
      },
      "dataset"_a, "fragment_id"_a, "source"_a, "left_on"_a, "right_on"_a);
}

void BindRowEdits(nb::module_& m) {
  m.def(
      "delete_from_fragment",
      [](const Dataset& dataset, uint64_t fragment_id, const Predicate& predicate) {
        const Call call;
        const VersionOptions options{.progress = call.PollSignals()};
        return call.Run(
            [&] { return DeleteFromFragment(dataset, fragment_id, predicate, options); });
      },
      "dataset"_a, "fragment_id"_a, "predicate"_a);
  m.def(
      "delete_fragment_rows",
      [](const Dataset& dataset, uint64_t fragment_id, nb::handle offsets) {
        const BufferView view(offsets);
        const auto numbers = view.numbers();
        return Call().Run([&] { return DeleteFragmentRows(dataset, fragment_id, numbers); });
      },
      "dataset"_a, "fragment_id"_a, "offsets"_a);
}

void BindFiles(nb::module_& m) {
  m.def(
      "describe_data_file",
      [](const Dataset& dataset, const std::string& path, std::optional<uint32_t> base_id) {
        return Call().Run([&] { return DescribeDataFile(dataset, path, base_id); });
      },
      "dataset"_a, "path"_a, "base_id"_a = nb::none());
  m.def(
      "adopt_data_file",
      [](const Dataset& dataset, const std::string& path, uint64_t fragment_id) {
        return Call().Run([&] { return AdoptDataFile(dataset, path, fragment_id); });
      },
      "dataset"_a, "path"_a, "fragment_id"_a);
  m.def(
      "create_fragment",
      [](nb::handle source, const std::string& uri, uint64_t fragment_id, WriteOptions options,
         nb::object progress) {
        const Call call;
        options.fragment_events = EventsFrom(std::move(progress), call);
        options.version.progress = call.PollSignals();
        auto stream = StreamFromPython(source, call);
        return call.Run(
            [&] { return CreateFragment(std::move(stream), uri, fragment_id, options); });
      },
      "source"_a, "uri"_a, "fragment_id"_a, "options"_a, "progress"_a = nb::none());
  m.def(
      "rows_of_fragment",
      [](const Dataset& dataset, const FragmentMetadata& fragment) {
        const FragmentRows rows = Call().Run([&] { return RowsOfFragment(dataset, fragment); });
        return std::pair(rows.physical, rows.deleted);
      },
      "dataset"_a, "fragment"_a);
  m.def(
      "validate_fragment",
      [](const Dataset& dataset, uint64_t fragment_id) {
        Call().Run([&]() -> arrow::Result<bool> {
          ARROW_RETURN_NOT_OK(ValidateFragment(dataset, fragment_id));
          return true;
        });
      },
      "dataset"_a, "fragment_id"_a);
}

}  // namespace

void BindFragmentEdit(nb::module_& m) {
  BindColumnEdits(m);
  BindRowEdits(m);
  BindFiles(m);
}

}  // namespace glaive::python
