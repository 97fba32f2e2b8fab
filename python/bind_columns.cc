#include "glaive/columns.h"

#include <map>
#include <memory>
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

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "arrow_exchange.h"
#include "bind_columns.h"
#include "bind_version_options.h"
#include "bindings.h"
#include "call.h"
#include "callback.h"

namespace glaive::python {

using namespace nb::literals;

namespace {

using Batch = std::shared_ptr<arrow::RecordBatch>;

// `store` has find_batch, keep_batch, find_fragment and keep_fragment; batches cross as Arrow,
// fragments as JSON.
ColumnCheckpoint CheckpointIn(nb::object store, const std::shared_ptr<KeptException>& kept) {
  const Held held(std::move(store));
  ColumnCheckpoint checkpoint;
  checkpoint.find_batch = [=](uint64_t fragment_id, uint64_t index) {
    return CallBack(kept, [&]() -> Batch {
      const nb::object found = (*held).attr("find_batch")(fragment_id, index);
      return found.is_none() ? nullptr : BatchFromPython(found);
    });
  };
  checkpoint.keep_batch = [=](uint64_t fragment_id, uint64_t index, const Batch& batch) {
    return CallBack(kept,
                    [&] {
                      (*held).attr("keep_batch")(fragment_id, index, ToPython(batch));
                      return true;
                    })
        .status();
  };
  checkpoint.find_fragment =
      [=](uint64_t fragment_id) -> arrow::Result<std::optional<FragmentMetadata>> {
    ARROW_ASSIGN_OR_RAISE(const auto json, CallBack(kept, [&]() -> std::optional<std::string> {
                            const nb::object found = (*held).attr("find_fragment")(fragment_id);
                            if (found.is_none()) return std::nullopt;
                            return nb::cast<std::string>(found);
                          }));
    if (!json) return std::nullopt;
    ARROW_ASSIGN_OR_RAISE(auto fragment, FragmentMetadata::FromJson(*json));
    return fragment;
  };
  checkpoint.keep_fragment = [=](const FragmentMetadata& fragment) {
    return CallBack(kept,
                    [&] {
                      (*held).attr("keep_fragment")(fragment.id(), fragment.ToJson());
                      return true;
                    })
        .status();
  };
  return checkpoint;
}

}  // namespace

NewColumns NewColumnsFrom(const PythonColumns& columns, const Call& call) {
  if (const auto* computed = std::get_if<std::vector<ComputedColumn>>(&columns)) return *computed;
  if (const auto* function = std::get_if<PythonFunction>(&columns)) {
    ColumnFunction native{.compute = nullptr,
                          .schema = function->schema,
                          .inputs = function->inputs,
                          .checkpoint = std::nullopt};
    if (function->batch_rows) native.batch_rows = *function->batch_rows;
    const Held held(function->function);
    native.compute = [held, kept = call.kept()](const Batch& batch) {
      return CallBack(kept, [&] { return BatchFromPython((*held)(ToPython(batch))); });
    };
    if (!function->checkpoint.is_none()) {
      native.checkpoint = CheckpointIn(function->checkpoint, call.kept());
    }
    return native;
  }
  if (const auto* nulls = std::get_if<NullColumns>(&columns)) return *nulls;
  return StreamFromPython(std::get<nb::object>(columns), call);
}

void BindColumns(nb::module_& m) {
  nb::class_<PythonFunction>(m, "ColumnFunction")
      .def(
          "__init__",
          [](PythonFunction* self, nb::object function, nb::handle schema,
             std::optional<std::vector<std::string>> inputs, std::optional<uint64_t> batch_rows,
             nb::object checkpoint) {
            new (self) PythonFunction{std::move(function), SchemaFromPython(schema),
                                      std::move(inputs), batch_rows, std::move(checkpoint)};
          },
          "function"_a, "schema"_a, "inputs"_a = nb::none(), "batch_rows"_a = nb::none(),
          "checkpoint"_a = nb::none());
  nb::class_<NullColumns>(m, "NullColumns")
      .def(
          "__init__",
          [](NullColumns* self, nb::handle schema) {
            new (self) NullColumns{SchemaFromPython(schema)};
          },
          "schema"_a);
  nb::class_<ColumnAlteration>(m, "ColumnAlteration")
      .def(
          "__init__",
          [](ColumnAlteration* self, std::string path, std::optional<std::string> name,
             std::optional<bool> nullable, nb::object type) {
            new (self) ColumnAlteration{std::move(path), std::move(name), nullable, nullptr};
            if (!type.is_none()) self->type = SchemaFromPython(type)->field(0)->type();
          },
          "path"_a, "name"_a = nb::none(), "nullable"_a = nb::none(), "type"_a = nb::none());

  m.def(
      "add_columns",
      [](const Dataset& dataset, const PythonColumns& columns, const PythonVersion* version) {
        const Call call;
        const VersionOptions options = PythonVersion::For(version, call);
        const NewColumns native = NewColumnsFrom(columns, call);
        return call.Run([&] { return AddColumns(dataset, native, options); });
      },
      "dataset"_a, "columns"_a, "version"_a = nb::none());
  m.def(
      "merge_columns",
      [](const Dataset& dataset, nb::handle source, const std::string& left_on,
         const std::string& right_on, const PythonVersion* version) {
        const Call call;
        const VersionOptions options = PythonVersion::For(version, call);
        auto stream = StreamFromPython(source, call);
        return call.Run(
            [&] { return MergeColumns(dataset, std::move(stream), left_on, right_on, options); });
      },
      "dataset"_a, "source"_a, "left_on"_a, "right_on"_a, "version"_a = nb::none());
  m.def(
      "alter_columns",
      [](const Dataset& dataset, const std::vector<ColumnAlteration>& alterations,
         const PythonVersion* version) {
        const Call call;
        const VersionOptions options = PythonVersion::For(version, call);
        return call.Run([&] { return AlterColumns(dataset, alterations, options); });
      },
      "dataset"_a, "alterations"_a, "version"_a = nb::none());
  m.def(
      "drop_columns",
      [](const Dataset& dataset, const std::vector<std::string>& columns,
         const PythonVersion* version) {
        const Call call;
        const VersionOptions options = PythonVersion::For(version, call);
        return call.Run([&] { return DropColumns(dataset, columns, options); });
      },
      "dataset"_a, "columns"_a, "version"_a = nb::none());
}

}  // namespace glaive::python
