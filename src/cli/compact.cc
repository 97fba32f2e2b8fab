#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/exit_code.h"
#include "cli/show/terminal.h"
#include "cli/verbs.h"
#include "glaive/dataset.h"
#include "glaive/maintain.h"

namespace glaive::cli {
namespace {

using Json = nlohmann::ordered_json;

// What rewriting some fragments takes.
struct Cost {
  uint64_t fragments = 0;
  uint64_t rows = 0;
  uint64_t bytes = 0;  // of the data files read, as far as the manifest knows them

  void Add(const FragmentMetadata& fragment) {
    ++fragments;
    rows += fragment.num_rows();
    for (const DataFileInfo& file : fragment.files()) bytes += file.file_size_bytes;
  }
  void Add(const Cost& other) {
    fragments += other.fragments;
    rows += other.rows;
    bytes += other.bytes;
  }
};

Cost CostOf(const CompactionTask& task) {
  Cost cost;
  for (const FragmentMetadata& fragment : task.fragments) cost.Add(fragment);
  return cost;
}

Cost CostOf(const CompactionPlan& plan) {
  Cost cost;
  for (const CompactionTask& task : plan.tasks) cost.Add(CostOf(task));
  return cost;
}

// How the bound on memory comes about.
std::string TextOf(const CompactionMemory& memory, const CompactionOptions& options) {
  const std::string tasks = Counted(memory.tasks_at_once, "task");
  std::string text = fmt::format(
      "at most about {} beside the largest row: 2 x {} of pages, {} read ahead, {} being decoded",
      FormatBytes(memory.total_bytes), FormatBytes(memory.page_bytes),
      FormatBytes(memory.read_ahead_bytes), FormatBytes(memory.decoded_bytes));
  if (options.memory_limit) {
    text += fmt::format("; --memory-limit {}", FormatBytes(*options.memory_limit));
  }
  if (options.num_threads) {
    text += fmt::format("; --num-threads {}, {} at once", *options.num_threads, tasks);
  }
  return text;
}

Json ToJson(const CompactionMemory& memory) {
  return {{"tasks_at_once", memory.tasks_at_once},
          {"page_bytes", memory.page_bytes},
          {"read_ahead_bytes", memory.read_ahead_bytes},
          {"decoded_bytes", memory.decoded_bytes}};
}

void PrintPlan(const CompactionPlan& plan, const CompactOptions& options) {
  const Cost total = CostOf(plan);
  const CompactionMemory memory = MemoryOf(plan);
  if (options.json) {
    Json tasks = Json::array();
    for (const CompactionTask& task : plan.tasks) {
      const Cost cost = CostOf(task);
      tasks.push_back({{"first_fragment", task.fragments.front().id()},
                       {"last_fragment", task.fragments.back().id()},
                       {"fragments", cost.fragments},
                       {"rows", cost.rows},
                       {"bytes", cost.bytes}});
    }
    const Json plan_json = {{"read_version", plan.read_version},
                            {"fragments", total.fragments},
                            {"rows", total.rows},
                            {"bytes", total.bytes},
                            {"memory_bytes", memory.total_bytes},
                            {"memory", ToJson(memory)},
                            {"tasks", std::move(tasks)}};
    fmt::print("{}\n", plan_json.dump(2));
    return;
  }
  if (plan.tasks.empty()) {
    fmt::print("version {}: nothing to compact\n", plan.read_version);
    return;
  }
  fmt::print("version {}: {} would rewrite {}, {}, {}\n", plan.read_version,
             Counted(plan.tasks.size(), "task"), Counted(total.fragments, "fragment"),
             Counted(total.rows, "row"), FormatBytes(total.bytes));
  for (const CompactionTask& task : plan.tasks) {
    const Cost cost = CostOf(task);
    fmt::print("  fragments {} to {}: {} of them, {}, {}\n", task.fragments.front().id(),
               task.fragments.back().id(), FormatCount(cost.fragments), Counted(cost.rows, "row"),
               FormatBytes(cost.bytes));
  }
  fmt::print("  memory: {}\n", TextOf(memory, plan.options));
}

// Tasks that were given up, and why.
void PrintLeft(const std::vector<LeftTask>& left) {
  for (const LeftTask& task : left) {
    fmt::print("left as it is: fragment {}: {}\n", fmt::join(task.fragment_ids, ", "),
               ErrorLine(task.reason));
  }
}

Json ToJson(const CanaryReport& canary) {
  return {{"rows", canary.rows},
          {"old_fragments", canary.old_fragments},
          {"new_fragments", canary.new_fragments}};
}

void PrintResult(const CompactionResult& result, const std::optional<CanaryReport>& canary,
                 double seconds, bool json) {
  const CompactionMetrics& metrics = result.metrics;
  const WriteSummary& written = result.summary;
  const PageCounts& pages = written.pages;
  if (json) {
    Json report = {{"version", result.dataset.version()},
                   {"fragments_removed", metrics.fragments_removed},
                   {"fragments_added", metrics.fragments_added},
                   {"files_removed", metrics.files_removed},
                   {"files_added", metrics.files_added},
                   {"rows", written.rows},
                   {"bytes", written.bytes},
                   {"seconds", seconds},
                   {"pages",
                    {{"total", pages.total},
                     {"by_page_bytes", pages.by_page_bytes},
                     {"by_cache_bytes", pages.by_cache_bytes},
                     {"by_row_limit", pages.by_row_limit},
                     {"by_file_end", pages.by_file_end},
                     {"by_format_limit", pages.by_format_limit}}}};
    if (canary) report["canary"] = ToJson(*canary);
    report["left"] = Json::array();
    for (const LeftTask& task : result.left) {
      report["left"].push_back({{"fragments", task.fragment_ids}, {"why", ErrorLine(task.reason)}});
    }
    fmt::print("{}\n", report.dump(2));
    return;
  }
  PrintLeft(result.left);
  if (metrics.fragments_removed == 0) {
    if (result.left.empty()) {
      fmt::print("version {}: nothing to compact\n", result.dataset.version());
    }
    return;
  }
  fmt::print("version {}: {} became {}; {}, {} written in {:.2f} s\n", result.dataset.version(),
             Counted(metrics.fragments_removed, "fragment"), FormatCount(metrics.fragments_added),
             Counted(written.rows, "row"), FormatBytes(written.bytes), seconds);
  fmt::print("  {}, ended by", Counted(pages.total, "page"));
  const char* separator = " ";
  const auto limit = [&](uint64_t count, const char* name) {
    if (count > 0)
      fmt::print("{}{} ({})", std::exchange(separator, ", "), name, FormatCount(count));
  };
  limit(pages.by_page_bytes, "--max-page-bytes");
  limit(pages.by_cache_bytes, "--data-cache-bytes");
  limit(pages.by_row_limit, "--max-rows-per-group");
  limit(pages.by_file_end, "the end of a file");
  limit(pages.by_format_limit, "a limit of the format");
  fmt::print("\n");
  if (canary) {
    fmt::print("  canary: {} compared with those of before, and equal\n",
               Counted(canary->rows, "row"));
  }
}

}  // namespace

arrow::Status Compact(const CompactOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const Dataset dataset, Dataset::Open(options.uri));
  if (options.dry_run) {
    ARROW_ASSIGN_OR_RAISE(const CompactionPlan plan, PlanCompaction(dataset, options.compaction));
    PrintPlan(plan, options);
    return arrow::Status::OK();
  }
  const auto started = std::chrono::steady_clock::now();
  std::optional<CanaryReport> canary;
  ARROW_ASSIGN_OR_RAISE(const CompactionResult result, [&]() -> arrow::Result<CompactionResult> {
    ProgressBar bar;
    CompactionOptions compaction = options.compaction;
    compaction.version.progress = [&bar](const Progress& progress) { return bar.Update(progress); };
    if (!options.canary) return CompactFiles(dataset, compaction);
    ARROW_ASSIGN_OR_RAISE(CheckedCompaction checked, CompactWithCanary(dataset, compaction));
    canary = checked.canary;
    return std::move(checked.compaction);
  }());
  const auto took = std::chrono::steady_clock::now() - started;
  PrintResult(result, canary, std::chrono::duration<double>(took).count(), options.json);
  return arrow::Status::OK();
}

}  // namespace glaive::cli
