#pragma once

#include <unistd.h>

#include <mutex>
#include <utility>

#include <arrow/result.h>

namespace glaive::python {

// Lets one thread at a time do something. Refuses in a fork of the process that made it: there a
// thread may hold the lock, and have left what it guards half changed, that the fork does not have.
class ProcessMutex {
 public:
  template <typename Work>
  auto Run(Work&& work) -> decltype(work()) {
    if (getpid() != process_) {
      return arrow::Status::Invalid("what a process began cannot go on in its fork");
    }
    const std::lock_guard lock(mutex_);
    return std::forward<Work>(work)();
  }

 private:
  const pid_t process_ = getpid();
  std::mutex mutex_;
};

}  // namespace glaive::python
