#pragma once

#include <cstdint>
#include <memory>

namespace glaive {

/// A cache of manifests and of the metadata of data files, bounded by the bytes it holds; the least
/// recently used goes first. Shared by handles, threads and calls. Thread safe.
class Session {
 public:
  static constexpr uint64_t kDefaultMetadataCacheBytes = uint64_t{1} << 30;

  explicit Session(uint64_t metadata_cache_bytes = kDefaultMetadataCacheBytes);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The process's own, for calls that name none.
  static const std::shared_ptr<Session>& Default();

  uint64_t size_bytes() const;  ///< held now

  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

class Dataset;

/// The one that the handle was opened with, or the process's own.
std::shared_ptr<Session> SessionOf(const Dataset& dataset);

}  // namespace glaive
