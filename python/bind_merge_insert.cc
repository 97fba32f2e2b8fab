#include "glaive/rows.h"

#include <memory>
#include <string>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <arrow/record_batch.h>

#include "arrow_exchange.h"
#include "bind_version_options.h"
#include "bindings.h"
#include "call.h"

namespace glaive::python {

using namespace nb::literals;

namespace {

MergeInsertResult Merge(const Dataset& dataset, nb::handle source, MergeInsertOptions options,
                        const PythonVersion* version) {
  const Call call;
  options.version = PythonVersion::For(version, call);
  auto stream = StreamFromPython(source, call);
  return call.Run([&] { return MergeInsert(dataset, std::move(stream), options); });
}

StagedMergeInsert Stage(const Dataset& dataset, nb::handle source, MergeInsertOptions options,
                        const PythonVersion* version) {
  const Call call;
  options.version = PythonVersion::For(version, call);
  auto stream = StreamFromPython(source, call);
  return call.Run([&] { return StageMergeInsert(dataset, std::move(stream), options); });
}

std::string Explain(const Dataset& dataset, nb::handle schema, const MergeInsertOptions& options) {
  const auto source = SchemaFromPython(schema);
  return Call().Run([&] { return ExplainMergeInsert(dataset, *source, options); });
}

std::string Analyze(const Dataset& dataset, nb::handle source, MergeInsertOptions options) {
  const Call call;
  options.version.progress = call.PollSignals();
  auto stream = StreamFromPython(source, call);
  return call.Run([&] { return AnalyzeMergeInsert(dataset, std::move(stream), options); });
}

void BindTypes(nb::module_& m) {
  nb::enum_<WhenMatched>(m, "WhenMatched")
      .value("do_nothing", WhenMatched::kDoNothing)
      .value("update_all", WhenMatched::kUpdateAll)
      .value("fail", WhenMatched::kFail)
      .value("delete", WhenMatched::kDelete);
  nb::enum_<SourceDuplicates>(m, "SourceDuplicates")
      .value("fail", SourceDuplicates::kFail)
      .value("first_seen", SourceDuplicates::kFirstSeen);
  nb::class_<MergeInsertOptions>(m, "MergeInsertOptions")
      .def(nb::init<>())
      .def_rw("on", &MergeInsertOptions::on)
      .def_rw("when_matched", &MergeInsertOptions::when_matched)
      .def_rw("update_condition", &MergeInsertOptions::update_condition, nb::arg().none())
      .def_rw("insert_not_matched", &MergeInsertOptions::insert_not_matched)
      .def_rw("delete_not_matched_by_source", &MergeInsertOptions::delete_not_matched_by_source)
      .def_rw("delete_condition", &MergeInsertOptions::delete_condition, nb::arg().none())
      .def_rw("source_duplicates", &MergeInsertOptions::source_duplicates)
      .def_rw("conflict_retries", &MergeInsertOptions::conflict_retries)
      .def_rw("retry_timeout_ms", &MergeInsertOptions::retry_timeout_ms)
      .def_rw("data_storage_version", &MergeInsertOptions::data_storage_version, nb::arg().none());
  nb::class_<MergeInsertStats>(m, "MergeInsertStats")
      .def_ro("num_inserted_rows", &MergeInsertStats::num_inserted_rows)
      .def_ro("num_updated_rows", &MergeInsertStats::num_updated_rows)
      .def_ro("num_deleted_rows", &MergeInsertStats::num_deleted_rows)
      .def_ro("num_skipped_duplicates", &MergeInsertStats::num_skipped_duplicates)
      .def_ro("num_attempts", &MergeInsertStats::num_attempts)
      .def_ro("num_files_written", &MergeInsertStats::num_files_written)
      .def_ro("bytes_written", &MergeInsertStats::bytes_written);
  nb::class_<MergeInsertResult>(m, "MergeInsertResult")
      .def_ro("dataset", &MergeInsertResult::dataset)
      .def_ro("stats", &MergeInsertResult::stats);
  nb::class_<StagedMergeInsert>(m, "StagedMergeInsert")
      .def_ro("transaction", &StagedMergeInsert::transaction)
      .def_ro("stats", &StagedMergeInsert::stats);
}

}  // namespace

void BindMergeInsert(nb::module_& m) {
  BindTypes(m);
  m.def(
      "merge_key_columns",
      [](const Dataset& dataset, const std::vector<std::string>& on) {
        return Call().Run([&] { return MergeKeyColumns(dataset, on); });
      },
      "dataset"_a, "on"_a);
  m.def(
      "check_merge_options",
      [](const MergeInsertOptions& options) {
        Call().Run([&]() -> arrow::Result<bool> {
          ARROW_RETURN_NOT_OK(CheckMergeOptions(options));
          return true;
        });
      },
      "options"_a);
  m.def("merge_insert", &Merge, "dataset"_a, "source"_a, "options"_a, "version"_a = nb::none());
  m.def("stage_merge_insert", &Stage, "dataset"_a, "source"_a, "options"_a,
        "version"_a = nb::none());
  m.def("explain_merge_insert", &Explain, "dataset"_a, "schema"_a, "options"_a);
  m.def("analyze_merge_insert", &Analyze, "dataset"_a, "source"_a, "options"_a);
}

}  // namespace glaive::python
