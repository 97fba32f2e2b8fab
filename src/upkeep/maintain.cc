#include "glaive/maintain.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <tuple>
#include <utility>

#include "core/clock.h"
#include "core/error.h"
#include "dataset/compaction/plan/options.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/retention/plan.h"
#include "upkeep/maintain_compaction.h"

namespace glaive {
namespace {

using dataset::CleanupScope;

constexpr uint64_t kDefaultAgeNs = uint64_t{14} * 24 * 3600 * 1'000'000'000;  // pylance's
constexpr uint64_t kLongest = uint64_t{1} << 62;

double SecondsSince(SteadyTime started) {
  return std::chrono::duration<double>(SteadyNow() - started).count();
}

// Which versions go: as the options say, or the table's config, or by their age.
arrow::Result<CleanupOptions> CleanupOf(const table::Manifest& manifest,
                                        const MaintenanceOptions& options) {
  ARROW_ASSIGN_OR_RAISE(CleanupOptions cleanup, dataset::ConfiguredCleanup(manifest));
  if (options.older_than_ns) {
    cleanup.older_than_ns = options.older_than_ns;
    cleanup.retain_versions = options.retain_versions;
  } else if (options.retain_versions) {
    // A floor: by itself it removes nothing that is not old.
    cleanup.retain_versions = options.retain_versions;
    if (!cleanup.older_than_ns) cleanup.older_than_ns = kDefaultAgeNs;
  }
  if (!cleanup.older_than_ns && !cleanup.retain_versions) cleanup.older_than_ns = kDefaultAgeNs;
  if (options.delete_rate_limit) cleanup.delete_rate_limit = options.delete_rate_limit;
  cleanup.unverified_age_ns = options.orphan_age_ns;
  cleanup.progress = options.version.progress;
  return cleanup;
}

// One run over a table. A step that was interrupted, or failed, keeps the next ones from beginning.
class MaintenanceRun {
 public:
  MaintenanceRun(const Dataset& dataset, const MaintenanceOptions& options)
      : options_(options), report_{.dataset = dataset, .version_before = dataset.version()} {
    report_.dry_run = options.dry_run;
    if (options.time_limit_ns) {
      end_ = started_ + std::chrono::nanoseconds(std::min(*options.time_limit_ns, kLongest));
    }
  }

  MaintenanceReport Run() && {
    if (options_.compact) {
      Take("compaction", &report_.compaction, [&] { return Compact(); });
    }
    if (options_.clean_up) {
      Take("cleanup", &report_.cleanup, [&] { return CleanUp(); });
    }
    if (options_.sweep) {
      Take("sweep", &report_.sweep, [&] { return Sweep(); });
    }
    report_.seconds = SecondsSince(started_);
    return std::move(report_);
  }

 private:
  // What a removal was to do, and what it did.
  struct Removal {
    dataset::CleanupPlan plan;
    dataset::CleanupRun run;
    bool is_late = false;  // the time was over before it began
  };

  bool IsOver() const { return end_ && SteadyNow() >= *end_; }

  template <typename Step>
  void Take(std::string_view name, StepReport* report, Step&& step) {
    if (!StatusOf(report_).ok()) return;
    if (options_.on_step) options_.on_step(name);
    const auto began = SteadyNow();
    const arrow::Status status = step();
    report->seconds = SecondsSince(began);
    if (status.ok()) return;
    report->why = status;
    report->outcome =
        KindOf(status) == ErrorKind::kCancelled ? StepOutcome::kInterrupted : StepOutcome::kFailed;
  }

  arrow::Status Compact() {
    report_.compaction =
        inspect::RunCompaction(report_.dataset, options_, [this] { return IsOver(); });
    const arrow::Status renewed = report_.dataset.CheckoutLatest().Value(&report_.dataset);
    return report_.compaction.why.ok() ? renewed : arrow::Status::OK();
  }

  arrow::Status CleanUp() {
    ARROW_ASSIGN_OR_RAISE(const Removal removal, Remove(CleanupScope::kVersions));
    report_.cleanup.removed = removal.run.removed;
    report_.cleanup.tagged_versions = removal.plan.num_tagged;
    report_.cleanup.branched_versions = removal.plan.num_branched_off;
    return Settle(removal, &report_.cleanup);
  }

  arrow::Status Sweep() {
    ARROW_ASSIGN_OR_RAISE(const Removal removal, Remove(CleanupScope::kUnverified));
    report_.sweep.removed = removal.run.removed;
    report_.sweep.young_files = removal.plan.young_files;
    report_.sweep.young_bytes = removal.plan.young_bytes;
    return Settle(removal, &report_.sweep);
  }

  arrow::Result<Removal> Remove(CleanupScope scope) {
    const Dataset& dataset = report_.dataset;
    Removal removal = {.is_late = IsOver()};
    ARROW_ASSIGN_OR_RAISE(const CleanupOptions cleanup,
                          CleanupOf(*StateOf(dataset)->manifest, options_));
    if (removal.is_late) return removal;
    ARROW_ASSIGN_OR_RAISE(removal.plan,
                          dataset::PlanCleanup(dataset, dataset.version(), cleanup, scope));
    if (options_.dry_run) {
      removal.run.removed = dataset::SumOf(removal.plan);
      return removal;
    }
    removal.is_late = IsOver();
    if (removal.is_late) return removal;
    RemovalStats of_branches;
    if (scope == CleanupScope::kVersions && cleanup.clean_referenced_branches) {
      ARROW_ASSIGN_OR_RAISE(of_branches, dataset::CleanReferencedBranches(
                                             dataset, removal.plan.referenced_branches, cleanup));
      // What they no longer hold may go as well.
      ARROW_ASSIGN_OR_RAISE(removal.plan,
                            dataset::PlanCleanup(dataset, dataset.version(), cleanup, scope));
    }
    removal.run = dataset::RunCleanup(dataset, removal.plan, cleanup);
    dataset::Add(of_branches, &removal.run.removed);
    return removal;
  }

  arrow::Status Settle(const Removal& removal, StepReport* report) {
    ARROW_RETURN_NOT_OK(removal.run.status);
    const RemovalStats& removed = removal.run.removed;
    if (removed.failed_deletes > 0) {
      return IOError({report_.dataset.uri()}, "{} files could not be removed",
                     removed.failed_deletes);
    }
    report->outcome = removal.is_late ? StepOutcome::kLimited : StepOutcome::kDone;
    return arrow::Status::OK();
  }

  const MaintenanceOptions& options_;
  const SteadyTime started_ = SteadyNow();
  std::optional<SteadyTime> end_;
  MaintenanceReport report_;
};

// What would have no effect beside another option is a slip, or a misunderstanding.
arrow::Status CheckOptions(const MaintenanceOptions& options) {
  if (options.retain_versions == 0) return InvalidInput("retain_versions must be at least 1");
  if (options.delete_rate_limit == 0) return InvalidInput("delete_rate_limit must be at least 1");
  const MaintenanceOptions defaults;
  const bool removes = options.clean_up || options.sweep;
  const auto conflicts = {
      std::tuple(options.canary && !options.compact, "canary", "without compact"),
      std::tuple(options.canary && options.dry_run, "canary", "with dry_run"),
      std::tuple(options.commit_interval_ns != defaults.commit_interval_ns && !options.compact,
                 "commit_interval", "without compact"),
      std::tuple(options.older_than_ns && !options.clean_up, "older_than", "without cleanup"),
      std::tuple(options.retain_versions && !options.clean_up, "retain_versions",
                 "without cleanup"),
      std::tuple(options.orphan_age_ns != defaults.orphan_age_ns && !options.sweep, "orphan_age",
                 "without sweep"),
      std::tuple(options.delete_rate_limit && !removes, "delete_rate_limit",
                 "without cleanup and sweep"),
  };
  for (const auto& [is_given, name, beside] : conflicts) {
    if (is_given) return InvalidInput("{} has no effect {}", name, beside);
  }
  return arrow::Status::OK();
}

}  // namespace

std::string_view NameOf(StepOutcome outcome) {
  switch (outcome) {
    case StepOutcome::kNotRun: return "not_run";
    case StepOutcome::kDone: return "done";
    case StepOutcome::kLimited: return "limited";
    case StepOutcome::kConflict: return "conflict";
    case StepOutcome::kInterrupted: return "interrupted";
    case StepOutcome::kFailed: return "failed";
  }
  return "";
}

arrow::Result<MaintenanceReport> Maintain(const Dataset& dataset,
                                          const MaintenanceOptions& options) {
  ARROW_RETURN_NOT_OK(CheckOptions(options));
  ARROW_RETURN_NOT_OK(dataset::ResolveOptions(options.compaction, dataset.config()).status());
  ARROW_RETURN_NOT_OK(CleanupOf(*StateOf(dataset)->manifest, options).status());
  ARROW_ASSIGN_OR_RAISE(const Dataset latest, dataset.CheckoutLatest());
  return MaintenanceRun(latest, options).Run();
}

arrow::Status StatusOf(const MaintenanceReport& report) {
  const StepReport* const steps[] = {&report.compaction, &report.cleanup, &report.sweep};
  for (const StepReport* step : steps) {
    if (step->outcome == StepOutcome::kInterrupted || step->outcome == StepOutcome::kFailed) {
      return step->why;
    }
  }
  return arrow::Status::OK();
}

}  // namespace glaive
