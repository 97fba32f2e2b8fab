#include "upkeep/maintain_compaction.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "dataset/compaction/run/run.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/write/summary.h"

namespace glaive::inspect {
namespace {

using Fragments = std::vector<FragmentMetadata>;

void Add(const Fragments& fragments, CompactionLoad* load) {
  ++load->tasks;
  load->fragments += fragments.size();
  for (const FragmentMetadata& fragment : fragments) {
    load->rows += fragment.num_rows();
    for (const DataFileInfo& file : fragment.files()) {
      load->bytes += file.file_size_bytes;
    }
  }
}

void Add(const CompactionResult& committed, CompactionReport* report) {
  report->metrics.fragments_removed += committed.metrics.fragments_removed;
  report->metrics.fragments_added += committed.metrics.fragments_added;
  report->metrics.files_removed += committed.metrics.files_removed;
  report->metrics.files_added += committed.metrics.files_added;
  report->written += committed.summary;
}

void Add(const CanaryReport& added, CanaryReport* canary) {
  canary->rows += added.rows;
  canary->old_fragments += added.old_fragments;
  canary->new_fragments += added.new_fragments;
}

// Limits are lifted by larger ones, since the table's config may have set them.
CompactionOptions WithoutLimits(CompactionOptions options, const CompactionOptions& resolved) {
  if (resolved.max_source_fragments) options.max_source_fragments = UINT64_MAX;
  if (resolved.max_source_rows) options.max_source_rows = UINT64_MAX;
  if (resolved.max_source_bytes) options.max_source_bytes = UINT64_MAX;
  return options;
}

// Whether new files are planned by bytes, which are guesses until they are there.
bool GoesByBytes(const CompactionOptions& resolved) {
  return resolved.target_bytes_per_fragment || resolved.max_bytes_per_file || resolved.memory_limit;
}

bool HasLimits(const CompactionOptions& resolved) {
  return resolved.max_source_fragments || resolved.max_source_rows || resolved.max_source_bytes;
}

// More rounds than it ever takes until what was written lasts.
constexpr int kMaxCorrections = 8;

class RollingCompaction {
 public:
  RollingCompaction(const Dataset& dataset, const MaintenanceOptions& options,
                    const IsOver& is_over)
      : dataset_(dataset),
        first_new_id_(StateOf(dataset)->manifest->max_fragment_id.value_or(0) + uint64_t{1}),
        options_(options),
        is_over_(is_over),
        compaction_(options.compaction) {
    const Durability durability = compaction_.version.durability;
    compaction_.version = options.version;
    if (options.version.durability == Durability::kDefault) {
      compaction_.version.durability = durability;
    }
    compaction_.version.progress = nullptr;
  }

  CompactionReport Run() && {
    const arrow::Status status = RunRounds();
    for (const CompactionTask& task : whole_.tasks) {
      const bool is_done = std::ranges::any_of(
          task.fragments, [&](const auto& fragment) { return done_.contains(fragment.id()); });
      if (!is_done) Add(task.fragments, &report_.left);
    }
    if (!status.ok()) {
      report_.why = status;
      report_.outcome = KindOf(status) == ErrorKind::kCancelled ? StepOutcome::kInterrupted
                                                                : StepOutcome::kFailed;
    } else if (report_.left.tasks == 0) {
      report_.outcome = StepOutcome::kDone;
    } else if (report_.outcome == StepOutcome::kNotRun) {
      report_.outcome = StepOutcome::kLimited;
    }
    return std::move(report_);
  }

 private:
  arrow::Status RunRounds() {
    ARROW_ASSIGN_OR_RAISE(CompactionPlan plan, PlanCompaction(dataset_, compaction_));
    for (const CompactionTask& task : plan.tasks) Add(task.fragments, &planned_);
    // Without the limits, which have chosen by now.
    compaction_ = WithoutLimits(compaction_, plan.options);
    ARROW_ASSIGN_OR_RAISE(whole_, PlanCompaction(dataset_, compaction_));
    if (options_.dry_run) {
      report_.done = planned_;
      for (const CompactionTask& task : plan.tasks) MarkDone(task.fragments);
      return arrow::Status::OK();
    }
    const bool may_correct = GoesByBytes(plan.options) && !HasLimits(plan.options);
    ARROW_RETURN_NOT_OK(RunPlan(std::move(plan)));
    for (int i = 0; may_correct && i < kMaxCorrections && pending_.empty() && !is_over_(); ++i) {
      ARROW_ASSIGN_OR_RAISE(plan, PlanCorrection());
      if (plan.tasks.empty()) break;
      for (const CompactionTask& task : plan.tasks) Add(task.fragments, &planned_);
      ARROW_RETURN_NOT_OK(RunPlan(std::move(plan)));
    }
    return arrow::Status::OK();
  }

  arrow::Status RunPlan(CompactionPlan plan) {
    for (const CompactionTask& task : plan.tasks) {
      for (const FragmentMetadata& fragment : task.fragments) pending_.insert(fragment.id());
    }
    while (!plan.tasks.empty() && !is_over_()) {
      ARROW_RETURN_NOT_OK(RunRound(plan));
      if (pending_.empty()) break;
      ARROW_ASSIGN_OR_RAISE(plan, PlanAnew());
    }
    return arrow::Status::OK();
  }

  // What a run from now on would find because files came out smaller than they were planned. What
  // came in meanwhile is left to the next one all the same.
  arrow::Result<CompactionPlan> PlanCorrection() {
    ARROW_ASSIGN_OR_RAISE(dataset_, dataset_.CheckoutLatest());
    ARROW_ASSIGN_OR_RAISE(CompactionPlan plan, PlanCompaction(dataset_, compaction_));
    std::erase_if(plan.tasks, [&](const CompactionTask& task) {
      const auto is_own = [&](const FragmentMetadata& fragment) { return IsWritten(fragment); };
      const auto came_in = [&](const FragmentMetadata& fragment) {
        return fragment.id() >= first_new_id_ && !IsWritten(fragment);
      };
      return std::ranges::none_of(task.fragments, is_own) ||
             std::ranges::any_of(task.fragments, came_in);
    });
    return plan;
  }

  bool IsWritten(const FragmentMetadata& fragment) const {
    return std::ranges::any_of(
        fragment.files(), [&](const DataFileInfo& file) { return written_.contains(file.path); });
  }

  void MarkDone(const Fragments& fragments) {
    for (const FragmentMetadata& fragment : fragments) done_.insert(fragment.id());
  }

  // The tasks that are left, for the version that is newest now: conflicts count from there on.
  // What met one is left to the next run, and so is what came in meanwhile.
  arrow::Result<CompactionPlan> PlanAnew() {
    ARROW_ASSIGN_OR_RAISE(dataset_, dataset_.CheckoutLatest());
    ARROW_ASSIGN_OR_RAISE(CompactionPlan plan, PlanCompaction(dataset_, compaction_));
    std::erase_if(plan.tasks, [&](const CompactionTask& task) {
      return std::ranges::none_of(task.fragments, [&](const FragmentMetadata& fragment) {
        return pending_.contains(fragment.id());
      });
    });
    return plan;
  }

  // As many tasks as end before the next commit is due, and that commit.
  arrow::Status RunRound(const CompactionPlan& plan) {
    const auto due = SteadyNow() + std::chrono::nanoseconds(std::min<uint64_t>(
                                       options_.commit_interval_ns, uint64_t{1} << 62));
    std::atomic<bool> has_begun = false;
    auto run = dataset::RunTasks(dataset_, plan, Progressing(), [&] {
      return !is_over_() && (!has_begun.exchange(true) || SteadyNow() < due);
    });
    for (const RewriteResult& result : run.results) {
      for (const FragmentMetadata& fragment : result.original_fragments) {
        pending_.erase(fragment.id());
      }
    }
    ARROW_RETURN_NOT_OK(CommitRound(plan, std::move(run.results)));
    return run.status;
  }

  arrow::Status CommitRound(const CompactionPlan& plan, std::vector<RewriteResult> results) {
    if (results.empty()) return arrow::Status::OK();
    const std::vector<RewriteResult> ended = results;
    CanaryReport canary;
    dataset::CheckResults check;
    if (options_.canary) {
      check = [&](std::span<const RewriteResult> checked) {
        return CheckRewrites(dataset_, checked, options_.version.progress).Value(&canary);
      };
    }
    const auto committed =
        dataset::CommitResults(dataset_, std::move(results), plan.options, check);
    if (!committed.ok() && KindOf(committed.status()) == ErrorKind::kCommitConflict) {
      report_.outcome = StepOutcome::kConflict;
      report_.why = committed.status();
      return arrow::Status::OK();
    }
    ARROW_RETURN_NOT_OK(committed.status());
    std::set<uint64_t> left;  // by other writers, who were faster
    for (const LeftTask& task : committed->left) {
      report_.outcome = StepOutcome::kConflict;
      report_.why = task.reason;
      left.insert(task.fragment_ids.begin(), task.fragment_ids.end());
    }
    for (const RewriteResult& result : ended) {
      if (left.contains(result.original_fragments.front().id())) continue;
      Add(result.original_fragments, &report_.done);
      MarkDone(result.original_fragments);
      for (const FragmentMetadata& fragment : result.new_fragments) {
        for (const DataFileInfo& file : fragment.files()) written_.insert(file.path);
      }
    }
    Add(*committed, &report_);
    Add(canary, &report_.canary);
    if (committed->metrics.fragments_removed > 0) ++report_.commits;
    return arrow::Status::OK();
  }

  // Of the run, where a round tells of itself.
  ProgressCallback Progressing() const {
    if (!options_.version.progress) return nullptr;
    return [this](Progress progress) {
      progress.rows += report_.done.rows;
      progress.total_rows = planned_.rows;
      progress.bytes += report_.written.bytes;
      progress.tasks += report_.done.tasks;
      progress.total_tasks = planned_.tasks;
      return options_.version.progress(progress);
    };
  }

  Dataset dataset_;
  const uint64_t first_new_id_;  // of fragments that came in since, or were written by this run
  const MaintenanceOptions& options_;
  const IsOver& is_over_;
  CompactionOptions compaction_;
  CompactionLoad planned_;
  CompactionPlan whole_;        // without limits on sources
  std::set<uint64_t> pending_;  // fragments that are still to be part of a task
  std::set<uint64_t> done_;
  std::set<std::string> written_;  // data files, by this run
  CompactionReport report_;
};

}  // namespace

CompactionReport RunCompaction(const Dataset& dataset, const MaintenanceOptions& options,
                               const IsOver& is_over) {
  return RollingCompaction(dataset, options, is_over).Run();
}

}  // namespace glaive::inspect
