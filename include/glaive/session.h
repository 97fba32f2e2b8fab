#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

// Example:
//
//     const auto session = std::make_shared<Session>(uint64_t{256} << 20);
//     const IoRecorder recorder;
//     ARROW_ASSIGN_OR_RAISE(const Dataset table,
//                           Dataset::Open("/data/images.lance", {.session = session}));
//     std::cout << recorder.stats().get_requests << " reads\n";
namespace glaive {

struct Access;
namespace dataset {
struct SessionState;
}

/// A cache of manifests and of metadata of data files, with a limit of bytes; it evicts the least
/// recently used entry first. Handles, threads and calls can share it. Thread safe.
class Session {
 public:
  static constexpr uint64_t kDefaultMetadataCacheBytes = uint64_t{1} << 30;

  explicit Session(uint64_t metadata_cache_bytes = kDefaultMetadataCacheBytes);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The process-wide session, for calls without one.
  static const std::shared_ptr<Session>& Default();

  uint64_t size_bytes() const;  ///< held now

 private:
  friend struct Access;
  std::unique_ptr<dataset::SessionState> state_;
};

class Dataset;

/// The session with which the handle was opened, or the process-wide one.
std::shared_ptr<Session> SessionOf(const Dataset& dataset);

/// Requests to stores. A request is one round trip to an object store; ranges of one file that are
/// close together count once.
struct IoStats {
  uint64_t get_requests = 0;
  uint64_t put_requests = 0;
  uint64_t list_requests = 0;
  uint64_t head_requests = 0;
  uint64_t delete_requests = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  /// The longest chain of requests that wait for each other; requests that run at the same time
  /// make one round.
  uint64_t dependent_rounds = 0;

  uint64_t requests() const {
    return get_requests + put_requests + list_requests + head_requests + delete_requests;
  }
  bool operator==(const IoStats&) const = default;
};

/// Counts the requests of this process on all threads while the recorder lives. Recorders may
/// overlap. Thread safe.
///
///     IoRecorder recorder;
///     ... dataset.Take(...) ...
///     std::cout << recorder.stats().get_requests;
class IoRecorder {
 public:
  IoRecorder();
  /// Delays every round trip of this process by `latency` while the recorder lives, as a distant
  /// store would. For demonstrations; one recorder with a delay at a time.
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
