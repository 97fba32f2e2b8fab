#include "dataset/compaction/run/run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "core/attempt.h"
#include "core/error.h"
#include "dataset/compaction/plan/memory.h"

namespace glaive::dataset {
namespace {

constexpr auto kProgressInterval = std::chrono::milliseconds(50);

// The tasks of a plan on a few threads, each of which reads, encodes and writes one task at a time.
// They share the memory evenly.
class TaskRunner {
 public:
  TaskRunner(const Dataset& dataset, const CompactionPlan& plan, const ProgressCallback& progress,
             const MayStart& may_start)
      : dataset_(dataset),
        plan_(plan),
        progress_(progress),
        may_start_(may_start),
        results_(plan.tasks.size()),
        failures_(plan.tasks.size()) {}

  // In order of the tasks. After a failure the results of the tasks that had ended are in `done()`.
  arrow::Status Run() {
    const size_t num_tasks = plan_.tasks.size();
    const size_t num_threads = TasksAtOnce(plan_.options, num_tasks);
    options_ = ShareOf(plan_.options, num_threads);
    for (const CompactionTask& task : plan_.tasks) {
      for (const FragmentMetadata& fragment : task.fragments) total_rows_ += fragment.num_rows();
    }
    if (num_threads == 1) {
      for (size_t i = 0; i < num_tasks && MayStartNext(); ++i) {
        ARROW_RETURN_NOT_OK(TryTask(i, [&](const Progress& progress) {
          return progress_ ? progress_(Sum(progress)) : arrow::Status::OK();
        }));
      }
      return arrow::Status::OK();
    }
    return RunOnThreads(num_threads);
  }

  std::vector<RewriteResult> done() && {
    std::vector<RewriteResult> done;
    for (auto& result : results_) {
      if (result) done.push_back(*std::move(result));
    }
    return done;
  }

  std::vector<LeftTask> left() const {
    std::vector<LeftTask> left;
    for (size_t i = 0; i < failures_.size(); ++i) {
      if (failures_[i].ok()) continue;
      LeftTask& task = left.emplace_back(LeftTask{.reason = failures_[i]});
      for (const FragmentMetadata& fragment : plan_.tasks[i].fragments) {
        task.fragment_ids.push_back(fragment.id());
      }
    }
    return left;
  }

 private:
  bool MayStartNext() const { return !may_start_ || may_start_(); }

  // What the tasks that run have written, beside those that ended.
  Progress Sum(const Progress& running) const {
    return {.rows = rows_done_ + running.rows,
            .total_rows = total_rows_,
            .bytes = bytes_done_ + running.bytes,
            .tasks = tasks_done_,
            .total_tasks = plan_.tasks.size()};
  }

  arrow::Status RunTask(size_t index, const ProgressCallback& progress) {
    CompactionOptions options = options_;
    options.version.progress = progress;
    ARROW_ASSIGN_OR_RAISE(auto result, ExecuteCompaction(dataset_, plan_.tasks[index], options));
    rows_done_ += result.summary.rows;
    bytes_done_ += result.summary.bytes;
    tasks_done_ += 1;
    results_[index] = std::move(result);
    return arrow::Status::OK();
  }

  // With `partial`, a failure is the task's alone, unless it was told to end.
  arrow::Status TryTask(size_t index, const ProgressCallback& progress) {
    bool was_ended = false;
    const auto may_go_on = [&](const Progress& reached) {
      const arrow::Status status = progress(reached);
      was_ended = !status.ok();
      return status;
    };
    const arrow::Status status = Attempt([&] { return RunTask(index, may_go_on); });
    if (status.ok() || was_ended || !plan_.options.partial) return status;
    failures_[index] = status;
    return arrow::Status::OK();
  }

  // The calling thread only reports progress: the callback is its alone.
  arrow::Status RunOnThreads(size_t num_threads) {
    std::mutex mutex;
    std::condition_variable ended;
    size_t num_running = 0;
    arrow::Status first_error;
    std::atomic<size_t> next = 0;
    std::atomic<bool> stopped = false;
    const auto work = [&] {
      arrow::Status status;
      for (size_t i = next++; i < plan_.tasks.size() && status.ok() && !stopped && MayStartNext();
           i = next++) {
        status = TryTask(i, [&](const Progress&) {
          return stopped ? Cancelled("another task failed") : arrow::Status::OK();
        });
      }
      const std::lock_guard lock(mutex);
      if (!status.ok()) {
        if (!stopped.exchange(true)) first_error = status;
      }
      --num_running;
      ended.notify_all();
    };

    std::vector<std::jthread> threads;
    std::unique_lock lock(mutex);
    for (size_t i = 0; i < num_threads; ++i) {
      ++num_running;
      try {
        threads.emplace_back(work);
      } catch (const std::system_error&) {
        // The machine has no more threads. Those that run do the work; with none, this one.
        --num_running;
        break;
      }
    }
    if (threads.empty()) {
      ++num_running;
      lock.unlock();
      work();
      lock.lock();
    }
    while (num_running > 0) {
      ended.wait_for(lock, kProgressInterval);
      if (!progress_ || stopped) continue;
      lock.unlock();
      const arrow::Status status = Attempt([&] { return progress_(Sum({})); });
      lock.lock();
      if (!status.ok() && !stopped.exchange(true)) first_error = status;
    }
    lock.unlock();
    threads.clear();
    return first_error;
  }

  const Dataset& dataset_;
  const CompactionPlan& plan_;
  const ProgressCallback& progress_;
  const MayStart& may_start_;
  CompactionOptions options_;
  std::vector<std::optional<RewriteResult>> results_;
  std::vector<arrow::Status> failures_;
  std::atomic<uint64_t> rows_done_ = 0;
  std::atomic<uint64_t> bytes_done_ = 0;
  std::atomic<uint64_t> tasks_done_ = 0;
  uint64_t total_rows_ = 0;
};

}  // namespace

CompactionRun RunTasks(const Dataset& dataset, const CompactionPlan& plan,
                       const ProgressCallback& progress, const MayStart& may_start) {
  TaskRunner runner(dataset, plan, progress, may_start);
  CompactionRun run;
  run.status = runner.Run();
  run.left = runner.left();
  run.results = std::move(runner).done();
  return run;
}

}  // namespace glaive::dataset
