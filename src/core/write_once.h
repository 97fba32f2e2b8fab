#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace glaive {

// A T that is made when it is first asked for and only read from then on. Thread safe, and takes no
// lock: a process that forks meanwhile leaves its child with the T or without one, and nothing that
// waits for a thread the child does not have.
template <typename T>
class WriteOnce {
 public:
  constexpr WriteOnce() = default;
  WriteOnce(const WriteOnce&) = delete;
  WriteOnce& operator=(const WriteOnce&) = delete;
  ~WriteOnce() { delete value_.load(std::memory_order_acquire); }

  // Null until there is one; never another one after that.
  const T* Get() const { return value_.load(std::memory_order_acquire); }

  // The one to use: another thread may have been first.
  const T& Put(std::unique_ptr<const T> value) {
    const T* first = nullptr;
    if (value_.compare_exchange_strong(first, value.get(), std::memory_order_acq_rel)) {
      return *value.release();
    }
    return *first;
  }
  const T& Put(T value) { return Put(std::make_unique<const T>(std::move(value))); }

 private:
  std::atomic<const T*> value_ = nullptr;
};

// The process's one T, for static storage. Who first asks makes it, and it is never destroyed, as
// threads may outlive the end of main. A static local would be made under a lock, which a fork
// could leave held. Two threads may both make one, of which one is destroyed unused.
template <typename T>
class ProcessWide {
 public:
  constexpr ProcessWide() = default;
  ProcessWide(const ProcessWide&) = delete;
  ProcessWide& operator=(const ProcessWide&) = delete;

  template <typename Make>
  T& Get(const Make& make) {
    if (T* const made = value_.load(std::memory_order_acquire)) return *made;
    std::unique_ptr<T> fresh = make();
    T* first = nullptr;
    if (value_.compare_exchange_strong(first, fresh.get(), std::memory_order_acq_rel)) {
      return *fresh.release();
    }
    return *first;
  }
  T& Get() {
    return Get([] { return std::make_unique<T>(); });
  }

 private:
  std::atomic<T*> value_ = nullptr;
};

}  // namespace glaive
