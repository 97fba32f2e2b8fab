#include <algorithm>
#include <charconv>
#include <utility>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/handle/time_text.h"
#include "dataset/refs/files.h"
#include "dataset/retention/plan.h"

namespace glaive {
namespace dataset {
namespace {

arrow::Result<uint64_t> NumberIn(const std::string& key, const std::string& value) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) {
    return InvalidInput("Cleanup error: the config's {} is \"{}\", which is no number", key, value);
  }
  return number;
}

std::optional<std::string> ConfigValue(const table::Manifest& manifest, const std::string& name) {
  const auto found = manifest.config.find("lance.auto_cleanup." + name);
  return found == manifest.config.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

void Add(const RemovalStats& other, RemovalStats* stats) {
  stats->bytes_removed += other.bytes_removed;
  stats->old_versions += other.old_versions;
  stats->data_files_removed += other.data_files_removed;
  stats->transaction_files_removed += other.transaction_files_removed;
  stats->index_files_removed += other.index_files_removed;
  stats->deletion_files_removed += other.deletion_files_removed;
  stats->failed_deletes += other.failed_deletes;
}

arrow::Result<RemovalStats> CleanReferencedBranches(const Dataset& dataset,
                                                    const std::vector<ReferencedBranch>& branches,
                                                    const CleanupOptions& options) {
  RemovalStats stats;
  for (const ReferencedBranch& branch : branches) {
    ARROW_ASSIGN_OR_RAISE(const Dataset latest,
                          dataset.Checkout(BranchVersion{branch.name, std::nullopt}));
    ARROW_ASSIGN_OR_RAISE(auto own, AutoCleanup(*StateOf(latest)->manifest));
    if (!own) continue;
    own->delete_rate_limit = options.delete_rate_limit;
    own->progress = options.progress;
    ARROW_ASSIGN_OR_RAISE(const auto removed, CleanUpFrom(latest, latest.version(), *own));
    Add(removed, &stats);
  }
  return stats;
}

arrow::Result<RemovalStats> CleanUpFrom(const Dataset& dataset, uint64_t keep_from,
                                        const CleanupOptions& options) {
  RemovalStats stats;
  ARROW_ASSIGN_OR_RAISE(CleanupPlan plan, PlanCleanup(dataset, keep_from, options));
  if (options.clean_referenced_branches) {
    ARROW_ASSIGN_OR_RAISE(stats,
                          CleanReferencedBranches(dataset, plan.referenced_branches, options));
    // What they no longer hold may go as well.
    ARROW_ASSIGN_OR_RAISE(plan, PlanCleanup(dataset, keep_from, options));
  }
  const CleanupRun own = RunCleanup(dataset, plan, options);
  ARROW_RETURN_NOT_OK(own.status);
  Add(own.removed, &stats);
  return stats;
}

arrow::Result<CleanupOptions> ConfiguredCleanup(const table::Manifest& manifest) {
  CleanupOptions options{.error_if_tagged_old_versions = false};
  if (const auto age = ConfigValue(manifest, "older_than")) {
    const auto nanos = ParseDurationNs(*age);
    if (!nanos) {
      return InvalidInput("Cleanup error: the config's lance.auto_cleanup.older_than is \"{}\"",
                          *age);
    }
    options.older_than_ns = static_cast<uint64_t>(*nanos);
  }
  if (const auto kept = ConfigValue(manifest, "retain_versions")) {
    ARROW_ASSIGN_OR_RAISE(options.retain_versions,
                          NumberIn("lance.auto_cleanup.retain_versions", *kept));
  }
  if (const auto branches = ConfigValue(manifest, "referenced_branch")) {
    if (*branches != "true" && *branches != "false") {
      return InvalidInput(
          "Cleanup error: the config's lance.auto_cleanup.referenced_branch is \"{}\"", *branches);
    }
    options.clean_referenced_branches = *branches == "true";
  }
  if (const auto rate = ConfigValue(manifest, "delete_rate_limit")) {
    ARROW_ASSIGN_OR_RAISE(options.delete_rate_limit,
                          NumberIn("lance.auto_cleanup.delete_rate_limit", *rate));
  }
  return options;
}

arrow::Result<std::optional<CleanupOptions>> AutoCleanup(const table::Manifest& manifest) {
  const auto interval = ConfigValue(manifest, "interval");
  if (!interval) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const uint64_t versions,
                        NumberIn("lance.auto_cleanup.interval", *interval));
  if (versions != 0 && manifest.version % versions != 0) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(CleanupOptions options, ConfiguredCleanup(manifest));
  return options;
}

}  // namespace dataset

arrow::Result<RemovalStats> CleanUp(const Dataset& dataset, const CleanupOptions& options) {
  return dataset::CleanUpFrom(dataset, dataset.version(), options);
}

arrow::Result<CleanupExplanation> ExplainCleanUp(const Dataset& dataset,
                                                 const CleanupOptions& options,
                                                 uint64_t max_candidates) {
  ARROW_ASSIGN_OR_RAISE(dataset::CleanupPlan plan,
                        dataset::PlanCleanup(dataset, dataset.version(), options));
  CleanupExplanation explanation{
      .read_version = dataset.version(), .stats = dataset::SumOf(plan), .candidates = {}};
  explanation.candidate_limit = max_candidates;
  explanation.referenced_branches = std::move(plan.referenced_branches);
  for (const auto* files : {&plan.files, &plan.manifests}) {
    for (const CleanupCandidate& file : *files) {
      if (explanation.candidates.size() < max_candidates) {
        explanation.candidates.push_back(file);
      } else {
        explanation.is_truncated = true;
      }
    }
  }
  if (explanation.is_truncated) {
    explanation.warnings.push_back("candidate_files truncated to " +
                                   std::to_string(max_candidates) + " entries");
  }
  return explanation;
}

std::string FormatDuration(uint64_t seconds) { return dataset::FormatDuration(seconds); }

}  // namespace glaive
