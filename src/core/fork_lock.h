#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "core/per_process.h"

namespace glaive {

// A lock that is free in a forked child, whoever held it in the parent. What it guards may then be
// half changed for good, and the lock knows.
class ForkLock {
 public:
  class Hold {
   public:
    explicit Hold(ForkLock& lock)
        : lock_(lock), guard_(lock.mutex_.Get()), is_torn_(lock.is_held_.load()) {
      // Before anything is changed, as a child is to see it.
      lock_.is_held_.store(true, std::memory_order_seq_cst);
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    ~Hold() { lock_.is_held_.store(is_torn_, std::memory_order_release); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

    // Whether a thread was changing what is guarded which is not in this process. Stays so until it
    // was mended.
    bool is_torn() const { return is_torn_; }
    void Mended() { is_torn_ = false; }

   private:
    ForkLock& lock_;
    const std::lock_guard<std::mutex> guard_;
    bool is_torn_;
  };

  // Without the lock: right where no other thread of this process can hold it.
  bool was_torn() const { return is_held_.load(std::memory_order_acquire); }

 private:
  PerProcess<std::mutex> mutex_;
  std::atomic<bool> is_held_ = false;
};

// A T that may be lost, such as a cache, for one thread at a time. A forked child goes on with what
// there is of it, or with a fresh one where a thread of the parent was changing it.
template <typename T>
class Losable {
 public:
  Losable() = default;
  Losable(const Losable&) = delete;
  Losable& operator=(const Losable&) = delete;
  ~Losable() {
    if (lock_.was_torn()) static_cast<void>(value_.release());  // half changed: not to be touched
  }

  class Access {
   public:
    explicit Access(Losable& losable) : hold_(losable.lock_) {
      if (hold_.is_torn()) {
        auto fresh = std::make_unique<T>();
        static_cast<void>(losable.value_.release());
        losable.value_ = std::move(fresh);
        hold_.Mended();
      }
      value_ = losable.value_.get();
    }

    T& operator*() const { return *value_; }
    T* operator->() const { return value_; }

   private:
    ForkLock::Hold hold_;
    T* value_;
  };

  Access Lock() { return Access(*this); }

 private:
  ForkLock lock_;
  std::unique_ptr<T> value_ = std::make_unique<T>();
};

}  // namespace glaive
