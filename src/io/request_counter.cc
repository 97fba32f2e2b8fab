#include "io/request_counter.h"

#include <thread>

namespace glaive {
namespace io {

IoStats RequestCounter::stats() const {
  const auto requests = [&](RequestKind kind) {
    return requests_[static_cast<size_t>(kind)].load(std::memory_order_relaxed);
  };
  return {.get_requests = requests(RequestKind::kGet),
          .put_requests = requests(RequestKind::kPut),
          .list_requests = requests(RequestKind::kList),
          .head_requests = requests(RequestKind::kHead),
          .delete_requests = requests(RequestKind::kDelete),
          .bytes_read = bytes_read_.load(std::memory_order_relaxed),
          .bytes_written = bytes_written_.load(std::memory_order_relaxed),
          .dependent_rounds = rounds_.load(std::memory_order_acquire)};
}

void RequestCounter::Delay() const {
  const auto latency = std::chrono::milliseconds(latency_ms_.load(std::memory_order_relaxed));
  if (latency.count() > 0) std::this_thread::sleep_for(latency);
}

RequestCounter& RequestCounter::OfProcess() {
  static constinit RequestCounter counter;
  return counter;
}

IoStats Difference(const IoStats& later, const IoStats& earlier) {
  return {.get_requests = later.get_requests - earlier.get_requests,
          .put_requests = later.put_requests - earlier.put_requests,
          .list_requests = later.list_requests - earlier.list_requests,
          .head_requests = later.head_requests - earlier.head_requests,
          .delete_requests = later.delete_requests - earlier.delete_requests,
          .bytes_read = later.bytes_read - earlier.bytes_read,
          .bytes_written = later.bytes_written - earlier.bytes_written,
          .dependent_rounds = later.dependent_rounds - earlier.dependent_rounds};
}

}  // namespace io

IoRecorder::IoRecorder() : at_start_(io::RequestCounter::OfProcess().stats()) {}

IoRecorder::IoRecorder(std::chrono::milliseconds latency) : IoRecorder() {
  delays_ = true;
  io::RequestCounter::OfProcess().SetLatency(latency);
}

IoRecorder::~IoRecorder() {
  if (delays_) io::RequestCounter::OfProcess().SetLatency(std::chrono::milliseconds(0));
}

IoStats IoRecorder::stats() const {
  return io::Difference(io::RequestCounter::OfProcess().stats(), at_start_);
}

}  // namespace glaive
