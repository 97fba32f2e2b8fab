#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "glaive/session.h"

namespace glaive::io {

enum class RequestKind : uint8_t { kGet, kPut, kList, kHead, kDelete };
inline constexpr size_t kNumRequestKinds = 5;

// Counts requests and the rounds they make. Thread safe, a few atomic additions a request.
//
// Rounds are counted without knowing who waits for whom: a request belongs to the round after the
// last one that was answered when it set out. So requests in flight together share a round, and a
// chain of n requests makes n.
class RequestCounter {
 public:
  // One round of `num_requests` under way, from construction to destruction.
  class InFlight {
   public:
    InFlight(RequestCounter& counter, RequestKind kind, uint64_t num_requests = 1)
        : counter_(counter), round_(counter.rounds_.load(std::memory_order_acquire) + 1) {
      counter.requests_[static_cast<size_t>(kind)].fetch_add(num_requests,
                                                             std::memory_order_relaxed);
    }
    InFlight(const InFlight&) = delete;
    InFlight& operator=(const InFlight&) = delete;
    ~InFlight() {
      counter_.Delay();
      uint64_t answered = counter_.rounds_.load(std::memory_order_relaxed);
      while (answered < round_ &&
             !counter_.rounds_.compare_exchange_weak(answered, round_, std::memory_order_acq_rel)) {
      }
    }

    void AddBytesRead(uint64_t num_bytes) {
      counter_.bytes_read_.fetch_add(num_bytes, std::memory_order_relaxed);
    }
    void AddBytesWritten(uint64_t num_bytes) {
      counter_.bytes_written_.fetch_add(num_bytes, std::memory_order_relaxed);
    }

   private:
    RequestCounter& counter_;
    uint64_t round_;
  };

  IoStats stats() const;

  // Adds to the time of every round that is answered from here on.
  void SetLatency(std::chrono::milliseconds latency) {
    latency_ms_.store(latency.count(), std::memory_order_relaxed);
  }

  // Of the whole process: what LocalStore and MemoryStore count in.
  static RequestCounter& OfProcess();

 private:
  void Delay() const;

  std::array<std::atomic<uint64_t>, kNumRequestKinds> requests_ = {};
  std::atomic<uint64_t> bytes_read_ = 0;
  std::atomic<uint64_t> bytes_written_ = 0;
  std::atomic<uint64_t> rounds_ = 0;
  std::atomic<int64_t> latency_ms_ = 0;
};

// What happened between two looks at a counter.
IoStats Difference(const IoStats& later, const IoStats& earlier);

}  // namespace glaive::io
