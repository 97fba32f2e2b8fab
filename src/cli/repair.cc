#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/exit_code.h"
#include "cli/show/terminal.h"
#include "cli/verbs.h"
#include "glaive/repair.h"

namespace glaive::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view NameOf(RepairStep::Kind kind) {
  switch (kind) {
    case RepairStep::Kind::kMoveManifestAside: return "move manifest aside";
    case RepairStep::Kind::kDropFragment: return "drop fragment";
    case RepairStep::Kind::kDropIndex: return "drop index";
    case RepairStep::Kind::kReleaseName: return "release name";
  }
  return "";
}

Json ToJson(const RepairPlan& plan) {
  Json steps = Json::array();
  for (const RepairStep& step : plan.steps) {
    Json json = {{"step", NameOf(step.kind)}, {"path", step.path}, {"reason", step.reason}};
    if (step.kind == RepairStep::Kind::kMoveManifestAside) json["to"] = step.new_path;
    if (step.kind == RepairStep::Kind::kDropFragment) {
      json["fragment"] = step.fragment_id;
      json["rows_lost"] = step.rows_lost;
    }
    steps.push_back(std::move(json));
  }
  return {{"version", plan.version},
          {"steps", std::move(steps)},
          {"left_alone", plan.left_alone},
          {"unread", plan.unread}};
}

void Print(const RepairPlan& plan, const std::string& uri) {
  uint64_t rows_lost = 0;
  if (plan.version == 0) {
    fmt::print("{}  no version is there\n", uri);
  } else {
    fmt::print("{}  version {} is the newest that can be opened\n", uri, plan.version);
  }
  for (const RepairStep& step : plan.steps) {
    fmt::print("  {}", NameOf(step.kind));
    if (step.kind == RepairStep::Kind::kDropFragment) {
      fmt::print(" {} ({})", step.fragment_id, Counted(step.rows_lost, "row"));
      rows_lost += step.rows_lost;
    }
    fmt::print(": {}\n", step.reason);
    if (step.kind == RepairStep::Kind::kMoveManifestAside) {
      fmt::print("    {} -> {}\n", step.path, step.new_path);
    }
  }
  for (const std::string& text : plan.left_alone) fmt::print("  left alone: {}\n", text);
  for (const std::string& text : plan.unread) fmt::print("  not read: {}\n", text);
  if (plan.steps.empty()) {
    if (plan.unread.empty()) fmt::print("nothing to repair\n");
  } else if (rows_lost > 0) {
    fmt::print("{} would no longer be in the table; older versions keep what can be read of them\n",
               Counted(rows_lost, "row"));
  }
}

}  // namespace

arrow::Status RepairTable(const RepairVerbOptions& options) {
  RepairOptions repair = {.read_values = !options.quick};
  ARROW_ASSIGN_OR_RAISE(const RepairPlan plan, [&] {
    ProgressBar bar;
    repair.version.progress = [&](const Progress& progress) { return bar.Update(progress); };
    return PlanRepair(options.uri, repair);
  }());
  repair.version.progress = [](const Progress&) { return CheckInterrupt(); };
  if (!options.json) Print(plan, options.uri);
  Json json = ToJson(plan);
  if (options.yes && !plan.steps.empty()) {
    ARROW_ASSIGN_OR_RAISE(const auto dataset, Repair(options.uri, plan, repair));
    if (dataset) json["repaired_version"] = dataset->version();
    if (!options.json && !dataset) fmt::print("done: a table can be made\n");
    if (!options.json && dataset) {
      fmt::print("done: version {}{}\n", dataset->version(),
                 plan.unread.empty() ? " is whole" : ", as far as it could be read");
    }
  } else if (!options.json && !plan.steps.empty()) {
    fmt::print("nothing was changed; --yes does it\n");
  }
  if (options.json) fmt::print("{}\n", json.dump(2));
  if (plan.unread.empty()) return arrow::Status::OK();
  return ReadsFailed(fmt::format("{} to read {} failed; what is behind them is left as it is",
                                 Counted(plan.unread.size(), "attempt"), options.uri));
}

}  // namespace glaive::cli
