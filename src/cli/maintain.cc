#include "glaive/maintain.h"

#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/exit_code.h"
#include "cli/show/terminal.h"
#include "cli/verbs.h"
#include "glaive/refs.h"

namespace glaive::cli {
namespace {

using Json = nlohmann::ordered_json;

Json StepJson(const StepReport& step) {
  return {{"outcome", NameOf(step.outcome)},
          {"why", step.why.ok() ? Json() : Json(ErrorLine(step.why))},
          {"seconds", step.seconds}};
}

Json ToJson(const CompactionLoad& load) {
  return {{"tasks", load.tasks},
          {"fragments", load.fragments},
          {"rows", load.rows},
          {"bytes", load.bytes}};
}

Json ToJson(const CompactionReport& step) {
  Json json = StepJson(step);
  json["done"] = ToJson(step.done);
  json["left"] = ToJson(step.left);
  json["commits"] = step.commits;
  json["fragments_removed"] = step.metrics.fragments_removed;
  json["fragments_added"] = step.metrics.fragments_added;
  json["rows_written"] = step.written.rows;
  json["bytes_written"] = step.written.bytes;
  json["pages_written"] = step.written.pages.total;
  json["rows_compared"] = step.canary.rows;
  return json;
}

uint64_t FilesOf(const RemovalStats& removed) {
  return removed.data_files_removed + removed.transaction_files_removed +
         removed.index_files_removed + removed.deletion_files_removed + removed.old_versions;
}

void AddRemoved(const RemovalStats& removed, Json* json) {
  (*json)["files"] = FilesOf(removed);
  (*json)["bytes"] = removed.bytes_removed;
  (*json)["data_files"] = removed.data_files_removed;
  (*json)["deletion_files"] = removed.deletion_files_removed;
  (*json)["transaction_files"] = removed.transaction_files_removed;
  (*json)["index_files"] = removed.index_files_removed;
  (*json)["failed_deletes"] = removed.failed_deletes;
}

Json ToJson(const CleanupReport& step) {
  Json json = StepJson(step);
  json["versions"] = step.removed.old_versions;
  AddRemoved(step.removed, &json);
  json["left"] = {{"tagged_versions", step.tagged_versions},
                  {"branched_versions", step.branched_versions}};
  return json;
}

Json ToJson(const SweepReport& step) {
  Json json = StepJson(step);
  AddRemoved(step.removed, &json);
  json["left"] = {{"young_files", step.young_files}, {"young_bytes", step.young_bytes}};
  return json;
}

Json ToJson(const MaintenanceReport& report) {
  return {{"version_before", report.version_before},
          {"version", report.dataset.version()},
          {"dry_run", report.dry_run},
          {"seconds", report.seconds},
          {"compaction", ToJson(report.compaction)},
          {"cleanup", ToJson(report.cleanup)},
          {"sweep", ToJson(report.sweep)}};
}

std::string TextOf(const CompactionLoad& load) {
  return fmt::format("{} in {}, {}", Counted(load.fragments, "fragment"),
                     Counted(load.tasks, "task"), FormatBytes(load.bytes));
}

// How a step ended, where that is worth a word.
std::string Ending(const StepReport& step) {
  switch (step.outcome) {
    case StepOutcome::kNotRun: return "not run";
    case StepOutcome::kDone: return "";
    case StepOutcome::kLimited: return "stopped at a limit";
    default: return ErrorLine(step.why);
  }
}

void PrintStep(std::string_view name, const StepReport& step, std::string text) {
  const std::string ending = Ending(step);
  if (step.outcome == StepOutcome::kNotRun) {
    text = ending;
  } else if (!ending.empty()) {
    text += "; " + ending;
  }
  fmt::print("{:<11} {}{}\n", name, text,
             step.outcome == StepOutcome::kNotRun ? "" : fmt::format(" ({:.2f} s)", step.seconds));
}

void Print(const MaintenanceReport& report) {
  const bool dry = report.dry_run;
  const CompactionReport& compaction = report.compaction;
  std::string text = dry ? "would rewrite " + TextOf(compaction.done)
                         : fmt::format("{} became {}, {} written",
                                       Counted(compaction.metrics.fragments_removed, "fragment"),
                                       FormatCount(compaction.metrics.fragments_added),
                                       FormatBytes(compaction.written.bytes));
  if (compaction.canary.rows > 0) {
    text += fmt::format(", {} compared", Counted(compaction.canary.rows, "row"));
  }
  if (compaction.left.tasks > 0) text += "; left: " + TextOf(compaction.left);
  PrintStep("compaction", compaction, text);

  const std::string_view verb = dry ? "would remove" : "removed";
  const CleanupReport& cleanup = report.cleanup;
  text = fmt::format("{} {}, {}, {}", verb, Counted(cleanup.removed.old_versions, "version"),
                     Counted(FilesOf(cleanup.removed) - cleanup.removed.old_versions, "file"),
                     FormatBytes(cleanup.removed.bytes_removed));
  if (cleanup.tagged_versions + cleanup.branched_versions > 0) {
    text += fmt::format("; kept: {} of tags, {} of branches", FormatCount(cleanup.tagged_versions),
                        FormatCount(cleanup.branched_versions));
  }
  PrintStep("cleanup", cleanup, text);

  const SweepReport& sweep = report.sweep;
  text = fmt::format("{} {}, {}", verb, Counted(FilesOf(sweep.removed), "file"),
                     FormatBytes(sweep.removed.bytes_removed));
  if (sweep.young_files > 0) {
    text += fmt::format("; left: {} too young, {}", FormatCount(sweep.young_files),
                        FormatBytes(sweep.young_bytes));
  }
  PrintStep("sweep", sweep, text);
  fmt::print("version {}\n", report.dataset.version());
}

}  // namespace

arrow::Status MaintainTable(const MaintainOptions& options) {
  ARROW_ASSIGN_OR_RAISE(Dataset dataset, Dataset::Open(options.uri));
  if (!options.branch.empty()) {
    ARROW_ASSIGN_OR_RAISE(dataset, dataset.Checkout(BranchVersion{options.branch, std::nullopt}));
  }
  ARROW_ASSIGN_OR_RAISE(const MaintenanceReport report, [&] {
    ProgressBar bar;
    MaintenanceOptions maintenance = options.maintenance;
    maintenance.version.progress = [&bar](const Progress& progress) {
      return bar.Update(progress);
    };
    maintenance.on_step = [&bar](std::string_view step) { bar.BeginStep(step); };
    return Maintain(dataset, maintenance);
  }());
  if (options.json) {
    fmt::print("{}\n", ToJson(report).dump(2));
  } else {
    Print(report);
  }
  return StatusOf(report);
}

}  // namespace glaive::cli
