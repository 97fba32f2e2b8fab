#pragma once

#include <chrono>
#include <cstdint>

namespace glaive {

/// What was asked of stores. A request is what would be one round trip to an object store: ranges
/// of one file that lie close together count once.
struct IoStats {
  uint64_t get_requests = 0;
  uint64_t put_requests = 0;
  uint64_t list_requests = 0;
  uint64_t head_requests = 0;
  uint64_t delete_requests = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  /// Requests that had to wait for another's answer, in the longest chain: requests that are under
  /// way at the same time make one round.
  uint64_t dependent_rounds = 0;

  uint64_t requests() const {
    return get_requests + put_requests + list_requests + head_requests + delete_requests;
  }
  bool operator==(const IoStats&) const = default;
};

/// Counts what this process asks of its stores while the recorder lives, on all threads. Recorders
/// may overlap. Thread safe.
///
///     IoRecorder recorder;
///     ... dataset.Take(...) ...
///     std::cout << recorder.stats().get_requests;
class IoRecorder {
 public:
  IoRecorder();
  /// Makes every round trip of this process take `latency` longer while the recorder lives, as a
  /// distant store would: then requests that do not wait for each other do overlap, and rounds and
  /// times are those of such a store. For demonstrations; one such recorder at a time.
  explicit IoRecorder(std::chrono::milliseconds latency);
  ~IoRecorder();
  IoRecorder(const IoRecorder&) = delete;
  IoRecorder& operator=(const IoRecorder&) = delete;

  IoStats stats() const;  ///< since the recorder was made

 private:
  IoStats at_start_;
  bool delays_ = false;
};

}  // namespace glaive
