#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <thread>
#include <vector>

#include <arrow/result.h>

#include "glaive/write.h"
#include "io/object_store.h"

namespace glaive::dataset {

// The threads that write the partitions of one call. They are no executor's: each is the calling
// thread of pipelines of its own, and may wait, for the store or for its turn to compute. The
// thread that made the call reads what it alone may read, and tells its callbacks what the others
// have to tell.
class WriteCrew {
 public:
  // Of its threads `max_computing` compute at a time.
  WriteCrew(size_t max_computing, ProgressCallback progress, FragmentEvents events);
  // Stops.
  ~WriteCrew();

  // The rest is for the thread that made the call.

  // Starts a job on a thread of its own, or runs it here where there are no more threads.
  void Start(std::function<arrow::Status()> job);

  // Returns when no more than `max_running` jobs run. Errors: what a callback returned; kCancelled
  // once a job has failed.
  arrow::Status WaitForAtMost(size_t max_running);

  // Returns when the jobs and their files hold no more bytes than this, or none is running.
  // Errors likewise.
  arrow::Status WaitForHeld(uint64_t max_bytes);

  // Ends the jobs that run, by an error of their callbacks or of their output, and waits for them.
  void Stop();

  // What each job returned, in order of their start; kCancelled where another had failed.
  // REQUIRES: none is running.
  const std::vector<arrow::Status>& results() const { return results_; }
  // The first job that failed by itself.
  std::optional<size_t> FirstFailed() const;

  // For a thread of the caller's that works like a job.
  class Turn {
   public:
    explicit Turn(WriteCrew& crew) : crew_(crew) { crew_.turns_.acquire(); }
    ~Turn() { crew_.turns_.release(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    WriteCrew& crew_;
  };
  // Lets others have the turn of this thread while it waits.
  class Pause {
   public:
    explicit Pause(WriteCrew& crew) : crew_(crew) { crew_.turns_.release(); }
    ~Pause() { crew_.turns_.acquire(); }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    WriteCrew& crew_;
  };

  // For the writer of a job, which has turns to compute and callbacks of its own.
  ProgressCallback JobProgress();
  FragmentEvents JobEvents();
  void Hold(int64_t bytes);
  // Lets others compute while `out` waits for the store.
  std::unique_ptr<io::ObjectWriter> TakingTurns(std::unique_ptr<io::ObjectWriter> out);

 private:
  class TurnTakingWriter;
  using Message = std::function<arrow::Status()>;

  void Run(size_t index, const std::function<arrow::Status()>& job);
  arrow::Status Checked() const;
  template <typename IsDone>
  arrow::Status WaitUntil(const IsDone& is_done);

  const ProgressCallback progress_;
  const FragmentEvents events_;
  std::counting_semaphore<> turns_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> failed_ = false;
  std::atomic<uint64_t> rows_ = 0;
  std::atomic<uint64_t> bytes_ = 0;
  std::vector<std::jthread> threads_;

  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<Message> messages_;  // guarded by mutex_, as are the others
  std::vector<arrow::Status> results_;
  size_t num_running_ = 0;
  int64_t held_bytes_ = 0;
};

}  // namespace glaive::dataset
