#include "glaive/retention.h"

#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "call.h"
#include "repr.h"

namespace glaive::python {

using namespace nb::literals;

namespace {

const char* NameOf(CleanupFileKind kind) {
  switch (kind) {
    case CleanupFileKind::kManifest: return "manifest";
    case CleanupFileKind::kData: return "data";
    case CleanupFileKind::kTransaction: return "transaction";
    case CleanupFileKind::kIndex: return "index";
    case CleanupFileKind::kDeletion: return "deletion";
    case CleanupFileKind::kTemporaryManifest: return "temporary_manifest";
  }
  return "";
}

void BindResults(nb::module_& m) {
  nb::class_<RemovalStats>(m, "CleanupStats")
      .def_ro("bytes_removed", &RemovalStats::bytes_removed)
      .def_ro("old_versions", &RemovalStats::old_versions)
      .def_ro("data_files_removed", &RemovalStats::data_files_removed)
      .def_ro("transaction_files_removed", &RemovalStats::transaction_files_removed)
      .def_ro("index_files_removed", &RemovalStats::index_files_removed)
      .def_ro("deletion_files_removed", &RemovalStats::deletion_files_removed)
      .def_ro("failed_deletes", &RemovalStats::failed_deletes)
      .def("__repr__",
           Repr{"bytes_removed", "old_versions", "data_files_removed", "transaction_files_removed",
                "index_files_removed", "deletion_files_removed", "failed_deletes"});
  nb::class_<CleanupCandidate>(m, "CleanupCandidateFile")
      .def_ro("path", &CleanupCandidate::path)
      .def_prop_ro("kind", [](const CleanupCandidate& file) { return NameOf(file.kind); })
      .def_ro("unverified", &CleanupCandidate::unverified)
      .def_ro("size_bytes", &CleanupCandidate::size_bytes)
      .def("__repr__", Repr{"path", "kind", "unverified", "size_bytes"});
  nb::class_<ReferencedBranch>(m, "CleanupReferencedBranch")
      .def_ro("name", &ReferencedBranch::name)
      .def_ro("referenced_version", &ReferencedBranch::referenced_version)
      .def_ro("cleanup_candidate", &ReferencedBranch::cleanup_candidate)
      .def("__repr__", Repr{"name", "referenced_version", "cleanup_candidate"});
  nb::class_<CleanupExplanation>(m, "CleanupExplanation")
      .def_ro("read_version", &CleanupExplanation::read_version)
      .def_ro("stats", &CleanupExplanation::stats)
      .def_ro("candidate_files", &CleanupExplanation::candidates)
      .def_ro("candidate_files_truncated", &CleanupExplanation::is_truncated)
      .def_ro("candidate_file_limit", &CleanupExplanation::candidate_limit)
      .def_ro("referenced_branches", &CleanupExplanation::referenced_branches)
      .def_ro("warnings", &CleanupExplanation::warnings)
      .def("__repr__", Repr{"read_version", "stats", "warnings"});
}

void BindOptions(nb::module_& m) {
  nb::class_<CleanupOptions>(m, "CleanupOptions")
      .def(nb::init<>())
      .def_rw("older_than_ns", &CleanupOptions::older_than_ns, nb::arg().none())
      .def_rw("retain_versions", &CleanupOptions::retain_versions, nb::arg().none())
      .def_rw("versions", &CleanupOptions::versions, nb::arg().none())
      .def_rw("delete_unverified", &CleanupOptions::delete_unverified)
      .def_rw("error_if_tagged_old_versions", &CleanupOptions::error_if_tagged_old_versions)
      .def_rw("clean_referenced_branches", &CleanupOptions::clean_referenced_branches)
      .def_rw("delete_rate_limit", &CleanupOptions::delete_rate_limit, nb::arg().none());
}

}  // namespace

void BindMaintenance(nb::module_& m) {
  BindOptions(m);
  BindResults(m);
  m.def(
      "clean_up",
      [](const Dataset& dataset, CleanupOptions options) {
        const Call call;
        options.progress = call.PollSignals();
        return call.Run([&] { return CleanUp(dataset, options); });
      },
      "dataset"_a, "options"_a);
  m.def(
      "explain_clean_up",
      [](const Dataset& dataset, CleanupOptions options, uint64_t max_candidates) {
        const Call call;
        options.progress = call.PollSignals();
        return call.Run([&] { return ExplainCleanUp(dataset, options, max_candidates); });
      },
      "dataset"_a, "options"_a, "max_candidates"_a);
  m.def("format_duration", &FormatDuration, "seconds"_a);
  m.def(
      "validate",
      [](const Dataset& dataset) { Call().RunStatus([&] { return Validate(dataset); }); },
      "dataset"_a);
  m.def(
      "migrate_manifest_paths_v2",
      [](const Dataset& dataset) {
        Call().RunStatus([&] { return MigrateManifestPathsV2(dataset); });
      },
      "dataset"_a);
  m.def(
      "drop_dataset",
      [](const std::string& uri, bool ignore_not_found) {
        Call().RunStatus([&] { return DropDataset(uri, ignore_not_found); });
      },
      "uri"_a, "ignore_not_found"_a);
}

}  // namespace glaive::python
