#include "glaive/compaction.h"

#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind_version_options.h"
#include "bindings.h"
#include "call.h"
#include "repr.h"

namespace glaive::python {

using namespace nb::literals;

namespace {

template <typename T>
T FromJson(const std::string& json) {
  return ValueOrRaise(T::FromJson(json));
}

template <typename Work>
auto Interruptible(CompactionOptions options, Work&& work) {
  const Call call;
  options.version.progress = call.PollSignals();
  return call.Run([&] { return work(options); });
}

template <typename Work>
auto Committing(CompactionOptions options, const PythonVersion* version, Work&& work) {
  const Call call;
  if (version != nullptr) options.version = PythonVersion::For(version, call);
  if (version == nullptr) options.version.progress = call.PollSignals();
  return call.Run([&] { return work(options); });
}

std::string Counted(const char* name, uint64_t version, const char* what, size_t number) {
  return std::string(name) + "(read_version=" + std::to_string(version) + ", " + what + "=<" +
         std::to_string(number) + ">)";
}

void BindOptions(nb::module_& m) {
  nb::enum_<CompactionMode>(m, "CompactionMode")
      .value("reencode", CompactionMode::kReencode)
      .value("try_binary_copy", CompactionMode::kTryBinaryCopy)
      .value("force_binary_copy", CompactionMode::kForceBinaryCopy);
  using Options = CompactionOptions;
  nb::class_<Options>(m, "CompactionOptions")
      .def(nb::init<>())
      .def_rw("target_rows_per_fragment", &Options::target_rows_per_fragment, nb::arg().none())
      .def_rw("target_bytes_per_fragment", &Options::target_bytes_per_fragment, nb::arg().none())
      .def_rw("rewrite_small_pages", &Options::rewrite_small_pages, nb::arg().none())
      .def_rw("memory_limit", &Options::memory_limit, nb::arg().none())
      .def_rw("max_rows_per_group", &Options::max_rows_per_group, nb::arg().none())
      .def_rw("max_bytes_per_file", &Options::max_bytes_per_file, nb::arg().none())
      .def_rw("max_page_bytes", &Options::max_page_bytes, nb::arg().none())
      .def_rw("data_cache_bytes", &Options::data_cache_bytes, nb::arg().none())
      .def_rw("materialize_deletions", &Options::materialize_deletions, nb::arg().none())
      .def_rw("materialize_deletions_threshold", &Options::materialize_deletions_threshold,
              nb::arg().none())
      .def_rw("defer_index_remap", &Options::defer_index_remap, nb::arg().none())
      .def_rw("max_overlays_per_fragment", &Options::max_overlays_per_fragment, nb::arg().none())
      .def_rw("num_threads", &Options::num_threads, nb::arg().none())
      .def_rw("batch_size", &Options::batch_size, nb::arg().none())
      .def_rw("mode", &Options::mode, nb::arg().none())
      .def_rw("max_source_fragments", &Options::max_source_fragments, nb::arg().none())
      .def_rw("max_source_rows", &Options::max_source_rows, nb::arg().none())
      .def_rw("max_source_bytes", &Options::max_source_bytes, nb::arg().none())
      .def_rw("excluded_fragment_ids", &Options::excluded_fragment_ids)
      .def_rw("look_ahead", &Options::look_ahead)
      .def_rw("data_storage_version", &Options::data_storage_version, nb::arg().none())
      .def_prop_rw(
          "durability", [](const Options& self) { return self.version.durability; },
          [](Options& self, Durability durability) { self.version.durability = durability; })
      .def_rw("partial", &Options::partial);
}

void BindValues(nb::module_& m) {
  nb::class_<CompactionMetrics>(m, "CompactionMetrics")
      .def_ro("fragments_removed", &CompactionMetrics::fragments_removed)
      .def_ro("fragments_added", &CompactionMetrics::fragments_added)
      .def_ro("files_removed", &CompactionMetrics::files_removed)
      .def_ro("files_added", &CompactionMetrics::files_added)
      .def("__repr__",
           Repr{"fragments_removed", "fragments_added", "files_removed", "files_added"});
  nb::class_<CompactionTask>(m, "CompactionTask")
      .def_ro("read_version", &CompactionTask::read_version)
      .def_ro("fragments", &CompactionTask::fragments)
      .def_ro("options", &CompactionTask::options)
      .def_static("from_json", &FromJson<CompactionTask>, "json"_a)
      .def("to_json", &CompactionTask::ToJson)
      .def("__repr__", [](const CompactionTask& task) {
        return Counted("CompactionTask", task.read_version, "fragments", task.fragments.size());
      });
  nb::class_<CompactionPlan>(m, "CompactionPlan")
      .def_ro("read_version", &CompactionPlan::read_version)
      .def_ro("options", &CompactionPlan::options)
      .def_ro("tasks", &CompactionPlan::tasks)
      .def_static("from_json", &FromJson<CompactionPlan>, "json"_a)
      .def("to_json", &CompactionPlan::ToJson)
      .def("__repr__", [](const CompactionPlan& plan) {
        return Counted("CompactionPlan", plan.read_version, "tasks", plan.tasks.size());
      });
  nb::class_<RewriteResult>(m, "RewriteResult")
      .def_ro("read_version", &RewriteResult::read_version)
      .def_ro("metrics", &RewriteResult::metrics)
      .def_ro("original_fragments", &RewriteResult::original_fragments)
      .def_ro("new_fragments", &RewriteResult::new_fragments)
      .def_ro("summary", &RewriteResult::summary)
      .def_static("from_json", &FromJson<RewriteResult>, "json"_a)
      .def("to_json", &RewriteResult::ToJson)
      .def("__repr__", Repr{"read_version", "metrics"});
  nb::class_<LeftTask>(m, "LeftTask")
      .def_ro("fragment_ids", &LeftTask::fragment_ids)
      .def_prop_ro("reason", [](const LeftTask& left) { return left.reason.message(); })
      .def_prop_ro("retryable", [](const LeftTask& left) { return IsRetryable(left.reason); })
      .def("__repr__", Repr{"fragment_ids", "reason", "retryable"});
  nb::class_<CompactionResult>(m, "CompactionResult")
      .def_ro("dataset", &CompactionResult::dataset)
      .def_ro("metrics", &CompactionResult::metrics)
      .def_ro("summary", &CompactionResult::summary)
      .def_ro("left", &CompactionResult::left)
      .def("__repr__", Repr{"dataset.version", "metrics", "left"});
}

}  // namespace

void BindCompaction(nb::module_& m) {
  BindOptions(m);
  BindValues(m);
  m.def(
      "plan_compaction",
      [](const Dataset& dataset, const CompactionOptions& options) {
        return Interruptible(options, [&](const auto& o) { return PlanCompaction(dataset, o); });
      },
      "dataset"_a, "options"_a);
  m.def(
      "execute_compaction",
      [](const Dataset& dataset, const CompactionTask& task, const CompactionOptions& options) {
        return Interruptible(options,
                             [&](const auto& o) { return ExecuteCompaction(dataset, task, o); });
      },
      "dataset"_a, "task"_a, "options"_a);
  m.def(
      "commit_compaction",
      [](const Dataset& dataset, const std::vector<RewriteResult>& results,
         const CompactionOptions& options, const PythonVersion* version) {
        return Committing(options, version,
                          [&](const auto& o) { return CommitCompaction(dataset, results, o); });
      },
      "dataset"_a, "results"_a, "options"_a, "version"_a = nb::none());
  m.def(
      "compact_files",
      [](const Dataset& dataset, const CompactionOptions& options, const PythonVersion* version) {
        return Committing(options, version,
                          [&](const auto& o) { return CompactFiles(dataset, o); });
      },
      "dataset"_a, "options"_a, "version"_a = nb::none());
}

}  // namespace glaive::python
