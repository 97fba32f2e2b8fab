#include "glaive/rows.h"
#include "glaive/write.h"

#include <memory>
#include <string>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <arrow/record_batch.h>

#include "glaive/scan.h"
#include "glaive/session.h"

#include "arrow_exchange.h"
#include "bind_version_options.h"
#include "bind_write.h"
#include "bindings.h"
#include "call.h"
#include "callback.h"

namespace glaive::python {

using namespace nb::literals;

FragmentEvents EventsFrom(nb::object progress, const Call& call) {
  if (progress.is_none()) return {};
  const auto tell = [held = Held(std::move(progress)), kept = call.kept()](const char* method) {
    return [=](const FragmentMetadata& fragment) {
      return CallBack(kept,
                      [&] {
                        (*held).attr(method)(fragment.ToJson());
                        return true;
                      })
          .status();
    };
  };
  return {.begin = tell("_do_begin"), .complete = tell("_do_complete")};
}

namespace {

// Where to write: a URI, or an open handle; and for files alone, a write target too.
using Target = std::variant<std::string, Dataset>;
using FileTarget = std::variant<std::string, Dataset, WriteTarget>;

// The n_jobs of a call: an int that is no bool, or None.
std::optional<int64_t> JobsFrom(nb::handle n_jobs) {
  if (n_jobs.is_none()) return std::nullopt;
  if (nb::isinstance<nb::bool_>(n_jobs) || PyIndex_Check(n_jobs.ptr()) == 0) {
    throw nb::type_error(nb::str("n_jobs must be an int or None, got {!r}").format(n_jobs).c_str());
  }
  const Py_ssize_t jobs = PyNumber_AsSsize_t(n_jobs.ptr(), nullptr);  // clipped where it is larger
  if (jobs == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return jobs;
}

WriteResult Write(nb::handle source, const Target& target, WriteOptions options,
                  nb::object progress, const PythonVersion* version) {
  const Call call;
  options.fragment_events = EventsFrom(std::move(progress), call);
  options.version = PythonVersion::For(version, call);
  auto stream = RowsFromPython(source, call);
  return call.Run([&] {
    return std::visit(
        [&](const auto& place) { return WriteDataset(std::move(stream), place, options); }, target);
  });
}

std::vector<FragmentMetadata> WriteUncommitted(nb::handle source, const FileTarget& target,
                                               WriteOptions options, nb::object progress,
                                               const PythonVersion* version) {
  const Call call;
  options.fragment_events = EventsFrom(std::move(progress), call);
  options.version = PythonVersion::For(version, call);
  auto stream = RowsFromPython(source, call);
  return call.Run([&] {
    return std::visit(
        [&](const auto& place) { return WriteFragments(std::move(stream), place, options); },
        target);
  });
}

DeleteResult DeleteRows(const Dataset& dataset, const Predicate& predicate, DeleteOptions options,
                        const PythonVersion* version) {
  const Call call;
  options.version = PythonVersion::For(version, call);
  return call.Run([&] { return Delete(dataset, predicate, options); });
}

void BindOptions(nb::module_& m) {
  nb::enum_<WriteMode>(m, "WriteMode")
      .value("create", WriteMode::kCreate)
      .value("append", WriteMode::kAppend)
      .value("overwrite", WriteMode::kOverwrite);

  nb::class_<FileLimits>(m, "FileLimits")
      .def_rw("max_rows_per_file", &FileLimits::max_rows_per_file)
      .def_rw("max_bytes_per_file", &FileLimits::max_bytes_per_file)
      .def_rw("max_page_bytes", &FileLimits::max_page_bytes)
      .def_rw("data_cache_bytes", &FileLimits::data_cache_bytes)
      .def_rw("max_rows_per_group", &FileLimits::max_rows_per_group, nb::arg().none());

  nb::class_<DatasetBasePath>(m, "DatasetBasePath")
      .def(
          "__init__",
          [](DatasetBasePath* self, std::string path, std::optional<std::string> name,
             bool is_dataset_root, std::optional<uint32_t> id) {
            new (self) DatasetBasePath{
                id.value_or(0), std::move(name), is_dataset_root, std::move(path), {}};
          },
          "path"_a, "name"_a = nb::none(), "is_dataset_root"_a = false, "id"_a = nb::none())
      .def_ro("id", &DatasetBasePath::id)
      .def_ro("name", &DatasetBasePath::name)
      .def_ro("is_dataset_root", &DatasetBasePath::is_dataset_root)
      .def_ro("path", &DatasetBasePath::path);
  nb::class_<WriteOptions>(m, "WriteOptions")
      .def(nb::init<>())
      .def_rw("mode", &WriteOptions::mode)
      .def_rw("limits", &WriteOptions::limits)
      .def_prop_rw(
          "n_jobs", [](const WriteOptions& self) { return self.n_jobs; },
          [](WriteOptions& self, nb::handle n_jobs) { self.n_jobs = JobsFrom(n_jobs); },
          nb::for_setter(nb::arg("n_jobs").none()))
      .def_rw("data_storage_version", &WriteOptions::data_storage_version, nb::arg().none())
      .def_rw("enable_v2_manifest_paths", &WriteOptions::enable_v2_manifest_paths)
      .def_rw("enable_stable_row_ids", &WriteOptions::enable_stable_row_ids)
      .def_rw("initial_config", &WriteOptions::initial_config)
      .def_rw("initial_bases", &WriteOptions::initial_bases)
      .def_rw("target_bases", &WriteOptions::target_bases)
      .def_rw("target_all_bases", &WriteOptions::target_all_bases, nb::arg().none())
      .def_rw("session", &WriteOptions::session, nb::arg().none());

  nb::class_<DeleteOptions>(m, "DeleteOptions")
      .def(nb::init<>())
      .def_rw("conflict_retries", &DeleteOptions::conflict_retries)
      .def_rw("retry_timeout_ms", &DeleteOptions::retry_timeout_ms);
}

void BindResults(nb::module_& m) {
  nb::class_<PageCounts>(m, "PageCounts")
      .def_ro("total", &PageCounts::total)
      .def_ro("by_page_bytes", &PageCounts::by_page_bytes)
      .def_ro("by_cache_bytes", &PageCounts::by_cache_bytes)
      .def_ro("by_row_limit", &PageCounts::by_row_limit)
      .def_ro("by_file_end", &PageCounts::by_file_end)
      .def_ro("by_format_limit", &PageCounts::by_format_limit);
  nb::class_<WriteSummary>(m, "WriteSummary")
      .def_ro("rows", &WriteSummary::rows)
      .def_ro("files", &WriteSummary::files)
      .def_ro("bytes", &WriteSummary::bytes)
      .def_ro("pages", &WriteSummary::pages);
  nb::class_<WriteResult>(m, "WriteResult")
      .def_ro("dataset", &WriteResult::dataset)
      .def_ro("summary", &WriteResult::summary);
  nb::class_<DeleteResult>(m, "DeleteResult")
      .def_ro("dataset", &DeleteResult::dataset)
      .def_ro("num_deleted_rows", &DeleteResult::num_deleted_rows);
}

}  // namespace

void BindWrite(nb::module_& m) {
  BindOptions(m);
  BindResults(m);
  m.def("write_dataset", &Write, "source"_a, "target"_a, "options"_a, "progress"_a = nb::none(),
        "version"_a = nb::none());
  m.def("write_fragments", &WriteUncommitted, "source"_a, "target"_a, "options"_a,
        "progress"_a = nb::none(), "version"_a = nb::none());
  m.def("delete", &DeleteRows, "dataset"_a, "predicate"_a, "options"_a, "version"_a = nb::none());
}

}  // namespace glaive::python
