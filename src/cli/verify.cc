#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/exit_code.h"
#include "cli/show/fragment_strip.h"
#include "cli/show/terminal.h"
#include "cli/verbs.h"
#include "glaive/dataset.h"
#include "glaive/verify.h"

namespace glaive::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view NameOf(Severity severity) {
  return severity == Severity::kError ? "error" : "warning";
}

Json ToJson(const VerifyReport& report) {
  Json findings = Json::array();
  for (const Finding& finding : report.findings) {
    findings.push_back({{"severity", NameOf(finding.severity)},
                        {"kind", cli::NameOf(finding.kind)},
                        {"path", finding.path},
                        {"fragment", finding.fragment_id ? Json(*finding.fragment_id) : Json()},
                        {"message", finding.message}});
  }
  return {{"version", report.version},
          {"ok", report.ok()},
          {"versions", report.num_versions},
          {"fragments", report.num_fragments},
          {"fragments_decoded", report.num_fragments_decoded},
          {"data_files", report.num_data_files},
          {"deletion_files", report.num_deletion_files},
          {"rows", report.num_rows},
          {"rows_decoded", report.num_rows_decoded},
          {"orphans", report.num_orphans},
          {"orphan_bytes", report.orphan_bytes},
          {"findings", std::move(findings)},
          {"statement", report.Statement()}};
}

// Which fragments are damaged, among all of the version.
arrow::Status PrintStrip(const VerifyReport& report, const std::string& uri) {
  std::map<uint64_t, char> marks;
  for (const Finding& finding : report.findings) {
    if (finding.fragment_id) marks[*finding.fragment_id] = '!';
  }
  if (marks.empty()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, Dataset::Open(uri, {.version = report.version}));
  ARROW_ASSIGN_OR_RAISE(const auto fragments, dataset.Fragments());
  for (const FragmentMetadata& fragment : fragments) marks.emplace(fragment.id(), '.');
  fmt::print("  fragments [{}]\n", DrawFragments(marks, "!.", TerminalWidth() - 14));
  return arrow::Status::OK();
}

arrow::Status Print(const VerifyReport& report, const std::string& uri) {
  fmt::print("{}  version {}: {}, {}, {}, {}\n", uri, report.version,
             Counted(report.num_versions, "version"), Counted(report.num_fragments, "fragment"),
             Counted(report.num_data_files, "data file"), Counted(report.num_rows, "row"));
  for (const Finding& finding : report.findings) {
    fmt::print("  {}: ", NameOf(finding.severity));
    if (finding.fragment_id) fmt::print("fragment {}: ", *finding.fragment_id);
    fmt::print("{}\n", finding.message);
  }
  ARROW_RETURN_NOT_OK(PrintStrip(report, uri));
  if (report.num_orphans > 0) {
    fmt::print("  {} that nothing refers to, {}: `glaive orphans {}`\n",
               Counted(report.num_orphans, "file"), FormatBytes(report.orphan_bytes), uri);
  }
  fmt::print("{}\n", report.Statement());
  return arrow::Status::OK();
}

}  // namespace

arrow::Status VerifyTable(const VerifyVerbOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const VerifyReport report, [&] {
    ProgressBar bar;
    VerifyOptions verify = options.verify;
    verify.depth = options.quick ? VerifyDepth::kFooters : VerifyDepth::kRows;
    verify.progress = [&](const Progress& progress) { return bar.Update(progress); };
    return Verify(options.uri, verify);
  }());
  if (options.json) {
    fmt::print("{}\n", ToJson(report).dump(2));
  } else {
    ARROW_RETURN_NOT_OK(Print(report, options.uri));
  }
  if (report.ok()) return arrow::Status::OK();
  uint64_t errors = 0;
  for (const Finding& finding : report.findings) {
    errors += finding.severity == Severity::kError ? 1 : 0;
  }
  if (errors == 0) {
    return ReadsFailed(
        fmt::format("{} holds what this build does not read: whether that is damaged is not known; "
                    "pylance reads it, and copies it with data_storage_version=\"2.2\"",
                    options.uri));
  }
  if (!report.damaged()) {
    return ReadsFailed(fmt::format("{} to read {} failed; whether it is damaged is not known",
                                   Counted(errors, "attempt"), options.uri));
  }
  return DamageFound(fmt::format("{} found in {}; `glaive repair {}` shows what can be done",
                                 Counted(errors, "error"), options.uri, options.uri));
}

}  // namespace glaive::cli
